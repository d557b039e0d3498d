"""What the paper claims, and who judges it.

Each claim says beside which figures it stands, in which words and with which number the paper
has it, and how it is held against records (`judges.py`). Where both ran, the paper's settings and
our defaults are judged apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from treethink.report.data import Data
from treethink.report.judges.common import Judge, Verdict
from treethink.report.judges.inference import (
    eval_alone_gains_little,
    faster,
    grows_with_objects,
    learn_identically,
)
from treethink.report.judges.learning import about, alike, converges, learns, never, slower
from treethink.report.judges.performance import linear, stable_over_alpha, updating_helps
from treethink.report.judges.resources import (
    approaches,
    blows_up,
    slower_to_observe,
    stable,
    transfers,
)

OURS, PAPER, QORA = "TreeThink", "TreeThink (paper)", "QORA"
PYTHON = "paper (in Python)"
DETERMINISTIC = (
    "walls", "doors", "lights", "lights-scoreless", "gates", "maze", "maze-scoreless",
    "coins", "coins-scoreless", "switches", "keys", "keys-scoreless",
)  # fmt: skip
WITH_REWARD = ("lights", "maze", "coins", "keys")
#: Setting by label, as the table of claims has it.
SETTINGS = {PAPER: "paper's settings", OURS: "defaults"}


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence that data can bear out. `setting` says of which learner, where there are two."""

    figures: tuple[str, ...]
    text: str
    paper: str
    judge: Judge
    setting: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim with what became of it."""

    claim: Claim
    verdict: Verdict
    quick: bool = False


def _all() -> Iterator[Claim]:
    yield from _learning()
    yield from _qora()
    yield from _transfer()
    yield from _inference()
    yield from _performance()


def _learning() -> Iterator[Claim]:
    for label, setting in SETTINGS.items():
        yield Claim(
            ("predict", *DETERMINISTIC),
            "TreeThink learns every deterministic world.",
            "all 12",
            learns(label, DETERMINISTIC),
            setting,
        )
    for world in DETERMINISTIC:
        for label, setting in SETTINGS.items():
            yield Claim(
                (world,),
                f"TreeThink converges to zero error in {world}.",
                "zero",
                converges(world, label),
                setting,
            )
    for label, setting in SETTINGS.items():
        yield Claim(
            ("maze",),
            "TreeThink learns maze in about 1,700 observations.",
            "1,700",
            about("maze", label, 1_700),
            setting,
        )
    for label, setting in SETTINGS.items():
        yield Claim(
            ("fish",),
            "TreeThink converges in fish, with alpha as high as 0.01.",
            "reliably",
            approaches("fish", label),
            setting,
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
    for label, setting in SETTINGS.items():
        yield Claim(
            ("predict", "coins-scoreless"),
            "In coins-scoreless, QORA takes about four times as long as TreeThink.",
            "4 times",
            slower("coins-scoreless", QORA, label, 4),
            setting,
        )
    for world in ("keys-scoreless", "keys", "fish"):
        for label, setting in SETTINGS.items():
            yield Claim(
                ("predict", world),
                f"TreeThink's observation time stays stable in {world}.",
                "highly stable",
                stable(world, label),
                setting,
            )
    for world in ("keys-scoreless", "keys"):
        for label, setting in SETTINGS.items():
            yield Claim(
                ("predict", world),
                f"An observation in {world} takes QORA far longer than TreeThink.",
                "significant performance issues",
                slower_to_observe(world, QORA, label),
                setting,
            )
    yield Claim(
        ("predict", "fish"),
        "QORA's resources blow up in fish at alpha 0.01.",
        "crash",
        blows_up("fish", QORA),
    )
    yield Claim(
        ("predict", "fish-0.001"),
        "QORA's resources do not blow up in fish at alpha 0.001.",
        "no crash",
        blows_up("fish-0.001", QORA, expected=False),
    )


def _transfer() -> Iterator[Claim]:
    for world in ("maze", "coins", "keys"):
        for label, setting in SETTINGS.items():
            yield Claim(
                (f"transfer-{world}",),
                f"What TreeThink learned in {world} at 8 x 8 is perfect at 32 x 32.",
                "perfect",
                transfers(f"transfer-{world}", label),
                setting,
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
            f"Both savings make predictions in {name} about {times:.0f} times faster.",
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
        "Stopping at the first binding alone (eval) gains under 1%.",
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
    fixed = {OURS: "TreeThink (fixed)", PAPER: "TreeThink (paper, fixed)"}
    for world in ("switches", "fish"):
        for label, setting in SETTINGS.items():
            yield Claim(
                ("ablation", "branches"),
                f"Branch updating improves convergence in {world}.",
                "improves",
                updating_helps(world, label, fixed[label]),
                setting,
            )
    for label, setting in SETTINGS.items():
        yield Claim(
            ("ablation", "alpha"),
            "TreeThink operates well across a wide range of alpha.",
            "wide range",
            stable_over_alpha("(paper)" if label == PAPER else ""),
            setting,
        )
    for figure in ("complexity", "scale-players", "scale-actions", "scale-both"):
        what = {
            "complexity": "players × actions, in random pairs",
            "scale-players": "the number of players",
            "scale-actions": "the number of actions",
            "scale-both": "players × actions",
        }[figure]
        for label, setting in SETTINGS.items():
            beside = ("ablation", figure) if figure == "complexity" else (figure,)
            yield Claim(
                beside,
                f"Learning time is linear in {what}.",
                "linear",
                linear(figure, label),
                setting,
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
            f"The appendix's algorithm errs as much as the engine with its settings in {world}.",
            "not said",
            alike("baselines", PYTHON, PAPER, world),
        )


CLAIMS = tuple(_all())


def judged(data: Data) -> list[Judged]:
    """Every claim, held against the data."""
    return [
        Judged(each, each.judge(data), any(data.is_quick(name) for name in each.figures))
        for each in CLAIMS
    ]
