"""The paper's combinatorial functions: all ways to fill the slots of a predicate.

The paper returns sets. These return lists, in the order of the pseudocode, so that results do not
depend on the order of sets.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, product

#: A variable for each slot, and the number of new variables.
Filling = tuple[tuple[int, ...], int]


def newvars(k: int) -> list[Filling]:
    """Return all ways to fill `k` slots with new variables, up to their names.

    >>> newvars(2)
    [((0, 0), 1), ((0, 1), 2)]
    """
    if k == 0:
        return [((), 0)]  # corrected: there was no base case
    result: list[Filling] = []
    for listing, n in newvars(k - 1):
        # All variables so far ...
        for i in range(n):
            result.append(((*listing, i), n))
        # ... and one more.
        result.append(((*listing, n), n + 1))
    return result


@cache  # used for every new predicate
def bindings(e: int, n: int) -> tuple[Filling, ...]:
    """Return all ways to fill the `n` slots of a predicate with `e` existing and new variables.

    >>> bindings(1, 2)
    (((0, 0), 0), ((1, 0), 1), ((0, 1), 1), ((1, 1), 1), ((1, 2), 2))
    """
    result: list[Filling] = []
    for m in range(n + 1):
        for s_new in combinations(range(n), m):  # which slots get a new variable
            s_exist = [i for i in range(n) if i not in s_new]
            for v_new, k in newvars(m):
                for v_exist in product(range(e), repeat=n - m):
                    args = [0] * n
                    for i, v in zip(s_exist, v_exist, strict=True):
                        args[i] = v
                    for i, v in zip(s_new, v_new, strict=True):
                        args[i] = v + e  # new variables come after the existing ones
                    result.append((tuple(args), k))
    return tuple(result)
