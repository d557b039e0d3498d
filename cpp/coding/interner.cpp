#include "coding/interner.hpp"

#include <algorithm>

namespace treethink {

namespace {

std::uint64_t hash_of(VectorView value) {
    std::uint64_t hash = value.size();
    for (Int const each : value) {
        hash = (hash ^ static_cast<std::uint64_t>(each)) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 32;
    }
    return hash;
}

}  // namespace

std::size_t Interner::position_of(VectorView value) const {
    std::size_t const mask = table_.size() - 1;
    std::size_t i = static_cast<std::size_t>(hash_of(value)) & mask;
    while (table_[i] != no_code && !same(this->value(table_[i]), value)) i = (i + 1) & mask;
    return i;
}

void Interner::grow() {
    table_.assign(std::max<std::size_t>(16, table_.size() * 2), no_code);
    for (Code code = 0; code < size_; ++code) table_[position_of(this->value(code))] = code;
}

Code Interner::intern(VectorView value) {
    if (2 * (static_cast<std::size_t>(size_) + 1) > table_.size()) grow();
    std::size_t const i = position_of(value);
    if (table_[i] == no_code) {
        table_[i] = size_++;
        values_.insert(values_.end(), value.begin(), value.end());
    }
    return table_[i];
}

Code Interner::find(VectorView value) const { return table_.empty() ? no_code : table_[position_of(value)]; }

std::size_t Interner::bytes() const { return values_.capacity() * sizeof(Int) + table_.capacity() * sizeof(Code); }

}  // namespace treethink
