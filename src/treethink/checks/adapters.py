"""Check an adapted environment: what a learner would stumble over, in plain words.

    world -> play, resets, equal states -> [ check_adapter ] -> AdapterReport, with Findings

`check_world` asks whether a world keeps the contract of this package and stops at the first break.
`check_adapter` asks whether an environment was *told well*, and lists everything that it finds:

- **ids**: objects keep their ids, their class and their constant values within an episode;
- **hidden**: the same state and action always lead to the same distribution. If two equal states
  have different futures, something that matters is not in the state;
- **values**: states obey the schema, and values are within stated bounds;
- **errors**: the world answers without an error, whatever is asked;
- **sizes**: how many objects, values and actions there are, and what costs a learner time;
- **speed**: how long resets and steps take.

Equal states are found by playing each level several times, also with few actions. `futures.py` says
how a hidden variable is told from chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Group
from rich.text import Text

from treethink.checks.futures import Futures, Occasion
from treethink.errors import TreeThinkError, shown, whole_number
from treethink.explain.rich_text import RichText
from treethink.state import State
from treethink.stream.random_play import check_world_type
from treethink.text import many
from treethink.worlds import World

_SLOW_STEP, _SLOW_RESET = 0.01, 1.0  # seconds
_MANY_OBJECTS, _MANY_ACTIONS = 500, 60
_EPISODE = 30
_REPEATS = 4  # of each level


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault, or something worth knowing: which check, what was found, and what to do about it.

    >>> print(Finding("ids", "ball 3 is gone after 'left'", "Keep all objects."))
    ids: ball 3 is gone after 'left'
        Keep all objects.
    """

    check: str
    what: str
    advice: str
    is_fault: bool = True

    def __str__(self) -> str:
        return f"{self.check}: {self.what}\n    {self.advice}"


@dataclass(slots=True)
class AdapterReport(RichText):
    """What `check_adapter` found. It is true, as a bool, if there is a fault.

    `sizes` has the numbers of objects by class, of values, actions and different states met;
    `speed` the mean seconds of a reset and a step; `repeated` says how often a state and action
    came again, without which nothing can be said of hidden variables.

    >>> report = AdapterReport("lamp", steps=20, repeated=15)
    >>> print(report)
    lamp: no fault found in 20 steps; 15 times a state and action came again
    """

    world: str
    steps: int = 0
    repeated: int = 0
    sizes: dict[str, Any] = field(default_factory=dict)
    speed: dict[str, float] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.faults)

    @property
    def faults(self) -> list[Finding]:
        """The findings that a learner would stumble over."""
        return [each for each in self.findings if each.is_fault]

    def add(self, check: str, what: str, advice: str, is_fault: bool = True) -> None:
        """Add a finding, unless there is one of this check and advice already."""
        if all((each.check, each.advice) != (check, advice) for each in self.findings):
            self.findings.append(Finding(check, what, advice, is_fault))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        names = ("check", "what", "advice", "is_fault")
        return {
            "world": self.world,
            "steps": self.steps,
            "repeated": self.repeated,
            "sizes": self.sizes,
            "speed": self.speed,
            "findings": [{name: getattr(each, name) for name in names} for each in self.findings],
        }

    def __rich__(self) -> Group:
        faults = many(len(self.faults), "fault") if self.faults else "no fault found"
        again = f"{many(self.repeated, 'time')} a state and action came again"
        lines = [Text(f"{self.world}: {faults} in {many(self.steps, 'step')}; {again}")]
        if self.sizes:
            objects = ", ".join(f"{n} {name}" for name, n in self.sizes["objects"].items())
            values, actions = self.sizes["values"], many(self.sizes["actions"], "action")
            lines.append(Text(f"sizes: {objects or 'no objects'}; {values} values; {actions}"))
        if self.speed:
            step, reset = 1e6 * self.speed["step"], 1e3 * self.speed["reset"]
            lines.append(Text(f"speed: {step:,.0f} us a step, {reset:,.1f} ms a reset"))
        for each in self.findings:
            lines.append(Text(str(each), style="red" if each.is_fault else ""))
        return Group(*lines)


