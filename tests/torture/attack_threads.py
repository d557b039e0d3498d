"""Attacks with threads, forks and interrupts, and with rules that are very deep."""

from __future__ import annotations

import copy
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any

import framed_worlds
import joint_worlds
import treethink as tt
from faults import STUCK, in_child, interrupted_after, meanwhile
from torture import Attack

Step = tuple[tt.State, str, tt.State]


@cache
def steps() -> list[Step]:
    """Return transitions of the maze."""
    return list(tt.transitions(tt.make("maze"), 1_000, seed=0))


def learned(number: int, **settings: Any) -> tt.TreeThink:
    """Return a model of the first transitions."""
    model = tt.TreeThink(tt.make("maze").schema, **settings)
    model.observe_many(steps()[:number])
    return model


# ---------------------------------------------------- exit

EXIT = """
import sys, threading, time
import treethink as tt
world = tt.make("maze")
stream = list(tt.transitions(world, 100, seed=0))
model = tt.TreeThink(world.schema, alpha=0.3)
if "hook" in sys.argv[1]:
    model.on_change = lambda change: sum(range(100))
uses = {
    "observe": lambda: [model.observe(*each) for each in stream],
    "observe_many": lambda: model.observe_many(stream),
    "observe_many, hook": lambda: model.observe_many(each for each in stream),
    "predict": lambda: [model.predict(*each[:2]) for each in stream],
    "plan": lambda: tt.plan(model, stream[0][0], simulations=50),
    "states": lambda: [tt.State(world.schema, (each for each in stream[0][0])) for _ in stream],
}
def use():
    while True:
        uses[sys.argv[1]]()
for _ in range(3):
    threading.Thread(target=use, daemon=True).start()
time.sleep(float(sys.argv[2]))
"""
USES = ["observe", "observe_many", "observe_many, hook", "predict", "plan", "states"]


def exit_with_daemon_threads(rng: random.Random, folder: Path) -> str | None:
    arguments = [rng.choice(USES), str(rng.random() * 0.03)]
    ended = subprocess.run(
        [sys.executable, "-c", EXIT, *arguments], capture_output=True, timeout=60
    )
    if ended.returncode == 0 and not ended.stdout and not ended.stderr:
        return None
    return f"{arguments}: exit code {ended.returncode}, {ended.stderr.decode()!r}"


# ---------------------------------------------------- fork


def fork_while_observing(rng: random.Random, folder: Path) -> str | None:
    """Fork while threads observe and predict."""
    if not hasattr(os, "fork"):
        return None
    model = learned(300, alpha=0.3)
    questions = [each[:2] for each in steps()[:50]]

    def use() -> str:
        model.observe(*steps()[0])
        model.predict(*steps()[1][:2])
        copied = tt.TreeThink.from_bytes(model.to_bytes())
        return "fine" if copied.to_bytes() == model.to_bytes() else "a copy is different"

    with meanwhile(
        lambda: model.observe_many(steps()[:100]), lambda: model.predict_many(questions)
    ):
        time.sleep(rng.random() * 0.02)
        answer = in_child(use)
    if answer == "fine" or answer.startswith("BrokenModelError: the model is broken: the process"):
        return None
    return f"the child: {answer}"


# ---------------------------------------------------- interrupts and callbacks


def interrupt_observe_many(rng: random.Random, folder: Path) -> str | None:
    """The number of observations is that of the items that were taken."""
    if not hasattr(signal, "setitimer"):
        return None
    model, items = tt.TreeThink(tt.make("maze").schema), cycle(steps())
    with suppress(KeyboardInterrupt), interrupted_after(0.001 + rng.random() * 0.1):
        model.observe_many(items)
    at = model.observations % len(steps())
    following = next(items)
    return None if following is steps()[at] else f"{model.observations} observations, others taken"


class HookError(Exception):
    pass


def raise_in_a_callback(rng: random.Random, folder: Path) -> str | None:
    """The callback fails at some change; then the rest of the stream is learned."""
    model, items = tt.TreeThink(tt.make("maze").schema, alpha=0.3), iter(steps())
    left = rng.randrange(6)

    def hook(change: tt.Change) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise HookError

    model.on_change = hook
    for _ in range(100):
        left = rng.randrange(6)
        try:
            model.observe_many(items)
            break
        except HookError:
            if left < -1:
                return "the callback was called again after its error"
    same = model.to_bytes() == learned(len(steps()), alpha=0.3).to_bytes()
    return None if same else f"the model differs after {model.observations} observations"


def callbacks_that_use_the_model(rng: random.Random, folder: Path) -> str | None:
    """A callback reads the model and observes, while another thread predicts."""
    model, extra = tt.TreeThink(tt.make("maze").schema, alpha=0.3), 0

    def hook(change: tt.Change) -> None:
        nonlocal extra
        match rng.randrange(4):
            case 0:
                model.predict(*steps()[0][:2])
            case 1:
                str(model.rules[change.rule])
            case 2:
                model.to_bytes()
            case _ if extra < 20:
                extra += 1
                model.observe(*steps()[rng.randrange(1_000)])

    model.on_change = hook
    questions = [each[:2] for each in steps()[:20]]
    with meanwhile(lambda: model.predict_many(questions)):
        model.observe_many(steps()[:400])
    right = 400 + extra
    return None if model.observations == right else f"{model.observations}, not {right}"


# ---------------------------------------------------- several threads


