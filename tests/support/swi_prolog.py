"""Rules as clauses of Prolog, asked in SWI-Prolog: `make prolog-test`.

It is no part of the ordinary tests, since it needs `swipl` (Debian: swi-prolog-nox).
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterable
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
from treethink.worlds import make

CHECK = """
wrong(State, Action) :-
    case(State, Action, Expected),
    set_state(State),
    member(of(X, Attribute, Chances), Expected),
    \\+ ( predict(Action, X, Attribute, Found), Found == Chances ).
:- initialization((
    findall(S-A, wrong(S, A), Wrong), length(Wrong, N), aggregate_all(count, case(_, _, _), All),
    format("~d of ~d wrong~n", [N, All]), halt
)).
"""


def case(state: State, action: str, answers: Answers) -> str:
    """A state, and what is to be answered, as a clause."""
    expected = [
        f"of({x}, {prolog.atom(name)}, [{', '.join(map(chance, each.items()))}])"
        for x, attributes in answers.items()
        for name, each in attributes.items()
    ]
    return f"case({prolog.facts_of(state)}, {prolog.atom(action)}, [{', '.join(expected)}])."


def chance(entry: tuple[Any, float]) -> str:
    value, probability = entry
    vector = list(value) if isinstance(value, tuple) else [value]
    exact = repr(probability) if "e" not in repr(probability) else f"{probability:.17e}"
    return f"{vector}-{exact}"


def run_swipl(model: Any, questions: Iterable[tuple[State, str]], folder: Path) -> str:
    """What SWI-Prolog prints, warnings too."""
    (folder / "rules.pl").write_text(prolog.text_of(model), encoding="utf-8")
    answers = model.answers if isinstance(model, Grown) else partial(answers_of, model)
    cases = [case(state, action, answers(state, action)) for state, action in questions]
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