def check_adapter(world: World, steps: int = 2_000, seed: int = 0) -> AdapterReport:
    """Play a world for about `steps` steps, and report what a learner would stumble over.

    >>> from treethink import make
    >>> report = check_adapter(make("walls"), steps=200)
    >>> bool(report), report.sizes["objects"]
    (False, {'wall': 38, 'player': 1})
    """
    check_world_type(world, "check_adapter")
    number, seed = whole_number("steps", steps, 1), whole_number("seed", seed)
    report = AdapterReport(world.name)
    futures = Futures(world)
    clock = _Clock()
    played = _play(world, report, number, seed, clock)
    try:
        if _check_reset(world, report, seed, clock):
            for before, action, after, occasion in played:
                _check_transition(report, world, before, action, after)
                futures.add(before, action, after, occasion)
    except Exception as error:  # the world may run any code
        _add_error(report, error, clock)
    try:
        for finding in futures.findings(np.random.default_rng(seed)):
            report.add(*finding)
    except Exception as error:
        clock.latest = "when it was asked again about states that it has been in"
        _add_error(report, error, clock)
    report.repeated = futures.repeated
    _add_sizes(report, world, futures)
    _add_speed(report, clock)
    return report


# ----------------------------------------------------------------------------- the play


class _Clock:
    """Adds up the time of resets and steps, and keeps in words which was the latest."""

    def __init__(self) -> None:
        self.latest = "before its first reset"
        self.seconds = {"reset": 0.0, "step": 0.0}
        self.calls = {"reset": 0, "step": 0}

    def time(self, what: str, latest: str, call: Callable[[], State]) -> State:
        """Return what a call returns, and count its time."""
        self.latest = latest
        start = perf_counter()
        result = call()
        self.seconds[what] += perf_counter() - start
        self.calls[what] += 1
        return result


def _play(
    world: World, report: AdapterReport, steps: int, seed: int, clock: _Clock
) -> Iterator[tuple[State, str, State, Occasion]]:
    """Play levels, each several times: with the same actions, with others, and with few.

    The same actions lead to equal states, where nothing is left to chance; so do few actions.
    """
    rng = np.random.default_rng(seed)
    while report.steps < steps:
        level, actions = int(rng.integers(2**31)), _some_actions(world, rng)
        same = [actions[i] for i in rng.integers(len(actions), size=_EPISODE).tolist()]
        for repeat in range(_REPEATS):
            chosen = same if repeat % 2 else rng.choice(actions, size=_EPISODE).tolist()
            state = clock.time("reset", f"in reset({level})", partial(world.reset, level))
            occasion = Occasion(level, (level, repeat))
            for action in chosen[: steps - report.steps]:
                call = f"in step {report.steps + 1}, {action!r},"
                after = clock.time("step", call, partial(world.step, state, action, rng))
                report.steps += 1
                yield state, action, after, occasion
                if world.is_over(after) or world.terminated(state, action, after):
                    break
                occasion = occasion.after(action, after != state)
                state = after


def _some_actions(world: World, rng: np.random.Generator) -> list[str]:
    """Return all actions, or a few of them: then the same states come again more often."""
    actions = list(world.actions)
    if len(actions) <= 2 or rng.random() < 0.5:
        return actions
    return [actions[i] for i in rng.permutation(len(actions))[:2].tolist()]


def _check_reset(world: World, report: AdapterReport, seed: int, clock: _Clock) -> bool:
    """The same seed gives the same first state, whatever happened in between.

    Return whether there is a state to begin with.
    """
    clock.latest = f"in reset({seed})"
    first = world.reset(seed)
    if not isinstance(first, State):
        report.add("values", f"reset returns {shown(first)}", "reset must return a State.")
        return False
    clock.latest = f"in reset({seed + 1})"
    world.reset(seed + 1)
    clock.latest = f"in reset({seed}), the second time,"
    again = world.reset(seed)
    if again == first:
        return True
    if _anonymous(first) == _anonymous(again):
        report.add(
            "ids",
            f"reset({seed}) gives the same objects with other ids the second time",
            "Number the objects in a fixed order, such as by class and place.",
        )
    else:
        report.add(
            "values",
            f"reset({seed}) gives another state the second time",
            "Seed everything that is random in reset with its argument.",
        )
    return True


