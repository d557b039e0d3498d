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

std::size_t Interner::slot(VectorView wanted) const {
    std::size_t const mask = table_.size() - 1;
    std::size_t i = static_cast<std::size_t>(hash_of(wanted)) & mask;
    while (table_[i] != no_code && !same(value(table_[i]), wanted)) i = (i + 1) & mask;
    return i;
}

void Interner::grow() {
    table_.assign(std::max<std::size_t>(16, table_.size() * 2), no_code);
    for (Code code = 0; code < size_; ++code) table_[slot(value(code))] = code;
}

Code Interner::intern(VectorView wanted) {
    if (2 * (static_cast<std::size_t>(size_) + 1) > table_.size()) grow();
    std::size_t const i = slot(wanted);
    if (table_[i] == no_code) {
        table_[i] = size_++;
        values_.insert(values_.end(), wanted.begin(), wanted.end());
    }
    return table_[i];
}

Code Interner::find(VectorView wanted) const { return table_.empty() ? no_code : table_[slot(wanted)]; }

std::size_t Interner::bytes() const { return values_.capacity() * sizeof(Int) + table_.capacity() * sizeof(Code); }

}  // namespace treethink
