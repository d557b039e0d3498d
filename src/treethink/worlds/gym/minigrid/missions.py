"""Missions: what an environment keeps beside its grid, as attributes, and back.

    environment -> [ mission_values ] -> verb, kind, color, ...
    the same, and objects -> [ set_mission ] -> environment

An environment keeps its mission in variables of its own: Fetch the class and colour of what is to
be fetched, Unlock its door, BabyAI an instruction. All follow from what the mission says and from
the objects, so they can be set again in any state. That is also why missions which remember what
was done earlier do not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from treethink.errors import StateError

VERBS = ("get", "go to", "open", "put near")
_ANY = "any"


def mission_values(env: Any) -> dict[str, str] | None:
    """Return what the mission names; None if it names no object, or always the same ones."""
    if hasattr(env, "instrs"):
        return _told_by_instruction(env.instrs)
    if hasattr(env, "move_type"):
        near = env.target_type, env.target_color
        return _values("put near", env.move_type, env.moveColor, *near)
    if hasattr(env, "targetColor"):  # Fetch
        return _values("get", env.targetType, env.targetColor)
    if hasattr(env, "target_color"):  # GoToObject, and GoToDoor, which has no type
        return _values("go to", getattr(env, "targetType", "door"), env.target_color)
    if hasattr(env, "obj"):
        return _values("get", env.obj.type, env.obj.color)
    return None


def _values(
    verb: str, kind: str | None, color: str | None, near_kind: str | None = None,
    near_color: str | None = None,
) -> dict[str, str]:  # fmt: skip
    return {
        "verb": verb,
        "kind": kind or _ANY,
        "color": color or _ANY,
        "near_kind": near_kind or _ANY,
        "near_color": near_color or _ANY,
    }


def set_mission(
    env: Any, values: Mapping[str, Any] | None, place: Any, things: Sequence[Any]
) -> None:
    """Let an environment have this mission, for these doors and items of its own.

    `place` is that of the target, if there is one.
    """
    told = values or {}
    if place is not None:
        env.target_pos = place
    if hasattr(env, "instrs"):
        env.instrs = _instruction(env, told, things)
    elif hasattr(env, "move_type"):
        env.move_type, env.moveColor = told["kind"], told["color"]
        env.target_type, env.target_color = told["near_kind"], told["near_color"]
    elif hasattr(env, "targetColor"):  # Fetch
        env.targetType, env.targetColor = told["kind"], told["color"]
    elif hasattr(env, "target_color"):
        env.targetType, env.target_color = told["kind"], told["color"]
    elif hasattr(env, "obj"):
        env.obj = _matching(things, told["kind"], told["color"])
    _set_doors(env, things)
    _set_memory(env, things)


def _matching(things: Sequence[Any], kind: str, color: str) -> Any:
    found = [each for each in things if (each.type, each.color) == (kind, color)]
    if not found:
        raise StateError(f"the mission names a {color} {kind}, and there is none")
    return found[0]


def _set_doors(env: Any, things: Sequence[Any]) -> None:
    """Set the doors that an environment keeps: its only one, or one of each colour."""
    for each in things:
        if each.type == "door" and hasattr(env, "door"):
            env.door = each
        if each.type == "door" and hasattr(env, f"{each.color}_door"):
            setattr(env, f"{each.color}_door", each)


def _set_memory(env: Any, things: Sequence[Any]) -> None:
    """Set where Memory ends: beside the object that is like the first one, and beside the other."""
    if not hasattr(env, "success_pos"):
        return
    cue, *others = sorted(things, key=lambda each: each.cur_pos[0])
    for each in others:
        x, y = each.cur_pos
        beside = (x, y + 1) if y < env.height // 2 else (x, y - 1)
        if each.type == cue.type:
            env.success_pos = beside
        else:
            env.failure_pos = beside


# ------------------------------------------------------------------------- BabyAI


def _told_by_instruction(instruction: Any) -> dict[str, str]:
    name = type(instruction).__name__
    if name == "PutNextInstr":
        move, fixed = instruction.desc_move, instruction.desc_fixed
        _refuse_places(move, fixed)
        return _values("put near", move.type, move.color, fixed.type, fixed.color)
    verbs = {"GoToInstr": "go to", "OpenInstr": "open", "PickupInstr": "get"}
    if name not in verbs:
        raise StateError(f"a mission of several parts ({name}) cannot be told in objects")
    _refuse_places(instruction.desc)
    return _values(verbs[name], instruction.desc.type, instruction.desc.color)


def _refuse_places(*descriptions: Any) -> None:
    for each in descriptions:
        if each.loc is not None:
            raise StateError(
                f"the mission names an object by its place at the beginning ({each.loc}), which no"
                " later state shows"
            )


def _instruction(env: Any, values: Mapping[str, Any], things: Sequence[Any]) -> Any:
    """Return a new instruction of the environment, as it is in the course of an episode."""
    from minigrid.envs.babyai.core import verifier

    def described(kind: str, color: str) -> Any:
        description: Any = verifier.ObjDesc(  # type: ignore[no-untyped-call]
            _name(values[kind]), _name(values[color])
        )
        description.obj_set = [each for each in things if _fits(description, each)]
        description.obj_poss = [
            each.cur_pos for each in description.obj_set if _is_on_grid(env, each)
        ]
        return description

    make: dict[str, Callable[..., Any]] = {
        "go to": verifier.GoToInstr,
        "open": verifier.OpenInstr,
        "get": verifier.PickupInstr,
        "put near": verifier.PutNextInstr,
    }
    descriptions = [described("kind", "color")]
    if values["verb"] == "put near":
        descriptions.append(described("near_kind", "near_color"))
    instruction = make[values["verb"]](*descriptions)
    instruction.env = env
    instruction.preCarrying = env.carrying
    instruction.strict = getattr(env.instrs, "strict", False)
    return instruction


def _is_on_grid(env: Any, thing: Any) -> bool:
    return thing.cur_pos[0] >= 0 and env.grid.get(*thing.cur_pos) is thing


def _name(told: str) -> str | None:
    return None if told == _ANY else told


def _fits(description: Any, thing: Any) -> bool:
    return description.type in (None, thing.type) and description.color in (None, thing.color)
