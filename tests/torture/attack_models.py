"""Attacks with model files that were changed on purpose: their checksum is right again.

Whoever loads such a file gets one ModelFileError, or a model that is of use, though it may be
wrong.
"""

from __future__ import annotations

import random
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import treethink as tt
from changed_files import MAKERS, Item, changed_file, kind
from torture import Attack

SLOWEST = 20  # seconds that all uses of one loaded model may take


def use(model: Any, following: list[Item], rng: random.Random) -> str | None:
    """Do what people do with a model; return what went wrong."""
    for i, (before, action, after, *feedback) in enumerate(following):
        with suppress(tt.TreeThinkError):
            prediction = model.predict(before, action)
            prediction.mode()
            prediction.probability(after)
            prediction.sample(i)
        with suppress(tt.TreeThinkError):
            model.observe(before, action, after, *feedback)
    before, action = following[0][:2]
    if isinstance(model, tt.TreeThink):
        uses: list[Callable[[], object]] = [
            lambda: model.explain(before, action),
            lambda: str(model.summary()),
            lambda: [str(rule) for rule in model.rules.values()],
            lambda: [rule.to_text("english") for rule in model.rules.values()],
            lambda: tt.plan(model, before, simulations=5, horizon=3),
            lambda: model.simplify(),
            lambda: model.doubts(),
            lambda: [model.unpin(key) for key in model.rules],
        ]
        for call in rng.sample(uses, 3):
            with suppress(tt.TreeThinkError):
                call()
    content = model.to_bytes()
    if type(model).from_bytes(content).to_bytes() != content:
        return "what it saves is loaded as something else"
    return None


class TooSlowError(Exception):
    pass


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TooSlowError(f"it took more than {seconds} s")

    if not hasattr(signal, "setitimer"):
        yield
        return
    usual = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, usual)


def changed_file_is_refused_or_of_use(rng: random.Random, folder: Path) -> str | None:
    """Change bytes of a model, make the checksum right again, load it and use it."""
    own = kind(rng.randrange(len(MAKERS)))
    content = changed_file(rng, own.content)
    with warnings.catch_warnings(), at_most(SLOWEST):
        warnings.simplefilter("ignore", tt.NoiseWarning)
        try:
            model = own.learner.from_bytes(content)
        except tt.ModelFileError:
            return None
        return use(model, own.following, rng)


ATTACKS = [
    Attack(
        "changed model file with a right checksum",
        "one ModelFileError, or a model that can be used and saved, or says why not",
        2_000,
        changed_file_is_refused_or_of_use,
    ),
]
