"""What came of looking for a mistake, as text and as data.

a small state in which a model is wrong -> [ mistaken ] -> Check
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.text import Text

from treethink.explain.distributions import Chances, in_words, listed, times
from treethink.explain.english.ground_tests import name
from treethink.explain.summary.rich_text import Printed
from treethink.explain.why.explanation import Explanation, explain
from treethink.state import State
from treethink.text import many
from treethink.worlds import World, draw

if TYPE_CHECKING:
    from treethink.model import Prediction, TreeThink

_SURE = 1e-6
_MOST_CELLS = 40  # of a line of text, each of them two columns wide


@dataclass(frozen=True, slots=True)
class Wrong:
    """One value that is predicted wrongly."""

    object_id: int
    attribute: str
    predicted: Chances
    support: int
    true: Chances

    @property
    def outright(self) -> bool:
        """Whether not even the likeliest value is right; otherwise only its chance is not."""
        return max(self.predicted, key=self.predicted.__getitem__) not in self.true


@dataclass(frozen=True, slots=True)
class Example:
    """A state in which the model is wrong; `met` is the one from which it was made smaller."""

    state: State
    action: str
    wrong: tuple[Wrong, ...]
    met: State = field(repr=False)


@dataclass(slots=True)
class Unstated:
    """Transitions of which the world did not state the chances, only what followed.

    Of `times` the most likely state followed `likely` times; by the model's own chances,
    `expected` times were to be expected.
    """

    times: int = 0
    likely: int = 0
    expected: float = 0.0

    def add(self, prediction: Prediction, followed: State) -> None:
        """One more."""
        mode = prediction.mode()
        self.times += 1
        self.likely += mode == followed
        self.expected += prediction.probability(mode)

    @property
    def is_certain(self) -> bool:
        """Whether the model was sure of everything: then nothing hangs on unstated chances."""
        return self.times - self.expected < _SURE

    def __str__(self) -> str:
        return (
            "this world does not state its chances: only what the model held impossible counts as"
            f" wrong; the most likely state followed {self.likely:,} of {self.times:,} times;"
            f" by the model's own chances, {self.expected:,.1f} were to be expected"
        )


@dataclass(frozen=True, slots=True)
class Check(Printed):
    """What came of looking for mistakes. It is true, as a bool, if there are any.

    Of `tried` transitions `wrong` were predicted wrongly; `example` is the smallest state
    found in which that happens, None if there is none. `unstated` has what can be said of the
    transitions of which the world does not state the chances.
    """

    model: TreeThink = field(repr=False)
    world: World
    tried: int
    wrong: int
    example: Example | None
    unstated: Unstated = field(default_factory=Unstated)

    def __bool__(self) -> bool:
        return self.example is not None

    def explanations(self) -> list[Explanation]:
        """Why the model says what is wrong."""
        found = self.example
        if found is None:
            return []
        asked = [(each.object_id, each.attribute) for each in found.wrong]
        return [explain(self.model, found.state, found.action, of=key) for key in asked]

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON can hold."""
        found = self.example
        return {
            "world": self.world.name,
            "tried": self.tried,
            "wrong": self.wrong,
            "example": None if found is None else _example(found),
            "unstated": asdict(self.unstated),
        }

    def __rich__(self) -> Group:
        tried = f"{many(self.tried, 'transition')} of {self.world.name}"
        found = self.example
        if found is None:
            note = [] if self.unstated.is_certain else [Text(str(self.unstated))]
            return Group(Text(f"nothing wrong in {tried}"), *note)
        less = f"of {len(found.met)}" if found.state != found.met else "as it was met"
        size = f"{many(len(found.state), 'object')} ({less})"
        said = f"wrong in {self.wrong:,} of {tried}; the smallest state found has {size}:"
        level = _level(self.world, found.state)
        parts: list[Any] = [Text(said, style="bold"), Text(f"\n{level}\n")]
        for each, why in zip(found.wrong, self.explanations(), strict=True):
            parts += [Text(_verdict(found, each), style="red"), *why.reasons]
        if self.unstated.times:
            parts.append(Text(f"\n{self.unstated}"))
        return Group(*parts)


def _level(world: World, state: State) -> str:
    """The state as text: what is left of it, and a cell around that."""
    cells = [item.cell for item in draw.items(world, state)]
    if not cells:
        return draw.ansi(world, state, colour=False)
    (left, right), (top, bottom) = ((min(each), max(each)) for each in zip(*cells, strict=True))
    window = draw.Window(left - 1, top - 1, right - left + 3, bottom - top + 3)
    fits = max(window.width, window.height) <= _MOST_CELLS
    return draw.ansi(world, state, colour=False, window=window if fits else None)


def _verdict(found: Example, each: Wrong) -> str:
    what = f"{found.action}: {name(found.state, each.object_id)}, {each.attribute}"
    said = f"predicted {in_words(each.predicted)} ({times(each.support)})"
    return f"{what}: {said}, but is {in_words(each.true)}"


def _example(found: Example) -> dict[str, Any]:
    return {
        "state": found.state.to_dict(),
        "action": found.action,
        "met": found.met.to_dict(),
        "wrong": [
            {
                "object": each.object_id,
                "attribute": each.attribute,
                "predicted": listed(each.predicted),
                "support": each.support,
                "true": listed(each.true),
            }
            for each in found.wrong
        ],
    }
