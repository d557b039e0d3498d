"""Read which learners run in which worlds from a config file.

    TOML -> [ Config ] -> runs

`docs/experiments.md` describes the format. Every mistake is found here, before anything runs: the
file is parsed and checked (`fields.py`), and then every world and learner is made once (`dry_run`).
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from treethink.errors import (
    SettingError,
    TreeThinkError,
    UnknownNameError,
    WrongTypeError,
    shown,
)
from treethink.repro.runner.episodes import LONGEST, MOST_EPISODES, check_level
from treethink.repro.runner.fields import Fields, check_plain, in_place, number_of_seeds
from treethink.repro.runner.probes import check_options
from treethink.repro.runner.spec import (
    Episodes,
    LearnerPart,
    Limits,
    PlanPart,
    Run,
    Transfer,
    WorldPart,
)
from treethink.worlds import World, make

__all__ = ["Config", "Run", "dry_run", "load", "parse", "parse_only"]

_TOP = [
    "title", "steps", "seeds", "episode", "window", "examine", "score", "limits", "worlds",
    "learners", "plans",
]  # fmt: skip
_WORLD = ["name", "options", "steps", "transfer"]
_TRANSFER = ["world", "options", "every", "steps"]
_PLAN = ["label", "world", "options", "steps", "episodes", "simulations", "every"]
_LEARNER = ["name", "label", "settings", "paper", "predict", "worlds", "seeds", "steps"]
#: The settings of `TreeThink.paper`.
_PAPER: Mapping[str, Any] = {"criterion": "wilson", "memory": 0}
_EPISODE, _ROWS = 50, 50


@dataclass(frozen=True, slots=True)
class Config:
    """An experiment. `window` None: a fiftieth of each run's steps; `raw`: the file's content."""

    title: str
    worlds: tuple[WorldPart, ...]
    learners: tuple[LearnerPart, ...]
    seeds: tuple[int, ...]
    steps: int | None = None
    episode: int = _EPISODE
    window: int | None = None
    examine: int = 0
    limits: Limits = field(default_factory=Limits)
    plans: tuple[PlanPart, ...] = ()
    score: int = 0
    raw: Mapping[str, Any] = field(default_factory=dict)

    def runs(self, seeds: int | None = None) -> list[Run]:
        """Return all runs, by world, learner and seed.

        With `seeds`, they use the seeds 0 to `seeds` - 1, or that many of a learner's own.
        """
        if seeds is not None:
            return self.with_seeds(seeds).runs()
        return [
            self._run(world, learner, seed)
            for world in self.worlds
            for learner in self.learners
            if learner.worlds is None or world.name in learner.worlds
            for seed in learner.seeds or self.seeds
        ]

    def with_seeds(self, seeds: int) -> Config:
        """Return the experiment with `seeds` seeds, from 0 on; learners keep to their own."""
        number_of_seeds("seeds", seeds)
        learners = (
            each if each.seeds is None else replace(each, seeds=each.seeds[:seeds])
            for each in self.learners
        )
        changed = replace(self, seeds=tuple(range(seeds)), learners=tuple(learners))
        return replace(changed, raw=changed.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Return it as the content of a file; parsing that gives the same runs."""
        return _without_none(
            title=self.title,
            steps=self.steps,
            seeds=list(self.seeds),
            episode=self.episode,
            window=self.window,
            examine=self.examine,
            score=self.score or None,
            limits=_without_none(**asdict(self.limits)),
            worlds=[_without_none(**_plain(each)) for each in self.worlds],
            learners=[_without_none(**_plain(each)) for each in self.learners],
            plans=[_without_none(**_plain(each)) for each in self.plans] or None,
        )

    def _run(self, world: WorldPart, learner: LearnerPart, seed: int) -> Run:
        limits = (world.steps or self.steps, learner.steps)
        steps = min(each for each in limits if each is not None)
        return Run(
            world=world.name,
            learner=learner.name,
            label=learner.label,
            seed=seed,
            steps=steps,
            window=self.window or max(1, steps // _ROWS),
            episode=self.episode,
            examine=self.examine,
            options=world.options,
            settings=learner.settings,
            predict=learner.predict,
            transfer=world.transfer,
            limits=self.limits,
            plans=tuple(each.after(world) for each in self.plans),
            score=self.score,
        )


def _plain(part: WorldPart | LearnerPart | PlanPart) -> dict[str, Any]:
    return {
        name: list(each) if isinstance(each, tuple) else each for name, each in asdict(part).items()
    }


def _without_none(**values: Any) -> dict[str, Any]:
    return {name: each for name, each in values.items() if each is not None}


def load(path: str | os.PathLike[str]) -> Config:
    """Read a config file, and try it; raise an error that names the place of a mistake."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SettingError(f"cannot read {os.fspath(path)}: {reason}") from None
    return parse(text, os.fspath(path))


def parse(text: str, where: str = "the config") -> Config:
    """Read a config from a text, and try it.

    `where` names it in errors, and is its title if it has none.

    >>> parse('steps = 9\\nworlds = ["walls"]\\nlearners = "static"')
    Traceback (most recent call last):
    treethink.errors.SettingError: the config, learners must be a list: learners = ["static"], ...
    """
    config = parse_only(text, where)
    dry_run(config, where)
    return config


def parse_only(text: str, where: str = "the config") -> Config:
    """Read a config without trying it: what it needs may not be installed here."""
    if not isinstance(text, str):
        raise WrongTypeError(f"a config must be a str, got {shown(text)}; load reads a file")
    try:
        raw = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number of too many digits is no TOMLError
        raise SettingError(f"{where} is not TOML: {error}") from None
    check_plain(raw, where)
    return _config(raw, where)


# -------------------------------------------------------------------------- tables of TOML


def _config(raw: dict[str, Any], where: str) -> Config:
    top = Fields(raw, where, _TOP)
    limits = Fields(top.table("limits"), top.place("limits"), ("seconds", "megabytes"))
    worlds = tuple(_worlds(top))
    for i, each in enumerate(worlds):
        if each.steps is None and "steps" not in top:
            raise SettingError(f"{where}: 'steps' is missing, and worlds[{i}] has none of its own")
    return Config(
        title=top.text("title", Path(where).stem),
        worlds=worlds,
        learners=tuple(_learners(top, [each.name for each in worlds])),
        seeds=top.maybe_seeds("seeds") or (0,),
        steps=top.maybe_whole("steps", 1),
        episode=top.whole("episode", 1, _EPISODE),
        window=top.maybe_whole("window", 1),
        examine=top.whole("examine", 0, 0),
        score=top.whole("score", 0, 0),
        limits=Limits(limits.maybe_amount("seconds"), limits.maybe_amount("megabytes")),
        plans=tuple(_plans(top)) if "plans" in top else (),
        raw=raw,
    )


def _worlds(top: Fields) -> Iterator[WorldPart]:
    seen: list[tuple[str, Mapping[str, int]]] = []
    for i, each in enumerate(top.many("worlds")):
        table = {"name": each} if isinstance(each, str) else each
        fields = Fields(table, top.place(f"worlds[{i}]"), _WORLD)
        transfer = _transfer(fields) if "transfer" in fields else None
        part = WorldPart(
            fields.text("name"), fields.table("options"), fields.maybe_whole("steps", 1), transfer
        )
        if (part.name, part.options) in seen:
            raise SettingError(f"{fields.where}: {part.name!r} is there twice")
        seen.append((part.name, part.options))
        yield part


def _transfer(world: Fields) -> Transfer:
    fields = Fields(world.table("transfer"), world.place("transfer"), _TRANSFER)
    return Transfer(
        world=fields.text("world"),
        every=fields.whole("every", 1),
        steps=fields.whole("steps", 1, 100),
        options=fields.table("options"),
    )


def _plans(top: Fields) -> Iterator[PlanPart]:
    labels: set[str] = set()
    for i, each in enumerate(top.many("plans")):
        fields = Fields(each, top.place(f"plans[{i}]"), _PLAN)
        options, world = fields.table("options"), fields.maybe_text("world")
        listed = ", ".join(f"{name} {value}" for name, value in options.items())
        label = fields.text("label", " ".join(filter(None, (world, listed))) or "the same world")
        if label in labels:
            raise SettingError(
                f"{fields.where}: there is a plan with the label {label!r} already;"
                " give this one another"
            )
        labels.add(label)
        yield PlanPart(
            label=label,
            steps=fields.whole("steps", 1, most=LONGEST),
            episodes=fields.whole("episodes", 1, most=MOST_EPISODES),
            simulations=fields.whole("simulations", 1, 100),
            every=fields.maybe_whole("every", 1),
            world=world,
            options=options,
        )


def _learners(top: Fields, worlds: Sequence[str]) -> Iterator[LearnerPart]:
    labels: set[str] = set()
    for i, each in enumerate(top.many("learners")):
        table = {"name": each} if isinstance(each, str) else each
        fields = Fields(table, top.place(f"learners[{i}]"), _LEARNER)
        name = fields.text("name")
        label = fields.text("label", name)
        if label in labels:
            raise SettingError(
                f"{fields.where}: there is a learner with the label {label!r} already;"
                " give this one another"
            )
        labels.add(label)
        yield LearnerPart(
            name=name,
            label=label,
            settings=_settings(fields, name),
            predict=fields.table("predict"),
            worlds=_only(fields, worlds),
            seeds=fields.maybe_seeds("seeds"),
            steps=fields.maybe_whole("steps", 1),
        )


def _settings(fields: Fields, name: str) -> dict[str, Any]:
    settings = fields.table("settings")
    if not fields.flag("paper"):
        return settings
    if name != "treethink":
        raise SettingError(f"{fields.place('paper')} is for the learner 'treethink', not {name!r}")
    for each in _PAPER:
        if each in settings:
            raise SettingError(f"{fields.where}: paper = true decides the setting {each!r}")
    return {**settings, **_PAPER}


def _only(fields: Fields, worlds: Sequence[str]) -> tuple[str, ...] | None:
    if "worlds" not in fields:
        return None
    names = fields.many("worlds")
    for each in names:
        if not isinstance(each, str):
            raise SettingError(
                f"{fields.place('worlds')} must be names of worlds, got {shown(each)}"
            )
        if each not in worlds:
            raise UnknownNameError("world", each, worlds, fields.place("worlds"))
    return tuple(names)


# --------------------------------------------------------------------------------- dry run


def dry_run(config: Config, where: str) -> None:
    """Make every world and every learner once, and predict once where the config has options."""
    worlds = {}
    for i, part in enumerate(config.worlds):
        place = f"{where}, worlds[{i}]"
        world = worlds[part.name] = _world_at(part.name, part.options, place)
        if part.transfer is not None:
            place = f"{place}, transfer"
            other = _world_at(part.transfer.world, part.transfer.options, place)
            if not other.schema.fits(world.schema):
                raise SettingError(
                    f"{place}: {part.transfer.world!r} has another schema than {part.name!r}, so"
                    " what is learned in one says nothing of the other"
                )
    for i, plan in enumerate(config.plans):
        for part in config.worlds:
            _try_plan(plan.after(part), worlds[part.name], f"{where}, plans[{i}]")
    for i, learner in enumerate(config.learners):
        first = learner.worlds[0] if learner.worlds else config.worlds[0].name
        _try_learner(learner, worlds[first], f"{where}, learners[{i}]")


def _world_at(name: str, options: Mapping[str, int], place: str) -> World:
    with in_place(place):
        return make(name, **options)


def _try_plan(plan: Episodes, learned: World, place: str) -> None:
    world = _world_at(plan.world, plan.options, place)
    if not world.schema.fits(learned.schema):
        raise SettingError(
            f"{place}: {plan.world!r} has another schema than {learned.name!r}, so what is learned"
            " in one is of no use in the other"
        )
    with in_place(place):
        check_level(world, plan.steps)


def _try_learner(part: LearnerPart, world: World, place: str) -> None:
    from treethink.baselines import make_learner

    for each in ("name", "world"):  # parameters of make_learner itself
        if each in part.settings:
            raise SettingError(f"{place}: {part.name!r} has no setting {each!r}")
    with in_place(place):
        learner = make_learner(part.name, world, **part.settings)
    if part.predict:
        with in_place(f"{place}, predict"):
            check_options(part.name, learner, part.predict)
        try:
            learner.predict(world.reset(0), world.actions[0], **part.predict)
        except (TypeError, TreeThinkError) as error:
            reason = str(error).partition("\n")[0]
            options = ", ".join(f"{name}={shown(value)}" for name, value in part.predict.items())
            raise SettingError(
                f"{place}, predict: {part.name!r} cannot be asked with {options}: {reason}"
            ) from None
