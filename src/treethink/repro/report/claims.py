"""The paper's claims, and the judge of each.

    records of figures -> [ judge_all ] -> JudgedClaims -> tables, page, Markdown

Each claim has the figures whose records it needs, its text and number in the paper, and a judge
that compares it with records (`judges/`). The paper's settings and our defaults are judged apart
where both ran.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from treethink.repro.figures import FIGURES
from treethink.repro.report.data import Data
from treethink.repro.report.judges.common import Judge, Verdict
from treethink.repro.report.judges.learning import (
    about,
    alike,
    approaches,
    converges,
    learns,
    never,
    slower,
    transfers,
)
from treethink.repro.report.judges.neural import (
    better_here,
    fewer_observations,
    flawless,
    loses_zero,
    loss_ends_with_error,
    none_keeps,
    reaches_zero,
    worse_elsewhere,
)
from treethink.repro.report.judges.performance import (
    blows_up,
    eval_alone_gains_little,
    faster,
    grows_with_objects,
    learn_identically,
    linear,
    slower_to_observe,
    stable,
    stable_over_alpha,
    updating_helps,
)
from treethink.repro.report.judges.planning import (
    almost_pessimal,
    as_fast,
    does_the_same,
    fails_to_transfer,
    fastest,
    near_optimal,
    poor_but_stable,
)

OURS, PAPER, QORA = "TreeThink", "TreeThink (paper)", "QORA"
PYTHON, ORACLE = "paper (in Python)", "Oracle (the world itself)"
SMALLEST, LARGEST, BUILT = "NPE_1_1", "NPE_8_3", "NPE*"
NETWORKS = (SMALLEST, "NPE_2_1", "NPE_4_2", LARGEST)
DETERMINISTIC = (
    "walls", "doors", "lights", "lights-scoreless", "gates", "maze", "maze-scoreless",
    "coins", "coins-scoreless", "switches", "keys", "keys-scoreless",
)  # fmt: skip
WITH_REWARD = ("lights", "maze", "coins", "keys")
#: Setting by label, as the table of claims has it.
SETTINGS = {PAPER: "paper's settings", OURS: "defaults"}
#: Figures by the world that is planned in.
PLANNING = {"maze": "planning", "coins": "planning-coins", "keys": "planning-keys"}
#: The quantity that learning time grows with, by figure.
GROWTH = {
    "complexity": "players × actions, in random pairs",
    "scale-players": "the number of players",
    "scale-actions": "the number of actions",
    "scale-both": "players × actions",
}


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the paper that records can support or contradict.

    `setting` names the learner where there are two. `world` is set for a claim that is made for
    each of many worlds; these share one table.
    """

    figures: tuple[str, ...]
    text: str
    paper: str
    judge: Judge
    setting: str = ""
    world: str = ""

    @property
    def home(self) -> str:
        """The figure that it is about; empty if it is about several."""
        return self.sources[0] if len(self.sources) == 1 else ""

    @property
    def sources(self) -> tuple[str, ...]:
        """The figures that have its records, without composites."""
        return tuple(name for name in self.figures if not FIGURES[name].parts)

    def can_be_judged(self, data: Data) -> bool:
        """Whether there are records of at least half of its figures."""
        return 2 * sum(name in data.records for name in self.sources) >= len(self.sources)


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim with its verdict; `quick`: from quick records."""

    claim: Claim
    verdict: Verdict
    quick: bool = False


def _all() -> Iterator[Claim]:
    yield from _learning()
    yield from _qora()
    yield from _resources()
    yield from _transfer()
    yield from _inference()
    yield from _performance()
    yield from _planning()
    yield from _neural()
    yield from _neural_planning()


def _both(
    figures: tuple[str, ...],
    text: str,
    paper: str,
    judge: Callable[[str], Judge],
    world: str = "",
) -> Iterator[Claim]:
    """Yield the claim for both settings; `judge` makes a judge from a label."""
    for label, setting in SETTINGS.items():
        yield Claim(figures, text, paper, judge(label), setting, world)


def _learning() -> Iterator[Claim]:
    yield from _both(
        ("predict", *DETERMINISTIC),
        "TreeThink learns every deterministic world.",
        "all 12",
        lambda label: learns(label, DETERMINISTIC),
    )
    for world in DETERMINISTIC:
        yield from _both(
            (world,),
            f"TreeThink converges to zero error in {world}.",
            "zero",
            partial(converges, world),
            world,
        )
    yield from _both(
        ("maze",),
        "TreeThink learns maze in about 1,700 observations.",
        "1,700",
        lambda label: about("maze", label, 1_700),
    )
    yield from _both(
        ("fish",),
        "TreeThink converges in fish, with alpha as high as 0.01.",
        "reliably",
        partial(approaches, "fish"),
    )


def _qora() -> Iterator[Claim]:
    yield Claim(
        ("predict", *WITH_REWARD),
        "QORA learns no world with a reward.",
        "none",
        never(QORA, WITH_REWARD, OURS),
    )
    for world in ("switches", "keys-scoreless"):
        yield Claim(
            ("predict", world), f"QORA does not learn {world}.", "never", never(QORA, [world], OURS)
        )
    yield from _both(
        ("predict", "coins-scoreless"),
        "In coins-scoreless, QORA takes about four times as long as TreeThink.",
        "4 times",
        lambda label: slower("coins-scoreless", QORA, label, 4),
    )


def _resources() -> Iterator[Claim]:
    for world in ("keys-scoreless", "keys", "fish"):
        yield from _both(
            ("predict", world),
            f"TreeThink's time for an observation stays stable in {world}.",
            "highly stable",
            partial(stable, world),
        )
    for world in ("keys-scoreless", "keys"):
        yield from _both(
            ("predict", world),
            f"In {world}, an observation takes QORA much longer than TreeThink.",
            "significant performance issues",
            partial(slower_to_observe, world, QORA),
        )
    yield Claim(
        ("predict", "fish"),
        "QORA's resource use explodes in fish at alpha 0.01.",
        "crash",
        blows_up("fish", QORA),
    )
    yield Claim(
        ("predict", "fish-0.001"),
        "QORA's resource use does not explode in fish at alpha 0.001.",
        "no crash",
        blows_up("fish-0.001", QORA, expected=False),
    )


def _transfer() -> Iterator[Claim]:
    for world in ("maze", "coins", "keys"):
        yield from _both(
            (f"transfer-{world}",),
            f"Models that TreeThink learned in {world} at 8 x 8 are exact at 32 x 32.",
            "perfect",
            partial(transfers, f"transfer-{world}"),
        )


def _inference() -> Iterator[Claim]:
    for world, column, name, times in (
        ("maze", "predict_us", "maze", 1842 / 53.2),
        ("maze", "transfer_us", "maze-t", 481822 / 546),
        ("switches", "predict_us", "switches", 1920 / 67.0),
        ("keys", "predict_us", "keys", 2748 / 85.2),
    ):
        yield Claim(
            ("ablation", "inference"),
            f"Both optimisations make predictions in {name} about {times:.0f} times faster.",
            f"{times:.0f} times",
            faster(world, column, times),
        )
    yield Claim(
        ("ablation", "inference"),
        "The speed-up grows with the number of objects.",
        "34 to 880 times",
        grows_with_objects,
    )
    yield Claim(
        ("ablation", "inference"),
        "Stopping at the first binding alone (eval) saves less than 1%.",
        "0.05% to 0.6%",
        eval_alone_gains_little,
    )
    yield Claim(
        ("ablation", "inference"),
        "The four settings of inference learn identically.",
        "identical",
        learn_identically,
    )


def _performance() -> Iterator[Claim]:
    for world in ("switches", "fish"):
        yield from _both(
            ("ablation", "branches"),
            f"Branch updating improves convergence in {world}.",
            "improves",
            partial(_updating_helps, world),
        )
    yield from _both(
        ("ablation", "alpha"),
        "TreeThink works well for a wide range of alpha.",
        "wide range",
        lambda label: stable_over_alpha(paper=label == PAPER),
    )
    for figure, what in GROWTH.items():
        yield from _both(
            ("ablation", figure) if figure == "complexity" else (figure,),
            f"Learning time is linear in {what}.",
            "linear",
            partial(linear, figure),
        )
    for world in ("walls", "maze"):
        yield Claim(
            ("baselines",),
            f"The appendix's algorithm, in plain Python, converges in {world}.",
            "zero",
            converges("baselines", PYTHON, world),
        )
    for world in ("walls", "maze", "coins"):
        yield Claim(
            ("baselines",),
            f"In {world}, the appendix's algorithm has about the same mean error as the engine with"
            " its settings.",
            "not stated",
            alike("baselines", PYTHON, PAPER, world),
        )


def _planning() -> Iterator[Claim]:
    yield Claim(
        ("planning",),
        "With TreeThink, trained at 8 x 8, the planner gets near-optimal scores in all sizes of"
        " maze.",
        "near-optimal",
        near_optimal("planning", OURS),
    )
    # The paper plans in maze only.
    for world, figure in PLANNING.items():
        yield Claim(
            (figure,),
            f"With an exact model of {world}, the planner acts as it does with the world itself.",
            "not stated",
            does_the_same(figure, OURS, ORACLE),
        )


def _neural() -> Iterator[Claim]:
    for text, paper, judge in (
        ("No network keeps zero error.", "none", none_keeps("neural", NETWORKS)),
        (
            "NPE_8_3 reaches zero error near 340,000 observations.",
            "340,000",
            reaches_zero("neural", LARGEST, 340_000),
        ),
        (
            "NPE_8_3 loses zero error for good near 770,000 observations.",
            "770,000",
            loses_zero("neural", LARGEST, 770_000),
        ),
        (
            "TreeThink needs about 200 times fewer observations than NPE_8_3.",
            "200 times",
            fewer_observations("neural", OURS, LARGEST, 200),
        ),
        ("NPE*, built by hand, makes no error.", "zero", flawless("neural", BUILT)),
        (
            "Where a network's error is zero, its training loss is zero.",
            "to measured precision",
            loss_ends_with_error("neural", NETWORKS),
        ),
        (
            "The networks have a smaller error than static at 8 x 8.",
            "easily",
            better_here("neural", NETWORKS, "static"),
        ),
        (
            "At 16 x 16, the networks are worse than static.",
            "almost always; only NPE_1_1 is briefly better",
            worse_elsewhere("neural", NETWORKS, "static"),
        ),
    ):
        yield Claim(("neural",), text, paper, judge)


def _neural_planning() -> Iterator[Claim]:
    figure = "neural-planning"
    for text, paper, judge in (
        ("NPE* makes no error in the runs with planning.", "zero", flawless(figure, BUILT)),
        (
            "With NPE*, the planner gets near-optimal scores in all sizes.",
            "near-optimal",
            near_optimal(figure, BUILT),
        ),
        (
            "With TreeThink, in the same runs, the planner gets near-optimal scores in all sizes.",
            "near-optimal",
            near_optimal(figure, OURS),
        ),
        (
            "Planning with NPE_8_3 works well at 8 x 8 and fails in larger levels.",
            "relatively high, then low-quality",
            fails_to_transfer(figure, LARGEST, "8x8"),
        ),
        (
            "From 12 x 12 on, plans with NPE_8_3 are almost as bad as possible.",
            "almost as bad as possible",
            almost_pessimal(figure, LARGEST, ("12x12", "14x14", "16x16")),
        ),
        (
            "Planning with NPE_1_1 never works well, but is more stable as levels grow.",
            "much more stable",
            poor_but_stable(figure, SMALLEST, LARGEST),
        ),
        (
            "The planner is fastest with TreeThink.",
            "by far",
            fastest(figure, OURS, (SMALLEST, LARGEST, BUILT)),
        ),
        (
            "The planner takes the same time with NPE* and NPE_1_1.",
            "essentially identical",
            as_fast(figure, BUILT, SMALLEST),
        ),
    ):
        yield Claim((figure,), text, paper, judge)


def _updating_helps(world: str, label: str) -> Judge:
    fixed = {OURS: "TreeThink (fixed)", PAPER: "TreeThink (paper, fixed)"}
    return updating_helps(world, label, fixed[label])


CLAIMS = tuple(_all())


def judge_all(data: Data) -> list[JudgedClaim]:
    """Judge every claim; quick records need few seeds, as they are marked."""
    few = replace(data, fewest=1)
    verdicts = []
    for claim in CLAIMS:
        quick = any(data.is_quick(name) for name in claim.figures)
        verdicts.append(JudgedClaim(claim, claim.judge(few if quick else data), quick))
    return verdicts
