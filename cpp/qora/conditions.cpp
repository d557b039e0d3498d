#include "qora/conditions.hpp"

namespace treethink::qora {

std::size_t answer_bits(Condition condition, Predicates const& predicates) {
    std::size_t bits = 0;
    each_group(
        condition, [&](PredicateId p) { return predicates[p].group; },
        [&](std::size_t first, std::size_t end) {
            bits += end - first > 6 ? too_many_bits : std::size_t{1} << (end - first);
        });
    return std::min(bits, too_many_bits);
}

}  // namespace treethink::qora
