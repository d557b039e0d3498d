"""Attacks on memory: it runs out, or learning and loading ask for very much."""

from __future__ import annotations

import random
import resource
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import bombs
import child
import framed_worlds
import joint_worlds
import treethink as tt
from endless import noise
from torture import Attack
from treethink.baselines import Qora

MEGABYTE = 2**20
#: What loading a file may cost, whatever is in it.
FREE_MEMORY, MEMORY_PER_BYTE = 64 * MEGABYTE, 100
#: What learning from noise may cost, and how long one observation may take.
NOISE_MEMORY, NOISE_SECONDS = 400 * MEGABYTE, 5


def address_space() -> int:
    """Return the size of this process in bytes."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    return pages * resource.getpagesize()


class MemoryLimit:
    """A context in which so many more bytes can be had."""

    def __init__(self, more: int):
        self.more = more

    def __enter__(self) -> None:
        resource.setrlimit(resource.RLIMIT_AS, (address_space() + self.more, -1))

    def __exit__(self, *_: object) -> None:
        resource.setrlimit(resource.RLIMIT_AS, (-1, -1))


def first_error(call: Callable[[], object]) -> str:
    """Return the name of the error that the call raises, or an empty text."""
    try:
        call()
    except Exception as error:
        return type(error).__name__
    return ""


# -------------------------------------------------------------------- in the child process


def uses_of(model: tt.TreeThink, path: str, transition: Any) -> dict[str, Callable[[], object]]:
    """Return calls that all need a whole model."""
    before, action, _ = transition
    key = next(iter(model.rules))
    return {
        "observe": lambda: model.observe(*transition),
        "observe_many": lambda: model.observe_many([transition]),
        "predict": lambda: model.predict(before, action),
        "predict_many": lambda: model.predict_many([(before, action)]),
        "observations": lambda: model.observations,
        "rules": lambda: str(model.rules[key]),
        "summary": model.summary,
        "explain": lambda: model.explain(before, action),
        "memory_use": model.memory_use,
        "pin": lambda: model.pin(key),
        "unpin": lambda: model.unpin(key),
        "simplify": model.simplify,
        "to_bytes": model.to_bytes,
        "save": lambda: model.save(path),
    }


#: Worlds in which rules choose a frame, look ahead and look again.
FRAMED = ["warp", "caught", "heading", "floors"]
JOINT = ["two_relations", "cells", "statements"]


def stream_of(world: str, n: int, seed: int) -> list[Any]:
    """Return so many transitions of a world."""
    if world in FRAMED:
        return framed_worlds.stream(world, n, seed)
    if world in JOINT:
        return joint_worlds.stream(joint_worlds.WORLDS[world][0], n, seed)
    return list(tt.transitions(tt.make(world), n, seed))


def learn_under_limit(
    path: str, world: str, seed: int, more: int, first: int, memory: int
) -> str | None:
    """Learn until memory runs out; return what went wrong, or None."""
    stream = stream_of(world, first + (1_500 if world == "maze" else 300), seed)
    model = tt.TreeThink(stream[0][0].schema, memory=memory)
    model.observe_many(stream[:first])
    model.save(path)
    saved = Path(path).read_bytes()
    uses = uses_of(model, path, stream[0])
    with MemoryLimit(more):
        error = first_error(lambda: model.observe_many(stream[first:]))
    if error not in ("", "MemoryError"):
        return f"observe_many raised a {error}"
    errors = {name: first_error(use) for name, use in uses.items()}
    if set(errors.values()) == {"BrokenModelError"}:
        return None if Path(path).read_bytes() == saved else "the file was replaced"
    if any(errors.values()):
        return f"some uses of the model failed, others did not: {errors}"
    same = tt.TreeThink.load(path).to_bytes() == model.to_bytes()
    return None if same else "the saved file differs from the model"


def learn_qora_under_limit(path: str, seed: int, more: int) -> str | None:
    """Learn until memory runs out; return what went wrong, or None."""
    world = tt.make("maze")
    stream = list(tt.transitions(world, 1_000, seed=seed))
    learner = Qora(world.schema)
    learner.save(path)
    saved = Path(path).read_bytes()

    def learn() -> None:
        for transition in stream:
            learner.observe(*transition)

    with MemoryLimit(more):
        error = first_error(learn)
    if error not in ("", "MemoryError"):
        return f"observe raised a {error}"
    errors = {first_error(lambda: learner.observe(*stream[0])), first_error(learner.to_bytes)}
    if errors == {"BrokenModelError"}:
        learner_save = first_error(lambda: learner.save(path))
        untouched = Path(path).read_bytes() == saved
        return None if untouched and learner_save else "the file was replaced"
    return None if errors == {""} else f"some uses of the learner failed: {errors}"


def plan_under_limit(seed: int, more: int) -> str | None:
    """Plan until memory runs out, then plan on; return what went wrong, or None."""
    world = tt.make("maze")
    model = tt.TreeThink(world.schema)
    model.observe_many(tt.transitions(world, 300, seed=seed))
    states = [before for before, _, _ in tt.transitions(world, 10, seed=seed + 1)]
    agent = tt.Agent(model, simulations=3_000, seed=seed)

    def play() -> None:
        for state in states:
            agent.act(state)

    with MemoryLimit(more):
        error = first_error(play)
    if error not in ("", "MemoryError"):
        return f"planning raised a {error}"
    play()
    return None


def edit_under_limit(path: str, seed: int, more: int) -> str | None:
    """Edit rules until memory runs out; return what went wrong, or None."""
    world = tt.make("maze")
    model = tt.TreeThink(world.schema)
    model.observe_many(tt.transitions(world, 500, seed=seed))
    model.save(path)
    keys = list(model.rules.varying())

    def edit() -> None:
        for key in keys * 3:
            model.pin(key)
            model.replace(key, model.rules[key].root, pin=False)
            model.unpin(key)

    with MemoryLimit(more):
        error = first_error(edit)
    if error not in ("", "MemoryError"):
        return f"an edit raised a {error}"
    errors = {first_error(model.to_bytes), first_error(model.simplify)}
    if errors == {"BrokenModelError"}:
        return None
    if errors != {""}:
        return f"some uses of the model failed: {errors}"
    model.save(path)
    same = tt.TreeThink.load(path).to_bytes() == model.to_bytes()
    return None if same else "the saved file differs from the model"


def peak_memory() -> int:
    """Return the most memory that this process has used since `forget_peak`, in bytes."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def load_bombs(size: int) -> list[str]:
    """Load all kinds of bombs; return what went wrong."""
    return [wrong for each in bombs.KINDS if (wrong := load_bomb(each.__name__, size))]


