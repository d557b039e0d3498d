"""Rules as clauses of Prolog, asked in SWI-Prolog: `make prolog-test`.

It is no part of the ordinary tests, since it needs `swipl` (Debian: swi-prolog-nox).
"""

from __future__ import annotations

import runpy
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from crowd import CROWDS, large_crowd, model_of_crowd, sized_crowd
from exporting import (
    ODD_NAMES,
    Answers,
    Grown,
    answers_of,
    grown,
    model_of_odd_names,
    quick,
)
from treethink.export import prolog
from treethink.model import TreeThink
from treethink.state import State
from treethink.stream.random_play import transitions
from treethink.stream.transition import as_transition
from treethink.worlds import make

EXAMPLES = Path(__file__).parents[2] / "examples"

#: Values, each with its probability.
Chances = Mapping[Any, float]

CHECK = """
wrong(State, Action) :-
    case(State, Action, Expected),
    set_state(State),
    member(Answer, Expected),
    \\+ right(Answer, Action).
right(of(X, Attribute, Chances), Action) :-
    predict(Action, X, Attribute, Found), Found == Chances.
right(step(What, Chances), Action) :-
    transition(Action, What, Found), msort(Found, Sorted), msort(Chances, Sorted).
:- initialization((
    findall(S-A, wrong(S, A), Wrong), length(Wrong, N), aggregate_all(count, case(_, _, _), All),
    format("~d of ~d wrong~n", [N, All]), halt
)).
"""


def case(state: State, action: str, answers: Answers, feedback: Mapping[str, Chances]) -> str:
    """A state, and what is to be answered, as a clause."""
    expected = [
        f"of({x}, {prolog.atom(name)}, [{', '.join(map(chance, each.items()))}])"
        for x, attributes in answers.items()
        for name, each in attributes.items()
    ]
    expected += [
        f"step({what}, [{', '.join(map(chance, each.items()))}])" for what, each in feedback.items()
    ]
    return f"case({prolog.facts_of(state)}, {prolog.atom(action)}, [{', '.join(expected)}])."


def chance(entry: tuple[Any, float]) -> str:
    """A value and its probability; that of a reward or an end is no vector."""
    value, probability = entry
    exact = repr(probability) if "e" not in repr(probability) else f"{probability:.17e}"
    if isinstance(value, Feedback):
        return f"{value.text}-{exact}"
    return f"[{', '.join(map(term, value if isinstance(value, tuple) else [value]))}]-{exact}"


def term(value: Any) -> str:
    """A number, or a name or a flag as an atom."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return prolog.atom(value) if isinstance(value, str) else repr(value)


@dataclass(frozen=True)
class Feedback:
    """A reward or an end, as Prolog writes it."""

    text: str


def feedback_of(model: TreeThink, state: State, action: str) -> dict[str, Chances]:
    """What the engine says of the reward and the end."""
    prediction = model.predict(state, action)
    found: dict[str, Chances] = {}
    if (rewards := prediction.rewards()) is not None:
        found["reward"] = {Feedback(repr(each)): p for each, p in rewards.items()}
    if (end := prediction.terminated()) is not None:
        ends = {"yes": end, "no": 1 - end}
        found["terminated"] = {Feedback(each): p for each, p in ends.items() if p}
    return found


def run_swipl(model: Any, questions: Iterable[tuple[State, str]], folder: Path) -> str:
    """What SWI-Prolog prints, warnings too."""
    (folder / "rules.pl").write_text(prolog.text_of(model), encoding="utf-8")
    answers = model.answers if isinstance(model, Grown) else partial(answers_of, model)
    cases = [
        case(*each, answers(*each), {} if isinstance(model, Grown) else feedback_of(model, *each))
        for each in questions
    ]
    text = ":- encoding(utf8).\n" + "\n".join(cases) + CHECK
    (folder / "cases.pl").write_text(text, encoding="utf-8")
    command = ["swipl", "-q", "-f", "none", "-g", "consult([rules, cases])", "-t", "halt(1)"]
    process = subprocess.run(
        command, cwd=folder, encoding="utf-8", timeout=300, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    return process.stdout.strip()


@pytest.mark.parametrize("world", ["maze", "keys", "fish", "doors"])
def test_swi_prolog_answers_alike(world, tmp_path):
    where = make(world, width=6, height=6)
    model = TreeThink(where.schema)
    model.observe_many(transitions(where, steps=5000, seed=0))
    questions = [(state, action) for state, action, _ in transitions(where, steps=100, seed=1)]
    assert run_swipl(model, questions, tmp_path) == "0 of 100 wrong"


@pytest.mark.parametrize(
    ("program", "world"),
    [("elevator", "Elevator"), ("vending", "Vending"), ("warehouse", "Warehouse")],
)
def test_swi_prolog_gives_names_flags_rewards_and_ends_alike(program, world, tmp_path):
    where = runpy.run_path(str(EXAMPLES / f"{program}.py"))[world]()
    model = TreeThink(where.schema)
    model.observe_many(transitions(where, steps=5000, seed=0))
    assert "reward" in model.feedback
    stream = transitions(where, steps=200, seed=1)
    questions = [(each.before, each.action) for each in map(as_transition, stream)]
    assert run_swipl(model, questions, tmp_path) == "0 of 200 wrong"


def test_swi_prolog_answers_alike_at_the_cap_and_with_odd_names(tmp_path):
    questions = [(large_crowd(*each), "go") for each in CROWDS]
    questions += [(sized_crowd(seed), "go") for seed in range(6)]
    assert run_swipl(model_of_crowd(), questions, tmp_path) == "0 of 10 wrong"
    model, states = model_of_odd_names()
    odd = [(state, action) for state in states for action in ODD_NAMES]
    assert run_swipl(model, odd, tmp_path) == f"0 of {len(odd)} wrong"


@settings(quick, max_examples=8)
@given(grown())
def test_swi_prolog_answers_alike_for_trees_as_no_learner_grows_them(model: Grown):
    questions = [(state, action) for state in model.states(20) for action in ("go", "wait")]
    with tempfile.TemporaryDirectory() as folder:
        assert run_swipl(model, questions, Path(folder)) == "0 of 40 wrong"
