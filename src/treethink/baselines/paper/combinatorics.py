"""The paper's combinatorial functions: every way to fill the slots of a predicate.

The paper returns sets. Ours list each element once, in the order in which the pseudocode meets
them, so that nothing depends on how sets are ordered.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, product

Filling = tuple[tuple[int, ...], int]
"""A variable for each slot, and how many of the variables are new."""


def newvars(k: int) -> list[Filling]:
    """All ways to fill `k` slots with new variables, up to their names.

    >>> newvars(2)
    [((0, 0), 1), ((0, 1), 2)]
    """
    if k == 0:
        return [((), 0)]  # mended: there was no base case
    result: list[Filling] = []
    for listing, n in newvars(k - 1):
        # All variables that there are ...
        for i in range(n):
            result.append(((*listing, i), n))
        # ... and one more.
        result.append(((*listing, n), n + 1))
    return result


@cache  # asked again for every new predicate
def bindings(e: int, n: int) -> tuple[Filling, ...]:
    """All ways to fill the `n` slots of a predicate with `e` existing variables and new ones.

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
