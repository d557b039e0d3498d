"""The pictures of docs/how-it-works.md are up to date, small, and show real runs."""

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
MAX_BYTES = 60_000


@pytest.fixture(autouse=True)
def _make_experiments_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT)


def module(name: str) -> Any:
    return importlib.import_module(f"experiments.pictures.{name}")


def stored(name: str) -> str:
    """Return the picture that is in docs/images."""
    text: str = module("__main__").path_of(name).read_text(encoding="utf-8")
    return text


def page_text() -> str:
    """Return the page with every run of white space as one space."""
    return " ".join(PAGE.read_text(encoding="utf-8").split())


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_is_up_to_date(name: str) -> None:
    assert module("__main__").PICTURES[name]() == stored(name), (
        "redraw and inspect it: python -m experiments.pictures"
    )


def is_small_svg_with_text(picture: str) -> bool:
    tags = [each.tag.rpartition("}")[2] for each in ElementTree.fromstring(picture).iter()]
    is_small = len(picture.encode()) < MAX_BYTES
    return is_small and tags[:2] == ["svg", "title"] and tags.count("text") >= 2


def test_pictures_are_small_and_their_text_is_text() -> None:
    assert not [name for name in NAMES if not is_small_svg_with_text(stored(name))]


def test_the_page_shows_every_picture_once_with_a_description() -> None:
    pictures = re.findall(r"!\[([^\]]+)\]\(images/how_(\w+)\.svg\)", page_text())
    assert sorted(name for _, name in pictures) == sorted(NAMES)
    assert sorted(module("__main__").PICTURES) == sorted(NAMES)
    assert all(len(description) > 30 for description, _ in pictures)


def test_the_page_states_the_numbers_of_its_pictures() -> None:
    page = page_text()
    splits = re.findall(r"splits at ([\d,]+)", stored("evidence"))
    stages = re.findall(r"after ([\d,]+) transitions", stored("growth"))
    counts = re.findall(r"× ([\d,]+)", stored("growth"))
    inexact = re.findall(r"([\d,]+) in all", stored("memory"))
    assert len(splits) == len(inexact) == 2 and len(stages) == 3 and len(counts) == 9
    assert {*splits, *stages, *inexact} <= {*re.findall(r"[\d,]*\d", page)}
    without_a_wall = int(counts[3]) + int(counts[4])  # the counts after the first leaf and the wall
    assert f"six steps out of {without_a_wall}" in page and counts[4] == "6"


@pytest.mark.parametrize("number", [0, 1])
def test_a_leaf_splits_just_when_its_curve_crosses_the_line(number: int) -> None:
    growth, doors_run = module("evidence_and_growth"), module("doors_run")
    decision = doors_run.decisions()[number]
    chosen = growth.as_twin(decision.test)
    leaf = growth.LeafEvidence()
    for step, scene, player, outcome in growth.reaching(decision.path, decision.observation):
        leaf.count(scene, player, outcome)
        leaf.weigh(step, scene, [chosen])
    *_, (_, before), (last, lead) = leaf.leads[chosen]
    assert last == decision.observation
    assert lead > log(1 / growth.ALPHA) > before


def test_the_shown_level_is_one_in_which_the_tests_answer_so() -> None:
    doors_run = module("doors_run")
    for answers in [(True,), (False, True, False), (False, True, True), (False, False)]:
        before, action, after = doors_run.first_step_with(answers)
        assert action == "right"
        assert tuple(step.holds for step in doors_run.reason_for(before).steps) == answers
        stays = before[doors_run.player_of(before)].pos == after[doors_run.player_of(after)].pos
        assert stays == (answers in {(True,), (False, True, False)})


def test_the_corners_of_short_bars_are_small() -> None:
    bars = re.findall(r'width="([\d.]+)" height="16.0" rx="([\d.]+)"', stored("plan"))
    assert len(bars) == 5
    assert all(float(corner) <= float(width) / 4 for width, corner in bars)


@pytest.mark.parametrize("cell", [11, 24])
def test_a_frame_does_not_hide_its_content(cell: int) -> None:
    level = module("level").Level(make("doors"), make("doors").reset(seed=0), 0, 0, cell)
    frame = level.frame((0, 0), "#000000")
    inside = float(re.findall(r"L([\d.]+) ", frame)[0])
    width = max(float(each) for each in re.findall(r'stroke-width="([\d.]+)"', frame))
    assert 2 * (inside - cell / 2 - width / 2) > 0.7 * cell
