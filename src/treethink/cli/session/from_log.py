"""Let a model learn the transitions of a log, and report the result.

    model, log -> [ learn_log ] -> LearningRun, Examination -> LogReport

Each transition is predicted first and learned second, in the order of the log. The last tenth is
held out: it is predicted by the model that has learned the rest, before it is learned, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from treethink.cli._output import print_json
from treethink.cli.session.interrupt import InterruptGuard
from treethink.cli.session.live import SHOW_EVERY, LearningDisplay, LearningRun
from treethink.cli.session.report import Report
from treethink.evaluation import Examination
from treethink.logs import Log
from treethink.metrics import TOLERANCE, error
from treethink.model import TreeThink
from treethink.stream.transition import Transition
from treethink.terminal import say_wrapped, terminal
from treethink.text import many

_HELD_OUT = 10  # one in so many transitions
_MOST_HELD_OUT = 1_000


def learn_log(
    model: TreeThink, log: Log, steps: int, quiet: bool, guard: InterruptGuard
) -> tuple[LearningRun, Examination | None]:
    """Let a model learn the first `steps` transitions of a log; return its errors.

    The evaluation is None if it was interrupted, or if the log is too short to hold out any of it.
    """
    run = LearningRun()
    items = log[:steps]
    first = len(items) - min(len(items) // _HELD_OUT, _MOST_HELD_OUT)

    def observe(part: Iterable[Transition]) -> None:
        for each in part:
            run.curve.add(error(model.predict(each.before, each.action), each.after))
            model.observe_many((each,))
            if run.curve.steps % SHOW_EVERY == 0:
                display.update(run.curve, model.n_varying)

    def examine_rest() -> Examination | None:
        return _examine(model, items[first:]) if first < len(items) else None

    with LearningDisplay(terminal(stderr=True), len(items), quiet=quiet) as display:
        guard.run(lambda: observe(items[:first]))
        evaluation = guard.run(examine_rest)
        guard.run(lambda: observe(items[first:]))
        run.seconds = display.seconds
    run.interrupted = guard.interrupted
    return run, evaluation


def _examine(model: TreeThink, items: Sequence[Transition]) -> Examination:
    """Compare predictions with the states that followed, and learn nothing."""
    errors = [error(model.predict(each.before, each.action), each.after) for each in items]
    exact = sum(each <= TOLERANCE for each in errors)
    return Examination(
        held_out=len(items),
        exact=exact,
        plausible=exact,
        right_mode=exact,
        mean_error=sum(errors) / len(errors),
    )


def announce(log: Log, guessed: bool) -> None:
    """Print what was read, and how the schema was guessed."""
    console = terminal(stderr=True)
    episodes = many(len(log.episodes), "episode")
    title = f"learning {log.name}: {many(len(log), 'transition')} in {episodes}"
    say_wrapped(console, title, style="heading")
    if guessed:
        say_wrapped(console, "guessed from the log (see treethink schema):")
    for note in log.notes:
        say_wrapped(console, note, indent="  ")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogReport(Report):
    """A model that has learned a log, and how well; `arguments` are those that name the log."""

    log: Log
    arguments: list[str]

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C stopped it."""
        return self.run.interrupted

    @property
    def source(self) -> str:
        """The name of the log."""
        return self.log.name

    def next_commands(self) -> list[tuple[list[str], str]]:
        """Return three commands, each with its purpose."""
        path = str(self.path)
        rules = (["rules", path], "print the rules (see also --style)")
        summary = (["summary", path], "print what is known and what is doubtful")
        explain = (
            ["explain", path, *self.arguments, "--action", self.log.schema.actions[0]],
            "explain a prediction",
        )
        return [rules, summary, explain]

    def print_json(self) -> None:
        """Print the report as one JSON object."""
        source = {
            "log": self.log.name,
            "transitions": len(self.log),
            "episodes": len(self.log.episodes),
            "notes": list(self.log.notes),
        }
        print_json("learn", **source, **self.results())
