"""What `treethink learn` says when it has ended.

    world, model, errors -> [ Lesson ] -> a page for people, or one JSON object

For people: the errors, the rules in English, whether that is all of the world, where the model
is, and what to do next. A formula is shorter, but a sentence needs no key.
"""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from treethink.cli._output import counts, settings, tell, told_rules
from treethink.evaluation import Examination
from treethink.model import TreeThink
from treethink.repro.runner import Curve
from treethink.terminal import chart, say, say_wrapped
from treethink.text import many, printable
from treethink.worlds import World

# Whole rules are shown until they have so many lines; what matters most stands below them.
_MOST_LINES = 40


@dataclass(frozen=True, slots=True)
class Lesson:
    """A model that observed a world. `found` is None if it was interrupted.

    `name` and `options` are the world as the command line had it, `stream` what else decides
    which transitions are shown. So many the model had observed `before`.
    """

    name: str
    options: list[str]
    stream: list[str]
    world: World
    model: TreeThink
    before: int
    curve: Curve
    seconds: float
    found: Examination | None
    path: Path

    # ------------------------------------------------------------------ for people

    def show(self, console: Console, quiet: bool = False) -> None:
        """The page; `quiet`: how it ended, and no more."""
        if not quiet:
            self._show_errors(console)
            self._show_rules(console)
            say(console, "")
        say_how_it_ended(console, self.world, self.curve, self.seconds, self.found is None)
        if self.before:
            say(console, f"the model has observed {self.model.observations:,} in all")
        if self.found is not None:
            self._show_verdict(console, self.found)
        self._show_contradicted(console)
        say(console, f"saved to {self.path}")
        if not quiet:
            self._show_next(console)

    def _show_errors(self, console: Console) -> None:
        if self.curve.steps:
            say(console, "\nerror: how far the prediction was from the true next state", "heading")
            picture = chart(self.curve.means, self.curve.steps, console.encoding, console.width)
            say(console, picture, "name")

    def _show_rules(self, console: Console) -> None:
        rules = list(self.model.rules.varying().items())
        say(console, f"\n{counts(self.model.rules)}", "heading")
        lines, group = 0, ""
        for number, ((class_name, attribute, _), rule) in enumerate(rules):
            told = rule.to_text("english").rstrip()
            lines += len(told.splitlines())
            if lines > _MOST_LINES:
                self._show_where_all_are(console, len(rules) - number if number else 0)
                return
            if group != (group := f"{class_name}.{attribute}"):
                say(console, f"  {group}", "name")
            say_wrapped(console, told, indent="    ")

    def _show_where_all_are(self, console: Console, more: int) -> None:
        command = _command("rules", str(self.path), "--style", "english")
        say(console, f"  {f'and {more} more; ' if more else ''}all of them: {command}")

    def _show_verdict(self, console: Console, found: Examination) -> None:
        verdict, *lines = str(found).splitlines()
        style = {"learned": "learned", "NOT learned": "not learned"}.get(verdict)
        say_wrapped(console, verdict, style=style)
        say_wrapped(console, "\n".join(lines))

    def _show_contradicted(self, console: Console) -> None:
        """What is pinned and wrong: learning on will not mend it."""
        for key, each in self.model.summary().rules.items():
            against = sum(sum(leaf.against.values()) for leaf in each.leaves)
            if against:
                command = _command("edit", str(self.path), ".".join(key), "--unpin")
                said = f"{each.title} is pinned, and {many(against, 'observation')} contradict it"
                say_wrapped(console, f"{said}: {command}")

    def _show_next(self, console: Console) -> None:
        say(console, "\nnext", "heading")
        rows = [(_command(*parts), what) for parts, what in self._next()]
        wide = max(len(command) for command, _ in rows)
        fits = wide + max(len(what) for _, what in rows) + 5 <= console.width
        for command, what in rows:  # a command stays in one piece, to be copied
            told = Text(f"  {command:<{wide}}  " if fits else f"  {command}\n    ", style="name")
            console.print(told + Text(what, style="quiet"), soft_wrap=True)

    def _next(self) -> list[tuple[list[str], str]]:
        """Three commands, ready to be copied."""
        path, here = str(self.path), [self.name, *self.options]
        rules = (["rules", path], "the rules as formulas, or --style code")
        play = (["play", *here, "--model", path], "walk around; see what it predicts")
        if self.found is None or (self.found.stated and not self.found.learned):
            learn = ["learn", *here, *self.stream, "--from", path]
            return [(learn, "go on learning"), play, rules]
        if "score" in self.world.schema.classes.get("game", ()):
            plan = (["plan", *here, "--model", path], "let it play by looking ahead")
            return [play, plan, rules]
        why = ["explain", path, "--world", *here, "--action", self._interesting()]
        return [play, (why, "why it predicts what it predicts"), rules]

    def _interesting(self) -> str:
        """An action that changes something in the first level, if there is one."""
        state, actions = self.world.reset(0), self.world.actions
        changing = (each for each in actions if self.model.predict(state, each).mode() != state)
        return next(changing, actions[0])

    # ---------------------------------------------------------------- for programs

    def tell(self, seed: int) -> None:
        """The same as JSON."""
        model, found = self.model, self.found
        tell(
            "learn",
            world=self.world.name,
            options=self.world.options,
            seed=seed,
            settings=settings(model),
            observations=model.observations,
            seconds=self.seconds,
            interrupted=found is None,
            learned=None if found is None else found.learned,
            last_error=self.curve.last_error or None,
            recent_error=self.curve.recent(),
            examined=None if found is None else _told(found),
            rules=told_rules(model, model.rules.varying()),
            saved=str(self.path),
        )


def _command(*parts: str) -> str:
    """To be copied."""
    return printable(shlex.join(["treethink", *parts]))


def _told(found: Examination) -> dict[str, Any]:
    told = asdict(found)
    del told["mistakes"]  # their values are states
    return told


def say_how_it_ended(
    console: Console, world: World, curve: Curve, seconds: float, interrupted: bool
) -> None:
    """How much was observed, and when the last error was."""
    verb = "interrupted after" if interrupted else "watched"
    said = [f"{world!r}: {verb} {curve.steps:,} transitions in {seconds:.1f} s"]
    if curve.last_error:
        since = curve.steps - curve.last_error
        last = f"last error at observation {curve.last_error:,}; {since:,} without one since"
        late = f"; mean error of late: {curve.recent():.4f}" if curve.recent() else ""
        said.append(f"{last}{late}")
    else:
        said.append("no error")
    say_wrapped(console, "\n".join(said))
