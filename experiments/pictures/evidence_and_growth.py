"""Two pictures: the evidence for a split, computed by the slow twin, and the growth of a tree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import log

from experiments.pictures import doors_run
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
from treethink.editing.edit import engine_test
from treethink.model import Change
from treethink.rules import Test as Read

Target = tuple[int, Scene, int, tuple[int, ...]]
"""Step, scene before it, id of the player, outcome."""

UNIT = 65_536  # scale of the twin's logarithms
ALPHA = 0.01
COLOURS = ("#c2570c", "#1668b8", "#8a8f98")  # the test that was chosen, and two others


@dataclass
class LeafEvidence:
    """A leaf that never splits, with the lead of each candidate over no test, in nats."""

    node: Node = field(default_factory=lambda: Node(("player",)))
    leads: dict[Test, list[tuple[int, float]]] = field(default_factory=dict)

    def count(self, scene: Scene, player: int, outcome: tuple[int, ...]) -> None:
        """Count a target."""
        self.node.totals[outcome] += 1
        for test in scene.true_tests([(player,)]):
            self.node.candidates.setdefault(test, Candidate(0)).counts[outcome] += 1

    def weigh(self, step: int, scene: Scene, tests: Iterable[Test]) -> None:
        """Add the lead of each test after `step` transitions."""
        criterion = Evidence(ALPHA)
        none = criterion.score(self.node, {})
        patterns = lengths_of_patterns(scene, self.node.variables)
        for test in tests:
            held = self.node.candidates[test].counts if test in self.node.candidates else {}
            length = patterns[test._replace(value=())] + length_of_value(test.value)
            lead = (criterion.score(self.node, held) - length - none) / UNIT
            self.leads.setdefault(test, []).append((step, lead))


def evidence() -> str:
    """Draw the lead of candidates over no test, by transition, at two leaves of the rule."""
    first, second = doors_run.decisions()[:2]
    parts = [
        *_panel(first, 62, "At the root, a single leaf"),
        *_panel(second, 422, "Later, at the leaf where no wall is"),
    ]
    return card("How far tests are ahead of no test, as transitions come in", 388, parts)


def _panel(decision: Change, x: float, title: str) -> list[str]:
    """Draw one leaf, from its first transition to a little after its split."""
    assert decision.test is not None
    end = round(decision.observation * 1.15)
    targets = reaching(decision.path, end)
    chosen = as_twin(decision.test)
    before = [each for each in targets if each[0] <= decision.observation]
    candidates = [chosen, *(each for each in _best(before) if each != chosen)][:3]
    leaf = LeafEvidence()
    for step, scene, player, outcome in targets:
        leaf.count(scene, player, outcome)
        leaf.weigh(step, scene, candidates)
    low = min(lead for curve in leaf.leads.values() for _, lead in curve)
    high = max(lead for curve in leaf.leads.values() for _, lead in curve)
    axes = Axes(x, 66, 270, 196, (0, end), (min(low, -5) - 1, max(high, 6) + 1))
    return [*_draw_leads(axes, leaf, decision, title), *_names(x, candidates)]


def _draw_leads(axes: Axes, leaf: LeafEvidence, decision: Change, title: str) -> list[str]:
    needed = log(1 / ALPHA)
    ticks = range(0, 2 * decision.observation, 25 if decision.observation < 200 else 250)
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
    for colour, curve in zip(COLOURS, leaf.leads.values(), strict=True):
        parts.append(axes.curve(curve, colour, 2.5 if colour == COLOURS[0] else 1.5))
    x, y = axes.at(decision.observation, axes.ys[0])
    parts.append(line([(x, y), (x, axes.y)], COLOURS[0], 1, "2 3"))
    parts.append(
        text(
            x - 5,
            axes.y + 10,
            f"splits at {decision.observation:,}",
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
    """Return the steps to the right, among the first `end` transitions, that reach a leaf."""
    targets: list[Target] = []
    for step, (before, action, after) in enumerate(doors_run.stream()[:end], start=1):
        answers = tuple(each.holds for each in doors_run.reason_for(before).steps)
        if action == doors_run.RULE[2] and answers[: len(path)] == tuple(c == "L" for c in path):
            player = doors_run.player_of(before)
            (x, y), (to_x, to_y) = before[player].pos, after[player].pos
            targets.append((step, Scene(before), player, (to_x - x, to_y - y)))
    return targets


def _best(targets: Sequence[Target]) -> list[Test]:
    """Return all candidates of a leaf that has seen these targets, the best first."""
    leaf = LeafEvidence()
    for _, scene, player, outcome in targets:
        leaf.count(scene, player, outcome)
    step, scene, *_ = targets[-1]
    leaf.weigh(step, scene, leaf.node.candidates)
    return sorted(leaf.leads, key=lambda test: (-leaf.leads[test][-1][1], test))


def as_twin(test: Read) -> Test:
    """Return a test of a rule as the twin has it."""
    return Test(*engine_test(test))


def _as_read(test: Test) -> Read:
    return Read.from_engine(test.dump(), known=1)


# -------------------------------------------------------------------------- stages


def growth() -> str:
    """Draw the rule just before its first split, just before its second, and after the last."""
    first, second, *_, last = doors_run.decisions()
    stages = [first.observation - 1, second.observation - 1, doors_run.STEPS]
    assert last.observation < doors_run.STEPS
    parts, scale = [], 1.15
    corners = [(24.0, 40.0), (24.0, 206.0), (350.0, 40.0)]  # the last has the right half
    for steps, (x, y) in zip(stages, corners, strict=True):
        drawn = doors_run.rule(steps).to_svg()
        wide, high = (side * scale for side in size_of(drawn))
        assert x + wide <= (WIDTH if x > 24 else corners[-1][0] + 24)
        title = f"after {steps:,} transitions"
        parts.append(text(x + wide / 2, y - 8, title, GREY, anchor="middle"))
        parts.append(placed(drawn, x, y, scale))
    return card("The tree of player.pos when right, at three moments", y + high + 8, parts)
