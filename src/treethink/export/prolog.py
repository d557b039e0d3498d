"""A whole model as Prolog clauses.

    model -> [ prolog ] -> maze.pl

A state is a set of facts: ``object(Id, Class)`` and ``value(Id, Attribute, Vector)``. A rule is a
list of clauses, one for each leaf from left to right, with the tests that hold on the path to it.
The first clause whose tests hold belongs to the leaf in which set narrowing ends: any leaf further
left requires, where the paths part, the test that failed. The part that all files share is in
`prolog.txt`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from typing import TYPE_CHECKING

from treethink import file
from treethink.export.answers import answers_of, branch_test, by_age, is_by_hand, is_never_seen
from treethink.frames import CHANGE, VALUE, Frame, Jumps, Outcome, Stays, default_frame
from treethink.rules import Rule, Test, Value
from treethink.state import State

if TYPE_CHECKING:
    from treethink.model import TreeThink

_OPENING = """\
% Rules of a world, learned by TreeThink and written as Prolog.
%
%   ?- set_state([object(50, player, [pos-[5, 2]]), object(51, wall, [pos-[6, 2]])]).
%   ?- predict(right, 50, pos, Chances).
%   Chances = [[5, 2]-1.0].
%
% Vectors are lists of integers, also those of length 1. Names of a category are atoms, as are the
% yes and no of a flag: [drink-[cola], open-[no]].
"""

_DYNAMIC = ("class/2", "outcomes/2", "names/2", "sum/3", "action/1", "frame/4", "seen/5")
_FEEDBACK = """
% ---- rewards and ends ----

% What belongs to a whole step, reward or terminated, with its probability: [-2.0-1.0], [no-1.0].
transition(Action, What, Chances) :-
    action(Action),
    member(What, [reward, terminated]),
    seen(transition, What, Action, _, Counts),
    counts_sum(Counts, 0, Total),
    findall(Value-P, ( member([Value]-N, Counts), P is N / float(Total) ), Chances).
