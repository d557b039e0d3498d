#include "learning/outcomes.hpp"

#include <utility>

namespace treethink {

namespace {

std::uint32_t short_hash(VectorView outcome) { return static_cast<std::uint32_t>(hash_of(outcome, 0)); }

}  // namespace

std::optional<std::uint32_t> Outcomes::find(VectorView outcome) const {
    if (values_.size() <= few) {
        for (std::uint32_t i = 0; i < values_.size(); ++i)
            if (i != others_ && same(values_[i], outcome)) return i;
        return std::nullopt;
    }
    auto const is_it = [&](std::uint32_t position) { return same(values_[position], outcome); };
    std::uint32_t const position = by_hash_.find(short_hash(outcome), is_it);
    return position == HashIndex::none ? std::nullopt : std::optional(position);
}

std::optional<std::uint32_t> Outcomes::find_or_others(VectorView outcome) const {
    auto const known = find(outcome);
    return known || !has_others() ? known : std::optional(static_cast<std::uint32_t>(others_));
}

void Outcomes::add(Vector outcome) {
    values_.push_back(std::move(outcome));
    if (values_.size() == few + 1)
        for (std::size_t i = 0; i < few; ++i) index(i);
    if (values_.size() > few) index(values_.size() - 1);
}

void Outcomes::add_others() {
    if (has_others()) return;
    others_ = values_.size();
    add({});
}

void Outcomes::index(std::size_t position) {
    if (position == others_) return;
    by_hash_.add(short_hash(values_[position]), static_cast<std::uint32_t>(position));
}

std::size_t Outcomes::bytes() const {
    std::size_t bytes = by_hash_.bytes();
    for (Vector const& value : values_) bytes += sizeof value + value.capacity() * sizeof(Int);
    return bytes;
}

}  // namespace treethink
