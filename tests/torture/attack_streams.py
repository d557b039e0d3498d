"""Attacks with streams that never repeat themselves."""

from __future__ import annotations

import random
import warnings
from itertools import islice
from pathlib import Path

import treethink as tt
from endless import STREAMS
from torture import Attack

STEPS = 6_000
MOST_BYTES = 32 * 2**20


def learn_what_never_repeats(rng: random.Random, folder: Path) -> str | None:
    """Learn from an endless stream with random settings; the model stays small and can be saved."""
    stream = STREAMS[rng.choice(list(STREAMS))](rng)
    first = next(stream)
    settings = {
        "criterion": rng.choice(["evidence", "evidence", "wilson", "proven"]),
        "memory": rng.choice([5_000, 50, 0]),
        "max_outcomes": rng.choice([1_024, 1_024, 20, 1]),
    }
    model = tt.TreeThink(first[0].schema, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tt.NoiseWarning)
        model.observe_many(islice(stream, rng.randrange(1, STEPS)))
    use = model.memory_use()["bytes"]
    if use > MOST_BYTES:
        return f"{use:,} bytes after {model.observations:,} observations with {settings}"
    model.save(folder / "model.tt")
    loaded = tt.TreeThink.load(folder / "model.tt")
    return None if loaded.to_bytes() == model.to_bytes() else "the loaded model is another one"


ATTACKS = [
    Attack(
        "values that never come again",
        f"a model stays below {MOST_BYTES >> 20} MiB, and can be saved and loaded",
        200,
        learn_what_never_repeats,
    ),
]
