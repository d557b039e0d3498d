"""Attacks on model files: damaged bytes."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

import treethink as tt
from torture import Attack


@cache
def small_model_file() -> bytes:
    """Return the bytes of a model of the maze."""
    world = tt.make("maze")
    model = tt.TreeThink(world.schema)
    model.observe_many(tt.transitions(world, 300, seed=0))
    return model.to_bytes()


def damaged_file_is_refused(rng: random.Random, folder: Path) -> str | None:
    """Flip, cut or insert some bytes: loading gives a model or a ModelFileError, nothing else."""
    data = bytearray(small_model_file())
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data))
        match rng.randrange(3):
            case 0:
                data[at] ^= 1 << rng.randrange(8)
            case 1:
                del data[at : at + rng.randint(1, 50)]
            case _:
                data[at:at] = rng.randbytes(rng.randint(1, 50))
    path = folder / "damaged.tt"
    path.write_bytes(bytes(data))
    try:
        tt.TreeThink.load(path)
    except tt.ModelFileError:
        return None
    return None if bytes(data) == small_model_file() else "a damaged file was loaded"


ATTACKS = [
    Attack(
        "damaged model file",
        "`load` refuses it with one ModelFileError",
        2_000,
        damaged_file_is_refused,
    ),
]
