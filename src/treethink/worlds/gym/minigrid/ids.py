"""The ids of MiniGrid and BabyAI: short and full names, and which of them do not fit.

"DoorKey-8x8" -> [ full_id ] -> "MiniGrid-DoorKey-8x8-v0"
"""

from __future__ import annotations

import importlib.util
import re
from typing import Any

from treethink.errors import SettingError, UnknownNameError, missing_package, nearest_name, shown
from treethink.worlds.gym.adapter import gymnasium

#: How a name given to `treethink.make` says that the rest is an id of MiniGrid.
PREFIX = "minigrid:"

_FAMILY = re.compile(r"[A-Za-z]+?(?=S?\d|-|$)")
_VERSION = re.compile(r"-v\d$")
_MISSION = "its missions have several parts, and no state shows which parts are done"
_PLACES = "its missions name an object by where it was, seen from the agent, when the episode began"
_START = "its first drop pays nothing, though the state is like later ones in which it does"
_PACKAGES = "its levels are made by other packages (networkx)"
#: Beginnings of ids, without the package's name, that do not fit, each with the reason.
NOT_FITTING: dict[str, str] = {
    "BabyAI-BossLevel": _MISSION,
    "BabyAI-GoToSeq": _MISSION,
    "BabyAI-MiniBossLevel": _MISSION,
    "BabyAI-MoveTwoAcross": _MISSION,
    "BabyAI-OpenDoorsOrder": _MISSION,
    "BabyAI-OpenRedBlueDoors": _MISSION,
    "BabyAI-OpenTwoDoors": _MISSION,
    "BabyAI-SynthSeq": _MISSION,
    "BabyAI-OpenDoor-": _PLACES,
    "BabyAI-OpenDoorDebug": _PLACES,
    "BabyAI-OpenDoorLoc": _PLACES,
    "BabyAI-PickupLoc": _PLACES,
    "BabyAI-SynthLoc": _PLACES,
    "BabyAI-PutNextS5N2Carrying": _START,
    "BabyAI-PutNextS6N3Carrying": _START,
    "BabyAI-PutNextS7N4Carrying": _START,
    "MiniGrid-WFC-": _PACKAGES,
}


def minigrid() -> Any:
    """Return the package MiniGrid; raise an error if it is missing or broken."""
    gymnasium()
    try:
        import minigrid as package
    except ImportError as error:
        raise missing_package("this world needs MiniGrid", "minigrid") from error
    return package


def is_installed() -> bool:
    """Return whether MiniGrid is installed, without importing it."""
    return importlib.util.find_spec("minigrid") is not None


def known_ids() -> list[str]:
    """Return the full ids of MiniGrid and BabyAI that are installed, sorted."""
    minigrid()
    return sorted(
        name
        for name, spec in gymnasium().registry.items()
        if isinstance(spec.entry_point, str) and spec.entry_point.startswith("minigrid.")
    )


def short_id(name: str) -> str:
    """Return an id without the name of the package, and without its version if it is the newest.

    >>> short_id("MiniGrid-DoorKey-8x8-v0"), short_id("BabyAI-GoToObjS6-v1")
    ('DoorKey-8x8', 'BabyAI-GoToObjS6')
    """
    newest = max(each for each in [name, *known_ids()] if _plain(each) == _plain(name))
    return _plain(name) if name == newest else name.removeprefix("MiniGrid-")


def why_not(name: str) -> str | None:
    """Return why a full id does not fit; None if it does."""
    for beginning, reason in NOT_FITTING.items():
        if name.startswith(beginning):
            return reason
    return None


def fitting_ids() -> list[str]:
    """Return the full ids that worlds can be made of."""
    return [each for each in known_ids() if why_not(each) is None]


def full_id(name: object) -> str:
    """Return the full id of a short or full name; raise an error unless it is known and fits."""
    if not isinstance(name, str):
        raise SettingError(f"an id of MiniGrid is a str, such as 'DoorKey-8x8', got {shown(name)}")
    known = known_ids()
    tried = [name, f"MiniGrid-{name}"]
    versions = [each for each in known if each in tried or _VERSION.sub("", each) in tried]
    found = max(versions, default=None)  # the newest, if none is named
    if found is None:
        raise _unknown(name)
    if reason := why_not(found):
        raise SettingError(f"{found} does not fit a world of objects: {reason}")
    return found


def _unknown(name: str) -> UnknownNameError:
    """Return an error with the nearest id that fits, in the form of the wrong one."""
    known = fitting_ids()
    listed = known if _VERSION.search(name) else sorted({_plain(each) for each in known})
    nearest = nearest_name(name, listed)
    advice = "" if nearest else "`treethink worlds minigrid` lists them."
    return UnknownNameError("id", name, listed, "MiniGrid", advice)


def _plain(name: str) -> str:
    """Return an id as people write it: without the package and the version."""
    return _VERSION.sub("", name).removeprefix("MiniGrid-")


def summary() -> str:
    """Return all ids in a few lines: those that fit by their first word, and those that do not."""
    groups: dict[str, list[str]] = {}
    for each in dict.fromkeys(_plain(name) for name in fitting_ids()):
        first = each.split("-")[0] if each.startswith("BabyAI") else _FAMILY.match(each)[0]  # type: ignore[index]
        groups.setdefault(first, []).append(each)
    lines = [f"{PREFIX}ID, where ID is one of", ""]
    lines += [", ".join(names) for names in groups.values()]
    lines += ["", "These do not fit a world of objects:", ""]
    lines += [
        f"{beginning.removeprefix('MiniGrid-')}...: {why}" for beginning, why in NOT_FITTING.items()
    ]
    return "\n".join(lines)
