"""Whether an experiment can be done: every world and every learner is made once.

Config -> [ attempt ] -> nothing, or one clear error with its place
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from treethink.errors import SettingError, TreeThinkError, shown
from treethink.repro.runner.episodes import check_level
from treethink.repro.runner.fields import at
from treethink.repro.runner.probes import check_options
from treethink.repro.runner.spec import Episodes
from treethink.worlds import World, make

if TYPE_CHECKING:
    from treethink.repro.runner.config import Config, LearnerPart


def attempt(config: Config, where: str) -> None:
    """Make every world and every learner once; ask it once, where the config says how."""
    made = {}
    for i, part in enumerate(config.worlds):
        place = f"{where}, worlds[{i}]"
        world = made[part.name] = _made(part.name, part.options, place)
        if part.transfer is not None:
            place = f"{place}, transfer"
            other = _made(part.transfer.world, part.transfer.options, place)
            if other.schema != world.schema:
                raise SettingError(
                    f"{place}: {part.transfer.world!r} has another schema than {part.name!r}, so"
                    " what is learned in one says nothing of the other"
                )
    for i, plan in enumerate(config.plans):
        for part in config.worlds:
            _try_plan(plan.after(part), made[part.name], f"{where}, plans[{i}]")
    for i, learner in enumerate(config.learners):
        first = learner.worlds[0] if learner.worlds else config.worlds[0].name
        _try_learner(learner, made[first], f"{where}, learners[{i}]")


def _made(name: str, options: Mapping[str, int], place: str) -> World:
    with at(place):
        return make(name, **options)


def _try_plan(plan: Episodes, learned: World, place: str) -> None:
    world = _made(plan.world, plan.options, place)
    if world.schema != learned.schema:
        raise SettingError(
            f"{place}: {plan.world!r} has another schema than {learned.name!r}, so what is learned"
            " in one is of no use in the other"
        )
    with at(place):
        check_level(world, plan.steps)


def _try_learner(part: LearnerPart, world: World, place: str) -> None:
    from treethink.baselines import make_learner

    for each in ("name", "world"):  # they are make_learner's own
        if each in part.settings:
            raise SettingError(f"{place}: {part.name!r} has no setting {each!r}")
    with at(place):
        learner = make_learner(part.name, world, **part.settings)
    if part.predict:
        with at(f"{place}, predict"):
            check_options(part.name, learner, part.predict)
        try:
            learner.predict(world.reset(0), world.actions[0], **part.predict)
        except (TypeError, TreeThinkError) as error:
            reason = str(error).partition("\n")[0]
            asked = ", ".join(f"{name}={shown(value)}" for name, value in part.predict.items())
            raise SettingError(
                f"{place}, predict: {part.name!r} cannot be asked with {asked}: {reason}"
            ) from None
