"""`experiments/language.py`: rows are measured as it says, and worlds that are learned stay so."""

from __future__ import annotations

import importlib
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from treethink.model import TreeThink
from treethink.worlds import LANGUAGE_WORLDS, make

pytestmark = pytest.mark.slow

#: The rows that the defaults learn from the steps that are allowed. Extend it with the language.
LEARNED: tuple[str, ...] = ("push",)


@pytest.fixture
def language(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import the script by its name, so that other processes find it too."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2])
    return importlib.import_module("experiments.language")


def test_what_is_learned_stays_learned(language: Any) -> None:
    for name in LEARNED:
        result = language.run(name, seed=0, held_out=500)
        assert result.learned(len(language.ROWS[name]().scenes)), name
        assert result.larger in (None, 1), name


def test_every_world_beyond_the_papers_language_has_a_row(language: Any) -> None:
    schemas = [row().schema for row in language.ROWS.values()]
    assert all(make(each.name).schema in schemas for each in LANGUAGE_WORLDS)


def test_every_row_has_a_stream_that_depends_on_the_seed_alone(language: Any) -> None:
    for name, make_row in language.ROWS.items():
        row, again = make_row(), make_row()
        cases = list(islice(row.training(1), 120))
        assert cases == list(islice(again.training(1), 120)), name
        assert cases != list(islice(row.training(2), 120)), name
        model = TreeThink(row.schema)
        model.observe_many(cases)
        for larger in [] if row.larger is None else islice(row.larger(0), 2):
            model.predict(*larger[:2])


def test_a_row_of_a_world_that_is_learned_says_so(
    language: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    walls, larger = make("walls"), make("walls", width=14)
    rows = {
        "enough": lambda: language.world_row(600, walls, larger=larger, reference=walls),
        "too few": lambda: language.world_row(20, walls),
    }
    monkeypatch.setattr(language, "ROWS", rows)
    enough = language.run("enough", 0, 200)
    assert 20 < enough.last_error < 600 and enough.larger == 1
    line = language.table_row("enough", [enough])
    assert "| 1 of 1 |" in line and "| all | 12 of 12 | all |" in line
    assert "times with classes" in line
    too_few = language.table_row("too few", [language.run("too few", 0, 200)])
    assert (
        "| 0 of 1 |" in too_few and "all" not in too_few and too_few.count("|") == line.count("|")
    )


def test_only_the_actions_of_a_row_are_in_its_stream_and_its_scenes(language: Any) -> None:
    row = language.ROWS["parity of attributes"]()
    assert {action for _, action, _ in islice(row.training(0), 100)} == {"press"}
    assert {action for _, action, _ in row.scenes} == {"press"}


def test_episodes_take_place_in_each_size_in_turn(language: Any) -> None:
    row = language.world_row(300, make("walls", width=5), make("walls", width=6))
    widths = [1 + max(x for x, _ in (wall.pos for wall in before.of_class("wall")))
              for before, _, _ in islice(row.training(0), 200)]  # fmt: skip
    assert widths == [5] * 50 + [6] * 50 + [5] * 50 + [6] * 50