def _anonymous(state: State) -> Counter[Any]:
    return Counter((each.class_name, tuple(each.values.items())) for each in state)


# ------------------------------------------------------------------ each transition by itself


def _check_transition(
    report: AdapterReport, world: World, before: State, action: str, after: State
) -> None:
    if not isinstance(after, State):
        report.add("values", f"{action!r} gives {shown(after)}", "A step must return a State.")
        return
    if before.ids != after.ids:
        gone, new = (
            sorted(set(before.ids) - set(after.ids)),
            sorted(set(after.ids) - set(before.ids)),
        )
        report.add(
            "ids",
            f"after {action!r} the objects are others: ids {gone} are gone, {new} are new",
            "Keep all objects, with a flag such as `gone` for what disappears.",
        )
        return
    for each in before:
        if after[each.id].class_name != each.class_name:
            name = after[each.id].class_name
            report.add(
                "ids",
                f"after {action!r} object {each.id} was a {each.class_name} and is a {name}",
                "Give every thing an id of its own, and keep it.",
            )
            return
    _check_swaps(report, before, action, after)
    if (beyond := world.beyond_bounds(after)) is not None:
        report.add("values", f"after {action!r} {beyond}", "Correct `bounds`, or the value.")


def _check_swaps(report: AdapterReport, before: State, action: str, after: State) -> None:
    """Two objects that take each other's values, all of them, have probably swapped their ids."""
    changed: dict[str, list[int]] = {}
    for each in before.changes_to(after):
        changed.setdefault(before[each].class_name, []).append(each)
    for name, ids in changed.items():
        for one, other in combinations(ids[:20], 2):
            old, new = (
                {x: tuple(state[x].values.items()) for x in (one, other)}
                for state in (before, after)
            )
            if old[one] == new[other] and old[other] == new[one] and old[one] != old[other]:
                report.add(
                    "ids",
                    f"after {action!r} the {name}s {one} and {other} have each other's values:"
                    f" {dict(before[one].values)} and {dict(before[other].values)}",
                    "If nothing moved, their ids have swapped: order the objects by something"
                    " that stays, or track them.",
                )


# ---------------------------------------------------------------------- errors, sizes, speed


def _add_error(report: AdapterReport, error: Exception, clock: _Clock) -> None:
    what = f"{clock.latest} it raised {type(error).__name__}: {error}"
    if isinstance(error, TreeThinkError):
        advice = (
            "Every state must obey the schema, and keep its objects: correct it, or the schema."
        )
        report.add("values", what, advice)
    else:
        report.add("errors", what, "Correct the code that raised it: play must not end so.")


def _add_sizes(report: AdapterReport, world: World, futures: Futures) -> None:
    schema, objects = world.schema, futures.objects
    values = sum(n * len(schema.classes[name]) for name, n in objects.items())
    report.sizes = {
        "objects": {name: objects[name] for name in schema.classes if objects[name]},
        "values": values,
        "actions": len(schema.actions),
        "states": futures.states,
    }
    if sum(objects.values()) > _MANY_OBJECTS:
        report.add(
            "sizes",
            f"a state has {sum(objects.values()):,} objects",
            "Leave out objects that decide nothing, such as empty cells.",
            is_fault=False,
        )
    if len(schema.actions) > _MANY_ACTIONS:
        report.add(
            "sizes",
            f"there are {len(schema.actions):,} actions, and each has rules of its own",
            "Tell what an action is about in the state, such as the command of each robot.",
            is_fault=False,
        )
    if futures.repeated == 0 and report.steps:
        report.add(
            "hidden",
            "no state came twice, so nothing can be said of hidden variables",
            "Check it with a smaller level, or with more steps.",
            is_fault=False,
        )


def _add_speed(report: AdapterReport, clock: _Clock) -> None:
    for what, slow in (("step", _SLOW_STEP), ("reset", _SLOW_RESET)):
        seconds = clock.seconds[what] / max(1, clock.calls[what])
        report.speed[what] = seconds
        if seconds > slow:
            report.add(
                "speed",
                f"a {what} takes {1000 * seconds:,.0f} ms",
                "A learner takes well under a millisecond: switch off rendering and observations.",
                is_fault=False,
            )
