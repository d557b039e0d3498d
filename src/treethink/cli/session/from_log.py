"""Let a model learn the transitions of a log, and report the result.

    model, log -> [ learn_log ] -> LearnedLog -> LogReport

Each transition is predicted first and learned second, in the order of the log. The last tenth is
held out: it is predicted by the model that has learned the rest, before it is learned, too. What is
missing, if it is not predicted, is then searched in the whole log.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from treethink.cli._output import print_json
from treethink.cli.session.interrupt import InterruptGuard
from treethink.cli.session.live import SHOW_EVERY, LearningDisplay, LearningRun
from treethink.cli.session.report import Failure, Report, command_line, print_evaluation
from treethink.evaluation import Evaluation, evaluate
from treethink.logs import Log
from treethink.metrics import error
from treethink.model import TreeThink
from treethink.stream.transition import Transition
from treethink.terminal import say, say_wrapped, terminal
from treethink.text import many

if TYPE_CHECKING:
    from treethink.explain.compare import Check

_HELD_OUT = 10  # one in so many transitions
_MOST_HELD_OUT = 1_000
_FEW_OBJECTS = 5  # of one class, for which a class for each is a good idea


@dataclass(frozen=True, slots=True)
class LearnedLog:
    """What `learn_log` returns.

    `evaluation` is None if it was interrupted, or if the log is too short to hold out any of it;
    `failure` is None then, too, and if all was learned.
    """

    run: LearningRun
    evaluation: Evaluation | None
    failure: Failure | None


def learn_log(
    model: TreeThink, log: Log, steps: int, quiet: bool, guard: InterruptGuard
) -> LearnedLog:
    """Let a model learn the first `steps` transitions of a log; return how well it did."""
    run = LearningRun()
    items = log[:steps]
    first = len(items) - min(len(items) // _HELD_OUT, _MOST_HELD_OUT)
    held_out = items[first:]

    def observe(part: Iterable[Transition]) -> None:
        for each in part:
            run.curve.add(error(model.predict(each.before, each.action), each.after))
            model.observe_many((each,))
            if run.curve.steps % SHOW_EVERY == 0:
                display.update(run.curve, model.n_varying)

    with LearningDisplay(terminal(stderr=True), len(items), quiet=quiet) as display:
        guard.run(lambda: observe(items[:first]))
        examined = guard.run(lambda: _examine(model, held_out)) if held_out else None
        guard.run(lambda: observe(held_out))
        run.seconds = display.seconds
    run.interrupted = guard.interrupted
    evaluation, check = examined or (None, None)
    doubts = guard.run(lambda: model.doubts(items)) if check is not None else None
    failure = Failure(check, doubts) if check is not None and doubts is not None else None
    return LearnedLog(run, evaluation, failure)


def _examine(model: TreeThink, held_out: Sequence[Transition]) -> tuple[Evaluation, Check | None]:
    """Return how well the model predicts what was held out and, if not all, where it is wrong.

    The mistake is one of the model as it is now; a copy of it explains the mistake later.
    """
    evaluation = evaluate(model, held_out)
    return evaluation, None if evaluation.learned else deepcopy(model).check(held_out)


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
    """A model that has learned a log, and how well; `schema` is the file of `--schema`."""

    log: Log
    schema: Path | None

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C stopped it."""
        return self.run.interrupted

    @property
    def source(self) -> str:
        """The name of the log."""
        return self.log.name

    def check_arguments(self) -> list[str]:
        """Return the log and its schema."""
        return ["--log", self.log.name, *self._schema_option(self.schema)]

    def next_commands(self) -> list[tuple[list[str], str]]:
        """Return three commands, each with its purpose."""
        path = str(self.path)
        rules = (["rules", path], "print the rules (see also --style)")
        summary = (["summary", path], "print what is known and what is doubtful")
        if mending := self._mending():
            return [*mending, rules]
        source = self.check_arguments()
        explain = ["explain", path, *source, "--action", self.log.schema.actions[0]]
        plan = (["plan", path, *source], "plan from its last state for the rewards of the log")
        more = plan if "reward" in self.model.feedback else summary
        return [rules, more, (explain, "explain a prediction")]

    def _all_doubts(self) -> str:
        return f"all: {command_line('doubts', str(self.path), *self.check_arguments())}"

    def _print_verdict(self, console: Console, evaluation: Evaluation) -> None:
        say(console, f"held out: the last {many(evaluation.held_out, 'transition')}")
        print_evaluation(console, evaluation, self.failure)

    def _comparable(self) -> dict[str, str]:
        """Return the attributes that may need the unit of another one, with the other one."""
        doubts = self.failure.doubts if self.failure is not None else []
        likes = (each.like for doubt in doubts for each in doubt.suggestions[:1])
        return dict(each for each in likes if each is not None)

    def _mending(self) -> list[tuple[list[str], str]]:
        """Return the commands that learn again with a schema that has what is missing, if any."""
        likes = self._comparable()
        entries = (f'like = "{unit}" below [attributes.{name}]' for name, unit in likes.items())
        change = " and ".join(entries)
        again = ["learn", "--log", self.log.name, "--out", str(self.path), "--force"]
        if self.schema is not None:
            again += self._schema_option(self.schema)
            return [(again, f"learn again, when {self.schema} says {change}")] if likes else []
        schema = Path("schema.toml")
        again += self._schema_option(schema)
        if likes:
            write = (["schema", self.log.name], f"writes {schema}; in it, write {change}")
        elif column := self._names_of_few_objects():
            of_its_own = ["schema", self.log.name, "--column", f"class={column}"]
            write = (of_its_own, f"writes {schema}, in which each object has a class of its own")
        else:
            return []
        return [write, (again, "then learn again")]

    def _names_of_few_objects(self) -> str | None:
        """Return the column that names the objects of a class, if it may need a class for each."""
        roles = self.log.log_schema.roles or {}
        if "class" not in roles or roles["class"] == roles["id"]:
            return None
        doubts = self.failure.doubts if self.failure is not None else []
        unnamed = {each.rule[0] for each in doubts if each.kind == "identity"}
        few = (len(self.log.last_state.of_class(name)) <= _FEW_OBJECTS for name in unnamed)
        return roles["id"] if unnamed and all(few) else None

    @staticmethod
    def _schema_option(schema: Path | None) -> list[str]:
        return [] if schema is None else ["--schema", str(schema)]

    def print_json(self) -> None:
        """Print the report as one JSON object."""
        source = {
            "log": self.log.name,
            "transitions": len(self.log),
            "episodes": len(self.log.episodes),
            "notes": list(self.log.notes),
        }
        print_json("learn", **source, **self.results())
