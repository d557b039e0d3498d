"""docs/rules.md is up to date, and its script refuses worlds that were not learned."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from types import ModuleType

import pytest

from plain_english import follow, result
from treethink.state import State
from treethink.stream.random_play import transitions
from treethink.worlds import World, make

ROOT = Path(__file__).parents[2]


@pytest.fixture
def rules(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module("experiments.rules")


WORLDS = ["maze", "coins", "keys", "doors", "switches", "gates", "lights"]


@pytest.mark.parametrize("world", WORLDS)
def test_a_section_is_up_to_date(rules: ModuleType, world: str) -> None:
    assert rules.is_on_page(world), "write it again: python experiments/rules.py"


def rules_in_english(page: str, world: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield class, attribute, action and English text of each rule of a world on the page."""
    _, _, section = page.partition(f"\n## {world}\n")
    section = section.partition("\n## ")[0]
    rule = r"^\*\*(\S+)\.(\S+) when (\S+)\*\*\n\n(.*?)\n\n<details"
    for each in re.finditer(rule, section, re.MULTILINE | re.DOTALL):
        yield each[1], each[2], each[3], each[4].replace("\n\n", "\n")


def situations(world: World) -> Iterator[tuple[State, str]]:
    """Return every scene of a world's rules, and some random play."""
    scenes = ((scene.before, scene.action) for scene in world.scenes())
    random_play = ((before, action) for before, action, _ in transitions(world, steps=300, seed=99))
    return chain(scenes, random_play)


@pytest.mark.parametrize("name", WORLDS)
def test_the_english_rules_predict_the_world(rules: ModuleType, name: str) -> None:
    world, page = make(name), rules.PAGE.read_text(encoding="utf-8")
    english = list(rules_in_english(page, name))
    assert english
    for before, action in situations(world):
        ((after, _),) = world.distribution(before, action)
        for class_name, attribute, when, text in english:
            for each in before.of_class(class_name) if when == action else ():
                now = result(follow(text, before, each), each.values[attribute])
                assert now == after[each.id].values[attribute], text


def test_the_page_has_exactly_the_listed_worlds(rules: ModuleType) -> None:
    page = rules.PAGE.read_text(encoding="utf-8")
    titles = [line[3:] for line in page.splitlines() if line.startswith("## ")]
    assert list(rules.STEPS) == list(rules.ODD) == WORLDS
    assert titles[-len(WORLDS) :] == WORLDS


def test_the_introduction_is_up_to_date(rules: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "section", lambda name: "")  # tested above
    assert rules.PAGE.read_text(encoding="utf-8").startswith(rules.page().rstrip())


def test_a_world_that_is_not_learned_is_refused(
    rules: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(rules.STEPS, "maze", 100)
    with pytest.raises(rules.NotLearned, match="maze: NOT learned"):
        rules.section("maze")
