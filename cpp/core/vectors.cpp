#include "core/vectors.hpp"

#include <limits>

namespace treethink {

bool add(Int a, Int b, Int& out) {
    if (b > 0 ? a > std::numeric_limits<Int>::max() - b : a < std::numeric_limits<Int>::min() - b) return false;
    out = a + b;
    return true;
}

bool subtract(Int a, Int b, Int& out) {
    if (b < 0 ? a > std::numeric_limits<Int>::max() + b : a < std::numeric_limits<Int>::min() + b) return false;
    out = a - b;
    return true;
}

bool same(VectorView a, VectorView b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

bool less(VectorView a, VectorView b) { return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end()); }

}  // namespace treethink
