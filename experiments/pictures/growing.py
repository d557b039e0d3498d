"""How a leaf becomes a branch, and a tree grows: the engine's decisions, weighed by its twin."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import log

from experiments.pictures import learned
from experiments.pictures.canvas import GREY, INK, WIDTH, card, line, placed, size_of, text
from experiments.pictures.plot import Axes

from reference import (
    Candidate,
    Evidence,
    Node,
    Scene,
    Test,
    length_of_value,
    lengths_of_patterns,
)
from treethink.model import Change
from treethink.rules import Test as Read
from treethink.rules import value_of

Target = tuple[int, Scene, int, tuple[int, ...]]
"""When a step was taken, what was true, who took it, and what came of it."""

UNIT = 65_536  # of the twin's logarithms
ALPHA = 0.01
COLOURS = ("#c2570c", "#1668b8", "#8a8f98")  # the test that was chosen, and two others


@dataclass
class Weighing:
    """A leaf that counts, and never splits: the lead of each candidate over no test, in nats."""

    node: Node = field(default_factory=lambda: Node(("player",)))
    leads: dict[Test, list[tuple[int, float]]] = field(default_factory=dict)

    def count(self, scene: Scene, player: int, outcome: tuple[int, ...]) -> None:
        self.node.totals[outcome] += 1
        for test in scene.true_tests([(player,)]):
            self.node.candidates.setdefault(test, Candidate(0)).counts[outcome] += 1

    def weigh(self, step: int, scene: Scene, tests: Iterable[Test]) -> None:
        """How far each of the tests is ahead after so many transitions."""
        criterion = Evidence(ALPHA)
        none = criterion.score(self.node, {})
        patterns = lengths_of_patterns(scene, self.node.variables)
        for test in tests:
            held = self.node.candidates[test].counts if test in self.node.candidates else {}
            length = patterns[test._replace(value=())] + length_of_value(test.value)
            lead = (criterion.score(self.node, held) - length - none) / UNIT
            self.leads.setdefault(test, []).append((step, lead))


def evidence() -> str:
    """The lead of candidates over no test, transition by transition, at two leaves of the rule."""
    first, second = learned.decisions()[:2]
    parts = [
        *_panel(first, 62, "At the root, a single leaf"),
        *_panel(second, 422, "Later, at the leaf where no wall is"),
    ]
    return card("How far tests are ahead of no test, as transitions come in", 388, parts)


def _panel(decided: Change, x: float, title: str) -> list[str]:
    """One leaf, from its first transition to a little after its decision."""
    assert decided.test is not None
    end = round(decided.observation * 1.15)
    targets = reaching(decided.path, end)
    chosen = as_twin(decided.test)
    before = [each for each in targets if each[0] <= decided.observation]
    shown = [chosen, *(each for each in _best(before) if each != chosen)][:3]
    weighing = Weighing()
    for step, scene, player, outcome in targets:
        weighing.count(scene, player, outcome)
        weighing.weigh(step, scene, shown)
    low = min(lead for curve in weighing.leads.values() for _, lead in curve)
    high = max(lead for curve in weighing.leads.values() for _, lead in curve)
    axes = Axes(x, 66, 270, 196, (0, end), (min(low, -5) - 1, max(high, 6) + 1))
    return [*_drawn(axes, weighing, decided, title), *_names(x, shown)]


def _drawn(axes: Axes, weighing: Weighing, decided: Change, title: str) -> list[str]:
    needed = log(1 / ALPHA)
    ticks = range(0, 2 * decided.observation, 25 if decided.observation < 200 else 250)
    parts = axes.frame(
        title,
        "how far tests are ahead of no test, in nats",
        "transitions watched",
        [each for each in ticks if each <= axes.xs[1]],
        [each for each in range(-30, 31, 5) if axes.ys[0] <= each <= axes.ys[1]],
    )
    parts.append(axes.level(needed, INK))
    x, y = axes.at(0, needed)
    parts.append(text(x + 4, y - 5, f"enough: ln(1/alpha) = {needed:.1f}", INK, size=11))
    for colour, curve in zip(COLOURS, weighing.leads.values(), strict=True):
        parts.append(axes.curve(curve, colour, 2.5 if colour == COLOURS[0] else 1.5))
    x, y = axes.at(decided.observation, axes.ys[0])
    parts.append(line([(x, y), (x, axes.y)], COLOURS[0], 1, "2 3"))
    parts.append(
        text(
            x - 5,
            axes.y + 10,
            f"splits at {decided.observation:,}",
            COLOURS[0],
            size=11,
            anchor="end",
        )
    )
    return parts


def _names(x: float, tests: Sequence[Test]) -> list[str]:
    parts = []
    for number, (colour, test) in enumerate(zip(COLOURS, tests, strict=True)):
        y = 326 + 22 * number
        parts.append(line([(x, y - 4), (x + 16, y - 4)], colour, 2.5))
        parts.append(text(x + 22, y, str(_as_read(test)), mono=True, size=10.5))
    return parts


def reaching(path: str, end: int) -> list[Target]:
    """The first so many transitions' steps to the right that reach a leaf."""
    found: list[Target] = []
    for step, (before, action, after) in enumerate(learned.stream()[:end], start=1):
        answers = tuple(each.holds for each in learned.reason_for(before).steps)
        if action == learned.RULE[2] and answers[: len(path)] == tuple(c == "L" for c in path):
            player = learned.player_of(before)
            (x, y), (to_x, to_y) = before[player].pos, after[player].pos
            found.append((step, Scene(before), player, (to_x - x, to_y - y)))
    return found


def _best(targets: Sequence[Target]) -> list[Test]:
    """All candidates of a leaf that has seen these, the best ones first."""
    weighing = Weighing()
    for _, scene, player, outcome in targets:
        weighing.count(scene, player, outcome)
    step, scene, *_ = targets[-1]
    weighing.weigh(step, scene, weighing.node.candidates)
    return sorted(weighing.leads, key=lambda test: (-weighing.leads[test][-1][1], test))


def as_twin(test: Read) -> Test:
    value = (test.value,) if isinstance(test.value, int) else test.value
    return Test(test.kind, test.attribute, test.classes, test.variables, value)


def _as_read(test: Test) -> Read:
    new = tuple((v, c) for v, c in zip(test.slots, test.classes, strict=True) if v >= 1)
    return Read(test.kind, test.attribute, test.classes, test.slots, value_of(test.value), new)


# -------------------------------------------------------------------------- stages


def growth() -> str:
    """The rule just before its first decision, just before its second, and after the last."""
    first, second, *_, last = learned.decisions()
    stages = [first.observation - 1, second.observation - 1, learned.STEPS]
    assert last.observation < learned.STEPS
    parts, scale = [], 1.15
    corners = [(24.0, 40.0), (24.0, 206.0), (350.0, 40.0)]  # the last has the right half
    for steps, (x, y) in zip(stages, corners, strict=True):
        drawn = learned.rule(steps).to_svg()
        wide, high = (side * scale for side in size_of(drawn))
        assert x + wide <= (WIDTH if x > 24 else corners[-1][0] + 24)
        said = f"after {steps:,} transitions"
        parts.append(text(x + wide / 2, y - 8, said, GREY, anchor="middle"))
        parts.append(placed(drawn, x, y, scale))
    return card("The tree of player.pos when right, at three moments", y + high + 8, parts)