def load_bomb(kind: str, size: int) -> str | None:
    """Load a bomb; return what went wrong, or None."""
    content = next(each for each in bombs.KINDS if each.__name__ == kind)(size)
    learner: Any = Qora if kind.endswith("qora") else tt.TreeThink
    forget_peak()
    before, start = peak_memory(), time.process_time()
    error = first_error(lambda: learner.from_bytes(content))
    memory, seconds = peak_memory() - before, time.process_time() - start
    if error not in ("", "ModelFileError"):
        return f"{kind} of {len(content):,} bytes raised a {error}"
    if memory > FREE_MEMORY + MEMORY_PER_BYTE * len(content):
        return f"{kind} of {len(content):,} bytes took {memory:,} bytes of memory"
    return None if seconds < 10 else f"{kind} of {len(content):,} bytes took {seconds:.0f} s"


def learn_noise(seed: int, attributes: int, steps: int, settings: dict[str, Any]) -> str | None:
    """Learn from attributes that are all noise; return what went wrong, or None."""
    stream = noise(random.Random(seed), attributes)
    first = next(stream)
    model = tt.TreeThink(first[0].schema, **settings)
    forget_peak()
    before, slowest = peak_memory(), 0
    for step in islice(stream, steps):
        slowest = max(slowest, *model._time_observe([step]))
    memory = peak_memory() - before
    case = f"{attributes} attributes, {steps} observations and {settings}"
    if memory > NOISE_MEMORY:
        return f"{case} took {memory:,} bytes of memory"
    return None if slowest < NOISE_SECONDS * 10**9 else f"{case}: one took {slowest / 1e9:.1f} s"