def several_threads(rng: random.Random, folder: Path) -> str | None:
    """Threads observe parts of a stream while others read: all is counted, and a copy is equal."""
    model = tt.TreeThink(tt.make("maze").schema, alpha=0.3)
    cuts = sorted(rng.sample(range(1, 400), 2))
    parts = [steps()[: cuts[0]], steps()[cuts[0] : cuts[1]], steps()[cuts[1] : 400]]
    threads = [threading.Thread(target=model.observe_many, args=(part,)) for part in parts]
    questions = [each[:2] for each in steps()[:20]]
    with meanwhile(
        lambda: model.predict_many(questions), lambda: str(model.rules["player", "pos", "right"])
    ):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(STUCK)
    if model.observations != 400:
        return f"{model.observations} observations, not 400"
    alone = learned(400, alpha=0.3)
    if any(rule.seen != alone.rules[key].seen for key, rule in model.rules.items()):
        return "the outcomes seen are not those of the stream"
    copied = tt.TreeThink.from_bytes(model.to_bytes())
    return None if copied.to_bytes() == model.to_bytes() else "a copy is different"


def transitions_with_looks(rng: random.Random, n: int) -> list[Step]:
    """Return transitions of a world in which rules choose a frame, or look ahead."""
    if rng.random() < 0.5:
        return framed_worlds.stream(rng.choice(["warp", "caught", "floors"]), n, rng.randrange(99))
    world = rng.choice([*joint_worlds.WORLDS])
    return joint_worlds.stream(joint_worlds.WORLDS[world][0], n, rng.randrange(99))


def threads_while_rules_look(rng: random.Random, folder: Path) -> str | None:
    """Threads observe while rules look at what is kept, and others read, copy and diagnose."""
    n = 200
    stream = transitions_with_looks(rng, n)
    model = tt.TreeThink(stream[0][0].schema)
    parts = [stream[k::3] for k in range(3)]
    threads = [threading.Thread(target=model.observe_many, args=(part,)) for part in parts]
    before, action = stream[0][:2]

    def read() -> None:
        prediction = model.predict(before, action)
        for each in before:
            prediction.novel(each.id, next(iter(each.values)))
        str(model.explain(before, action))
        pickle.loads(pickle.dumps(model)).observe(*stream[0])

    with meanwhile(read, model.kept, model.doubts):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(STUCK)
    if model.observations != n or len(model.kept()) != n:
        return f"{model.observations} observations, {len(model.kept())} kept, not {n}"
    copied = pickle.loads(pickle.dumps(model))
    return None if copied.to_bytes() == model.to_bytes() else "a copy is different"


# ---------------------------------------------------- deep rules


def random_caterpillar(rng: random.Random, depth: int) -> str:
    """Return the text of a rule in which every test has one leaf, on a random side."""
    lines, first, rest = ["dot.x when go    X0: dot"], "", ""
    below: list[str] = []
    for number in range(depth):
        lines.append(f"{first}X0[x] = {number} ?")
        leaf = f"{rng.randrange(5)} × {rng.randint(1, 9)}"
        if rng.random() < 0.5:
            below.append(f"{rest}└─ no:  {leaf}")
            first, rest = f"{rest}├─ yes: ", f"{rest}│  "
        else:
            lines.append(f"{rest}├─ yes: {leaf}")
            first, rest = f"{rest}└─ no:  ", f"{rest}   "
    return "\n".join([*lines, f"{first}7 × 1", *reversed(below)])


def deep_rules(rng: random.Random, folder: Path) -> str | None:
    """Use a rule of depth 300 to 900 in one of many ways."""
    schema, key = tt.Schema({"dot": ["x"]}, {"x": 1}, ["go"]), ("dot", "x", "go")
    model = tt.TreeThink(schema)
    model.replace(key, random_caterpillar(rng, rng.randint(300, 900)))
    rule = model.rules[key]
    state = tt.State(schema, [tt.Object(1, "dot", x=rng.randrange(900))])
    uses: list[Callable[[], object]] = [
        lambda: pickle.loads(pickle.dumps(rule)).root,
        lambda: copy.deepcopy(rule.root),
        lambda: [rule.to_text(style) for style in ("formula", "english", "code")],
        lambda: compile(rule.to_text("code"), "code", "exec"),
        lambda: [rule.to_dot(), rule.to_mermaid()],
        lambda: rule.to_svg(),
        lambda: [str(model.explain(state, "go")), str(model.summary())],
        lambda: [model.to_python(folder / "a.py"), model.to_prolog(folder / "a.pl")],
        lambda: model.replace(key, str(rule)),
        lambda: model.replace(key, rule.root),
        lambda: tt.TreeThink.from_bytes(model.to_bytes()),
    ]
    with suppress(tt.TreeThinkError):  # one clear error is allowed
        rng.choice(uses)()
    return None


ATTACKS = [
    Attack(
        "exit with daemon threads",
        "exit code 0 and no message, while threads observe, predict and plan",
        60,
        exit_with_daemon_threads,
    ),
    Attack(
        "fork while threads observe",
        "the child's model works, or every call raises one BrokenModelError; nothing hangs",
        300,
        fork_while_observing,
    ),
    Attack(
        "Ctrl-C in observe_many",
        "every item taken from the iterator is learned",
        300,
        interrupt_observe_many,
    ),
    Attack(
        "callback that raises",
        "every item taken is learned; the callback is not called again",
        200,
        raise_in_a_callback,
    ),
    Attack(
        "callback that uses the model",
        "no deadlock, and every observation counts",
        200,
        callbacks_that_use_the_model,
    ),
    Attack(
        "several threads with one model",
        "no observation is lost, and a copy is equal",
        200,
        several_threads,
    ),
    Attack(
        "threads while rules choose frames and look ahead",
        "no observation is lost, and a copy is equal; readers, copies and diagnoses go on",
        40,
        threads_while_rules_look,
    ),
    Attack("deep rules", "everything works or gives one TreeThinkError", 100, deep_rules),
]
