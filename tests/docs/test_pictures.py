"""The pictures of docs/how-it-works.md: up to date, small, and of what really happened."""

from __future__ import annotations

import importlib
import re
import xml.etree.ElementTree as ElementTree
from math import log
from pathlib import Path
from typing import Any

import pytest

from treethink.worlds import make

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-it-works.md"
NAMES = [
    "state", "facts", "tests", "flow", "evidence", "growth", "memory", "transfer", "chance", "plan",
]  # fmt: skip
MOST_BYTES = 60_000


@pytest.fixture(autouse=True)
def _experiments_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT)


def module(name: str) -> Any:
    return importlib.import_module(f"experiments.pictures.{name}")


def kept(name: str) -> str:
    text: str = module("__main__").path_of(name).read_text(encoding="utf-8")
    return text


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_is_what_is_drawn_today(name: str) -> None:
    assert module("__main__").PICTURES[name]() == kept(name), (
        "draw it again, and look at it: python -m experiments.pictures"
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_is_small_and_its_text_is_text(name: str) -> None:
    picture = kept(name)
    assert len(picture.encode()) < MOST_BYTES
    tags = [each.tag.rpartition("}")[2] for each in ElementTree.fromstring(picture).iter()]
    assert tags[:2] == ["svg", "title"]
    assert tags.count("text") >= 2


def test_the_page_shows_every_picture_once_and_tells_what_is_on_it() -> None:
    shown = re.findall(r"!\[([^\]]+)\]\(images/how_(\w+)\.svg\)", PAGE.read_text(encoding="utf-8"))
    assert sorted(name for _, name in shown) == sorted(NAMES)
    assert sorted(module("__main__").PICTURES) == sorted(NAMES)
    assert all(len(told) > 30 for told, _ in shown)


def test_the_page_tells_the_numbers_of_its_pictures() -> None:
    page = PAGE.read_text(encoding="utf-8")
    splits = re.findall(r"splits at ([\d,]+)", kept("evidence"))
    stages = re.findall(r"after ([\d,]+) transitions", kept("growth"))
    counts = re.findall(r"× ([\d,]+)", kept("growth"))
    inexact = re.findall(r"([\d,]+) in all", kept("memory"))
    assert len(splits) == len(inexact) == 2 and len(stages) == 3 and len(counts) == 9
    told = re.findall(r"[\d,]*\d", page)
    assert {*splits, *stages, *inexact} <= {*told}
    without_a_wall = int(counts[3]) + int(counts[4])  # after those of the first leaf, and a wall
    assert f"six steps out of {without_a_wall}" in page and counts[4] == "6"


@pytest.mark.parametrize("number", [0, 1])
def test_a_leaf_splits_just_when_its_curve_crosses_the_line(number: int) -> None:
    growth, doors_run = module("evidence_and_growth"), module("doors_run")
    decided = doors_run.decisions()[number]
    chosen = growth.as_twin(decided.test)
    leaf = growth.LeafEvidence()
    for step, scene, player, outcome in growth.reaching(decided.path, decided.observation):
        leaf.count(scene, player, outcome)
        leaf.weigh(step, scene, [chosen])
    *_, (_, before), (last, lead) = leaf.leads[chosen]
    assert last == decided.observation
    assert lead > log(1 / growth.ALPHA) > before


def test_the_shown_level_is_one_in_which_the_tests_answer_so() -> None:
    doors_run = module("doors_run")
    for answers in [(True,), (False, True, False), (False, True, True), (False, False)]:
        before, action, after = doors_run.first_step_with(answers)
        assert action == "right"
        assert tuple(step.holds for step in doors_run.reason_for(before).steps) == answers
        stays = before[doors_run.player_of(before)].pos == after[doors_run.player_of(after)].pos
        assert stays == (answers in {(True,), (False, True, False)})


def test_short_bars_are_still_bars() -> None:
    bars = re.findall(r'width="([\d.]+)" height="16.0" rx="([\d.]+)"', kept("plan"))
    assert len(bars) == 5
    assert all(float(corner) <= float(width) / 4 for width, corner in bars)


@pytest.mark.parametrize("cell", [11, 24])
def test_a_frame_does_not_hide_what_is_in_it(cell: int) -> None:
    level = module("level").Level(make("doors"), make("doors").reset(seed=0), 0, 0, cell)
    frame = level.frame((0, 0), "#000000")
    inside = float(re.findall(r"L([\d.]+) ", frame)[0])
    width = max(float(each) for each in re.findall(r'stroke-width="([\d.]+)"', frame))
    assert 2 * (inside - cell / 2 - width / 2) > 0.7 * cell