# -------------------------------------------------------------------- attacks


def memory_runs_out_while_learning(rng: random.Random, folder: Path) -> str | None:
    """Limit the memory of a process that learns."""
    arguments = (
        str(folder / "model.tt"),
        "maze",
        rng.randrange(1_000),
        rng.randrange(MEGABYTE),
        rng.choice([0, 50, 300]),
        rng.choice([0, 5_000]),
    )
    return child.result(child.start(learn_under_limit, *arguments))


def memory_runs_out_in_a_look(rng: random.Random, folder: Path) -> str | None:
    """Limit the memory of a process whose model looks at what it has kept, and chooses frames."""
    arguments = (
        str(folder / "model.tt"),
        rng.choice([*FRAMED, *JOINT]),
        rng.randrange(1_000),
        rng.randrange(MEGABYTE),
        rng.choice([0, 20, 60, 120]),
        5_000,
    )
    return child.result(child.start(learn_under_limit, *arguments))


def memory_runs_out_while_qora_learns(rng: random.Random, folder: Path) -> str | None:
    """Limit the memory of a process that learns with QORA."""
    arguments = str(folder / "qora.tt"), rng.randrange(1_000), rng.randrange(MEGABYTE)
    return child.result(child.start(learn_qora_under_limit, *arguments))


def memory_runs_out_while_editing(rng: random.Random, folder: Path) -> str | None:
    """Limit the memory of a process that edits rules."""
    arguments = str(folder / "model.tt"), rng.randrange(1_000), rng.randrange(MEGABYTE)
    return child.result(child.start(edit_under_limit, *arguments))


def memory_runs_out_while_planning(rng: random.Random, folder: Path) -> str | None:
    """Limit the memory of a process that plans."""
    arguments = rng.randrange(1_000), rng.randrange(MEGABYTE)
    return child.result(child.start(plan_under_limit, *arguments))


def bomb_is_refused(rng: random.Random, folder: Path) -> str | None:
    """Load a small file that asks for much memory or time."""
    kind = rng.choice(bombs.KINDS).__name__
    return child.result(child.start(load_bomb, kind, rng.randint(5_000, 1_000_000)))


def attributes_are_noise(rng: random.Random, folder: Path) -> str | None:
    """Learn from many attributes that are all noise, until their cost falls."""
    attributes = rng.choice([100, 200, 300])
    settings = {
        "criterion": rng.choice(["evidence", "evidence", "proven", "wilson"]),
        "memory": rng.choice([5_000, 50, 0]),
    }
    arguments = rng.randrange(1_000), attributes, 6_000 // attributes + 20, settings
    return child.result(child.start(learn_noise, *arguments))


ATTACKS = [
    Attack(
        "memory runs out while a model learns",
        "a MemoryError, then a BrokenModelError from everything; the saved file stays",
        60,
        memory_runs_out_while_learning,
    ),
    Attack(
        "memory runs out while rules choose frames and look ahead",
        "a MemoryError, then a BrokenModelError from everything; the saved file stays",
        60,
        memory_runs_out_in_a_look,
    ),
    Attack(
        "memory runs out while QORA learns",
        "a MemoryError, then a BrokenModelError from everything; the saved file stays",
        30,
        memory_runs_out_while_qora_learns,
    ),
    Attack(
        "memory runs out while rules are edited",
        "a MemoryError; the model is as before the edit, or broken, and says so",
        30,
        memory_runs_out_while_editing,
    ),
    Attack(
        "memory runs out while an agent plans",
        "a MemoryError; the agent plans on when there is memory again",
        30,
        memory_runs_out_while_planning,
    ),
    Attack(
        "small model file that asks for much",
        "loading takes at most 64 MB and 100 times the file, and 10 s of processor time; or one "
        "ModelFileError",
        80,
        bomb_is_refused,
    ),
    Attack(
        "many attributes that are all noise",
        f"learning takes at most {NOISE_MEMORY // MEGABYTE} MiB, and {NOISE_SECONDS} s for each "
        "observation",
        10,
        attributes_are_noise,
    ),
]