"""

_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t"}


def text_of(model: TreeThink) -> str:
    """Return the text of the file, ending with a newline."""
    rules = [rule for rule in model.rules.values() if rule.answers]
    frames = [fact for rule in rules for fact in _frame_facts(rule)]
    parts = [
        f"{_OPENING}% Learned from {model.observations} observations.",
        "\n".join(_schema(model)),
        resources.files("treethink.export").joinpath("prolog.txt").read_text("utf-8"),
        *([_FEEDBACK] if model.feedback else []),
        *(["\n".join(["% ---- frames of rules ----\n", *frames])] if frames else []),
        "% ---- rules ----\n\n% seen(Class, Attribute, Action, X0, Counts): the first that holds.",
        *("\n".join(_clauses_of(rule, framed=False)) for rule in rules),
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def write(model: TreeThink, path: str | os.PathLike[str]) -> None:
    """Write the clauses to a file, atomically."""
    file.write(path, text_of(model).encode())


def facts_of(state: State) -> str:
    """Return a state as the list that ``set_state`` takes.

    >>> from treethink import Object, Schema
    >>> schema = Schema({"lamp": ["pos", "on"]}, {"pos": 2, "on": 1}, ["press"])
    >>> print(facts_of(State(schema, [Object(7, "lamp", pos=(1, -2), on=0)])))
    [object(7, lamp, [pos-[1, -2], on-[0]])]
    """
    return _list([f"object({x.id}, {atom(x.class_name)}, {_values(x.values)})" for x in state])


def atom(name: str) -> str:
    r"""Return a name as a Prolog atom.

    >>> print(atom("pos"), atom("Change color"), atom("it's\0"))
    pos 'Change color' 'it\'s\0\'
    """
    if re.fullmatch("[a-z][a-zA-Z0-9_]*", name):
        return name
    return f"'{''.join(map(_escaped, name))}'"


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    # Octal escapes are the only numeric ones that every Prolog has.
    return character if character.isprintable() else f"\\{ord(character):o}\\"


def _schema(model: TreeThink) -> Iterator[str]:
    """Yield the schema; predicates that may have no clauses must be declared dynamic."""
    schema = model.schema
    yield ":- encoding(utf8)."
    yield ":- dynamic(object/2)."
    yield ":- dynamic(value/3)."
    yield from (f":- dynamic({name})." for name in _DYNAMIC)
    yield ""
    for name, attributes in schema.classes.items():
        yield f"class({atom(name)}, {_list([atom(each) for each in attributes])})."
    for name, each in schema.attributes.items():
        if not each.derived:  # those that are given have no outcomes
            yield f"outcomes({atom(name)}, {_frame(default_frame(each))})."
    for name, each in schema.attributes.items():
        if each.is_symbolic:
            values = (False, True) if each.names is None else each.names
            yield f"names({atom(name)}, {_list(map(_term, values))})."
    for name, terms in schema.sums.items():
        yield f"sum({', '.join(map(atom, (name, *terms)))})."
    yield from (f"action({atom(name)})." for name in schema.actions)


def _frame_facts(rule: Rule) -> Iterator[str]:
    """Yield what outcomes of a rule are added to, if its attribute does not say so."""
    assert rule.key is not None
    assert rule.frame is not None
    usual = CHANGE if rule.attribute is None else default_frame(rule.attribute)
    if rule.frame != usual:
        yield f"frame({', '.join(map(atom, rule.key))}, {_frame(rule.frame)})."


def _frame(frame: Frame) -> str:
    if frame.attribute is None:
        return "values" if frame == VALUE else "differences"
    own = f"own({atom(frame.attribute)})"
    source = own if frame.of is None else f"copy({atom(frame.of)}, {atom(frame.attribute)})"
    if frame.changes:
        return f"jump({source})"
    return f"added({source})" if frame.adds else source


def clauses_of(rule: Rule) -> Iterator[str]:
    """Yield the clauses of one rule."""
    yield from _clauses_of(rule, framed=True)


def _clauses_of(rule: Rule, framed: bool) -> Iterator[str]:
    """Yield the clauses of one rule, and its frame; uses a stack, so that depth is no limit.

    In a file, the frames of all rules stand together: Prolog wants clauses of one predicate so.
    """
    assert rule.key is not None
    nodes, answers = rule.nodes, answers_of(rule)
    yield f"% {rule.title if rule.title.isprintable() else ascii(rule.title)}"
    if framed:
        yield from _frame_facts(rule)
    stack: list[tuple[int, tuple[str, ...]]] = [(0, ())]
    while stack:
        index, passed = stack.pop()
        left, right = nodes[index][:2]
        if left is not None and right is not None:
            test = branch_test(nodes[index], "the Prolog form", rule.schema)
            goal = _goal(test, nodes[index][2], len(rule.classes))
            stack += [(right, passed), (left, (*passed, goal))]
            continue
        borrowed = index and is_never_seen(nodes[index], answers[index])
        counts = _list([f"{_outcome(each)}-{n}" for each, n in answers[index].items()])
        remark = "  % written by hand" if is_by_hand(nodes[index]) else ""
        clause = _clause(rule.key, counts, passed, len(rule.classes))
        yield clause + ("  % never seen itself" if borrowed else remark)


def _clause(key: tuple[str, str, str], counts: str, passed: Sequence[str], given: int) -> str:
    target = "X0" if given and any(re.search(r"\bX0\b", each) for each in passed) else "_"
    head = f"seen({', '.join(map(atom, key))}, {target}, {counts})"
    if not passed:
        return f"{head}."
    tests = ",\n        ".join(passed)
    return f"{head} :-\n    holds([\n        {tests}\n    ]), !."


def _goal(test: Test, bound: tuple[str, ...], given: int) -> str:
    """Return Xs-Goal: all variables but the `given` first, and what must be true of them."""
    names = [*bound, *(name for _, name in test.new)]
    goals = [f"object(X{variable}, {atom(name)})" for variable, name in test.new]
    goals += [
        f"X{variable} =\\= X{other}"
        for variable, name in test.new
        for other in range(variable)
        if names[other] == name  # only objects of one class can be the same
    ]
    variables = _list([f"X{i}" for i in range(given, len(names))])
    return f"{variables}-({', '.join([*goals, _fact(test)])})"


def _fact(test: Test) -> str:
    if test.kind == "equality":
        return f"equality({atom(test.attribute)}, X{test.variables[0]}, {_vector(test.value)})"
    if test.kind == "threshold":
        of = "" if test.component is None else f", {test.component}"
        return f"threshold({atom(test.attribute)}{of}, X{test.variables[0]}, {test.value})"
    if test.kind == "something":
        own = f"{atom(test.attribute)}, X{test.variables[0]}"
        return f"something({own}, {atom(test.sought)}, {_vector(test.value)})"
    (old, attribute), (new, other), value = by_age(test)
    if test.kind == "order":
        first, second = f"{atom(attribute)}, X{old}", f"{atom(other)}, X{new}"
        return f"order({first}, {second}, {_vector(value)})"
    if attribute == other:
        return f"difference({atom(attribute)}, X{old}, X{new}, {_vector(value)})"
    return f"difference({atom(attribute)}, X{old}, {atom(other)}, X{new}, {_vector(value)})"


def _values(values: Mapping[str, Value]) -> str:
    return _list([f"{atom(name)}-{_vector(value)}" for name, value in values.items()])


def _outcome(outcome: Outcome) -> str:
    return repr(outcome) if isinstance(outcome, Stays | Jumps) else _vector(outcome)


def _vector(value: Value) -> str:
    return _list(map(_term, value if isinstance(value, tuple) else [value]))


def _term(value: float | str) -> str:
    """Return a number, the name of a category, or yes or no for a flag.

    A float has a decimal point, since 1e300 is no number in every Prolog.

    >>> print(_term(-3), _term(2.0), _term(1e300), _term(True))
    -3 2.0 1.0e+300 yes
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        mantissa, e, exponent = repr(value).partition("e")
        return f"{mantissa}{'' if '.' in mantissa else '.0'}{e}{exponent}"
    return atom(value) if isinstance(value, str) else str(value)


def _list(items: Iterable[str]) -> str:
    return f"[{', '.join(items)}]"
