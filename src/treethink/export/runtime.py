"""The small functions that exported rules call, as text: they are copied beside the rules.

    [ running ] -> code, module

They need nothing but Python, and are kept as text because nothing here calls them.
"""

READ = '''
def read(state, *ids):
    """Objects by class, with tuples for lists; then the objects with the given ids."""
    from collections import defaultdict

    of, found = defaultdict(list), {}
    for each in state["objects"]:
        lists = {key: tuple(value) for key, value in each.items() if isinstance(value, list)}
        found[each["id"]] = {**each, **lists}
        of[each["class"]].append(found[each["id"]])
    return (of, *(found[id] for id in ids))
'''

MINUS = '''
def minus(one, other):
    """By how much one place differs from the other."""
    return tuple(a - b for a, b in zip(one, other))
'''

PLUS = '''
def plus(place, change):
    """A place, changed."""
    return tuple(a + b for a, b in zip(place, change))
'''

KEPT = '''
ATTRIBUTES = {}


def kept(bindings):
    """At most 4096 bindings: the first by the values of their objects, and by ids if equal."""
    found = list(bindings)
    if len(found) <= 4096:
        return found

    def order(binding):
        return [[*(x[name] for name in ATTRIBUTES[x["class"]]), x["id"]] for x in binding]

    return sorted(found, key=order)[:4096]
'''
