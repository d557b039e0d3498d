"""A small version of a figure: the same worlds and learners, fewer seeds and steps.

It shows in minutes that everything works; its results are marked as quick everywhere.
"""

from __future__ import annotations

from dataclasses import replace

from treethink.repro.figures import QUICK
from treethink.repro.runner.config import Config
from treethink.repro.runner.spec import LearnerPart, Limits, PlanPart, WorldPart

_SEEDS, _SEEDS_OF_SLOW = 2, 1
_SLOW = {"qora": 4_000, "paper": 300}  # slow learners, with their most steps
_FEWEST_STEPS, _MOST_STEPS = 2_000, 20_000
#: For figures with networks, which are slow without a GPU, above all in planning.
_MOST_WITH_NETWORKS, _EPISODES_WITH_NETWORKS, _PLANS_WITH_NETWORKS = 2_000, 1, 3
_MOST_WORLDS = 12
_HELD_OUT = 500
_EPISODES = 5
#: Only QORA is known to need limits.
_LIMITS = Limits(seconds=20.0, megabytes=1_000.0)


def steps(full: int, world: str = "", most: int = _MOST_STEPS) -> int:
    """Return a tenth of the steps, within bounds.

    In `scale` it is a third: the figure is about how the time of learning grows, so all of it must
    be learned.

    >>> [steps(each) for each in (1_000, 10_000, 150_000, 1_000_000)]
    [1000, 2000, 15000, 20000]
    >>> steps(60_000, "scale(6,10)"), steps(63_000, "scale(7,9)")
    (20000, 21000)
    """
    if world.startswith("scale("):
        return min(full, max(_FEWEST_STEPS, full // 3))
    return min(full, max(_FEWEST_STEPS, min(most, full // 10)))


def quick(config: Config) -> Config:
    """Return the small version of an experiment."""
    networks = any(each.name == "npe" for each in config.learners)
    most = _MOST_WITH_NETWORKS if networks else _MOST_STEPS
    # One seed is enough for a sweep over many worlds, and where several episodes are played.
    one = len(config.worlds) > _MOST_WORLDS or bool(config.plans) or networks
    small = replace(
        config,
        title=f"{config.title} {QUICK}",
        worlds=tuple(_world(each, config.steps, most) for each in config.worlds[:_MOST_WORLDS]),
        learners=tuple(_learner(each) for each in config.learners),
        seeds=config.seeds[: 1 if one else _SEEDS],
        steps=None if config.steps is None else steps(config.steps, most=most),
        window=None if config.window is None else _window(steps(config.steps or 0, most=most)),
        examine=min(config.examine, _HELD_OUT),
        limits=_LIMITS if any(each.name == "qora" for each in config.learners) else Limits(),
        plans=tuple(
            _plan(each, steps(config.steps or 0, most=most), networks)
            for each in config.plans[: _PLANS_WITH_NETWORKS if networks else None]
        ),
    )
    return replace(small, raw=small.to_dict())


def _window(whole: int) -> int:
    """Return a fiftieth of the steps, but at least an episode: a network trains once in each."""
    return max(50, whole // 50)


def _world(part: WorldPart, all_steps: int | None, most: int) -> WorldPart:
    full = part.steps or all_steps or 0
    transfer = part.transfer
    if transfer is not None:
        every = max(1, steps(full, most=most) // 4)
        transfer = replace(transfer, every=every, steps=min(20, transfer.steps))
    return replace(part, steps=steps(full, part.name, most), transfer=transfer)


def _plan(part: PlanPart, of: int, networks: bool) -> PlanPart:
    """Return fewer episodes; with `every`, they are played before, halfway and after."""
    episodes = _EPISODES_WITH_NETWORKS if networks else _EPISODES
    every = None if part.every is None else max(1, of // 2)
    return replace(part, episodes=min(episodes, part.episodes), every=every)


def _learner(part: LearnerPart) -> LearnerPart:
    most = _SLOW.get(part.name)
    if most is None:
        return replace(part, steps=None if part.steps is None else steps(part.steps))
    own = most if part.steps is None else min(most, part.steps)
    return replace(part, steps=own, seeds=(part.seeds or (0,))[:_SEEDS_OF_SLOW])
