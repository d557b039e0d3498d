"""`treethink explain`: explain a prediction of a saved model."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treethink.cli._options import (
    AsJson,
    Height,
    Level,
    LogFile,
    ModelOption,
    NoPlugins,
    OptionalWorld,
    RequiredModel,
    SchemaFile,
    TransitionNumber,
    Width,
    WorldOption,
    WorldOptions,
    as_typed,
    check_log_options,
    complete_action,
    load_model,
    make_optional_world,
    open_log,
    open_world,
    print_given,
    required_model_and_world,
    state_of_log,
)
from treethink.cli._output import check_writable, print_json, print_page
from treethink.errors import SettingError, StateError, TreeThinkError
from treethink.model import TreeThink
from treethink.rules import FEEDBACK
from treethink.state import State
from treethink.terminal import coloured, say, terminal
from treethink.worlds import World, draw

if TYPE_CHECKING:
    from treethink.explain.why.explanation import Asked


def explain(
    ctx: typer.Context,
    action: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Action to be explained.", autocompletion=complete_action
        ),
    ],
    model: RequiredModel = None,
    world: OptionalWorld = None,
    model_option: ModelOption = None,
    world_option: WorldOption = None,
    level: Level = 0,
    state: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="State as JSON, as State.to_json writes it, instead of a level; - reads it from"
            " standard input.",
        ),
    ] = None,
    after: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Actions with commas between them; explain the state that the model predicts"
            " after them.",
        ),
    ] = None,
    of: Annotated[
        str | None,
        typer.Option(
            metavar="ID[.ATTRIBUTE]",
            help="Explain only this, even if nothing changes: an object's id, its name in the log,"
            " or its class if there is one; an attribute that one object has; or `reward` or"
            " `terminated`.",
        ),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option("--draw", metavar="FILE", help="Also draw the explanation, as .png."),
    ] = None,
    no_plugins: NoPlugins = False,
    as_json: AsJson = False,
    width: Width = None,
    height: Height = None,
    set_: WorldOptions = None,
    log: LogFile = None,
    schema: SchemaFile = None,
    transition: TransitionNumber = None,
) -> None:
    """Explain a prediction of a saved model.

    The prediction is for the first state of a level, for any state in a file, or for a state of a
    log: the last one, or that before a --transition. The explanation shows which tests hold there,
    for which objects, and which changes to the state would change the prediction.

    Examples:
      treethink explain maze.tt maze --action right
      treethink explain maze.tt maze --action left --of 40.pos
      treethink explain maze.tt maze --action up --after up,left
      treethink explain maze.tt maze --action up --level 3 --draw why.png
      treethink explain maze.tt maze --action up --json | jq .state > state.json
      treethink explain maze.tt --state state.json --action down
      treethink explain vending.tt --log vending.jsonl --action coin
      treethink explain vending.tt --log vending.jsonl --action coin --transition 12
    """
    path, name = required_model_and_world(ctx, (model, world), model_option, world_option)
    if name is None and state is None and log is None:
        raise SettingError(
            "say which state to explain: that of a level of a WORLD, a --state FILE, or the last"
            " one of a --log FILE"
        )
    check_log_options(log, schema, transition)
    place, names = None, {}
    if log is not None:
        place = make_optional_world(None, set_, no_plugins, width=width, height=height)
        typed = as_typed(name, state=None if state is None else str(state), level=level or None)
        loaded, given = open_log(ctx, path, log, schema, typed, as_json)
        start, names = state_of_log(given, transition), given.names
    else:
        if name is not None:
            loaded, place = open_world(path, name, set_, no_plugins, width=width, height=height)
        else:
            make_optional_world(None, set_, no_plugins, width=width, height=height)
            loaded = load_model(path)
        start = _start(loaded, place, level, state)
    actions = [each.strip() for each in after.split(",")] if after else []
    if actions:
        print_given(loaded, start)
    shown = _after(loaded, start, actions)
    target = _target(of, shown, names)
    explanation = loaded.explain(shown, action, target)
    if picture is not None:
        explanation.draw(check_writable(picture), place)
    if as_json:
        print_json(
            "explain",
            model=str(path),
            world=None if place is None else place.name,
            options=None if place is None else place.options,
            level=level if state is None and log is None else None,
            after=actions,
            **explanation.to_dict(),
        )
        return
    console = terminal()
    if place is not None:
        following = loaded.predict(shown, action).mode()
        captioned = [("now", shown), ("next, most likely", following)]
        print(draw.boards(place, captioned, colour=coloured(console)) + "\n")
    print_page(console, explanation)
    if picture is not None:
        say(console, f"drawn to {picture}")


def _start(model: TreeThink, world: World | None, level: int, file: Path | None) -> State:
    """Return the state in the file, or else the first one of the level."""
    if file is None:
        assert world is not None  # one of the two is given
        return world.reset(level)
    standard_input = str(file) == "-"
    where = "standard input" if standard_input else str(file)
    try:
        text = sys.stdin.read() if standard_input else file.read_text(encoding="utf-8")
        return State.from_json(model.schema, text)
    except (TreeThinkError, UnicodeDecodeError) as error:
        raise StateError(f"{where} holds no state of this model: {error}") from None


def _after(model: TreeThink, state: State, actions: list[str]) -> State:
    """Return the state that the model predicts after the actions: always the most likely one."""
    for each in actions:
        state = model.predict(state, each).mode()
    return state


def _target(of: str | None, state: State, names: Mapping[int, str]) -> Asked:
    """Return what `--of` asks for: an object's id, an id and an attribute, or a reward or an end.

    An object is given by its id, by its name in the log, or by its class if there is only one. An
    attribute that only one object has needs no object.
    """
    if of is None or of in FEEDBACK:
        return of
    known = {name: each for each, name in names.items()}
    for class_name in state.schema.classes:
        if len(objects := state.of_class(class_name)) == 1:
            known.setdefault(class_name, objects[0].id)
    fitting = [name for name in known if of == name or of.startswith(f"{name}.")]
    start = max(fitting, key=len, default=of.partition(".")[0])
    attribute = of[len(start) + 1 :]
    object_id = known.get(start)
    if object_id is None:
        owners = [each.id for each in state if of in each.values]
        if len(owners) == 1:
            return owners[0], of
        object_id = _id_of(start, of, state, known)
    if of.endswith("."):
        raise SettingError(f"--of takes an object and an attribute, such as 40.pos, got {of!r}")
    return (object_id, attribute) if attribute else object_id


def _id_of(text: str, of: str, state: State, known: Iterable[str]) -> int:
    """Return an object's id that is given as a number; raise an error if there is none."""
    if not re.fullmatch("-?[0-9]{1,18}", text):
        names = ", ".join(known) or "none"
        raise SettingError(
            "--of takes an object's id, such as 40 or 40.pos, or the name of one,"
            f" got {of!r}; names: {names}"
        )
    try:
        return state[int(text)].id
    except StateError as error:
        raise SettingError(f"--of: {error}") from None
