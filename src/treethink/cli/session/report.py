"""The final report of `treethink learn`.

    model, world, errors, evaluation -> [ LearnReport ] -> a page of text, or one JSON object

The page shows the errors as a chart, the rules in English, whether the world was learned, where
the model was saved, and which commands to try next.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from treethink.cli._output import (
    learner_settings,
    print_json,
    print_page,
    rule_counts,
    rules_to_json,
)
from treethink.cli.session.live import LearningRun
from treethink.evaluation import HELD_OUT_SEED, Evaluation
from treethink.explain.english.sentences import texts_of
from treethink.model import TreeThink
from treethink.rules import title_of
from treethink.terminal import chart, say, say_wrapped
from treethink.text import many, printable
from treethink.worlds import World

if TYPE_CHECKING:
    from treethink.explain.compare import Check
    from treethink.explain.doubts import Doubts

# Rules are printed up to this many lines, so that the verdict below them stays in view.
_MAX_RULE_LINES = 40
_MAX_DOUBTS = 2
_WIDTH = 80  # of pages, where lines would not be wrapped


@dataclass(frozen=True, slots=True)
class Failure:
    """Why something was not learned: the smallest state that is wrong, and what may be missing."""

    check: Check
    doubts: Doubts

    @property
    def rules_out_chance(self) -> bool:
        """Whether some of what was not learned is not simply random."""
        return any(each.rules_out_chance for each in self.doubts)


def failure_of(model: TreeThink, world: World, evaluation: Evaluation) -> Failure | None:
    """Return why the world was not learned; None if it was."""
    if evaluation.learned:
        return None
    doubts = (model.doubts() if model.memory else None) or model.doubts(world)
    return Failure(model.check(world, seed=HELD_OUT_SEED), doubts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A model that has learned from something, and how well it has learned it.

    `evaluation` is None if learning was interrupted, or if nothing was held out, and `failure` if
    all was learned.
    `earlier_observations` is the number of observations that the model had before, and `replaced`
    that of another model that the file had held.
    """

    model: TreeThink
    path: Path
    run: LearningRun
    evaluation: Evaluation | None
    earlier_observations: int
    failure: Failure | None = None
    replaced: int | None = None

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C stopped it, before or after everything was learned."""
        return self.evaluation is None

    @property
    def source(self) -> str:
        """What it learned from."""
        raise NotImplementedError

    def next_commands(self) -> list[tuple[list[str], str]]:
        """Return three commands, each with its purpose."""
        raise NotImplementedError

    # ------------------------------------------------------------------------ text

    def print(self, console: Console) -> None:
        """Print the report."""
        self._print_chart(console)
        self._print_rules(console)
        say(console, "")
        print_run(console, self.source, self.run, self.interrupted)
        if self.earlier_observations:
            say(console, f"the model has {self.model.observations:,} observations in total")
        if self.evaluation is not None:
            self._print_verdict(console, self.evaluation)
        if self.failure is not None:
            print_failure(console, self.failure, self._all_doubts())
        for line in self._contradictions():
            say_wrapped(console, line)
        say_wrapped(console, self._saved())
        self._print_next_commands(console)

    def print_result(self, console: Console) -> None:
        """Print the result in five lines at most: what is wrong, where, and how to see more."""
        text = run_text(self.source, self.run, self.interrupted)
        if self.earlier_observations:
            text += f"; the model has {self.model.observations:,} observations in total"
        say_wrapped(console, text)
        if self.evaluation is not None:
            print_verdict(console, self.evaluation, self.failure)
        problem = next(self._contradictions(), "") or missing_text(self.failure)
        if problem:
            say_wrapped(console, problem)
        say_wrapped(console, self._saved())
        if self.failure is not None:
            command = command_line("check", str(self.path), *self.check_arguments())
            say(console, f"see where it is wrong: {command}")

    def check_arguments(self) -> list[str]:
        """Return the arguments of `treethink check`, after the model."""
        raise NotImplementedError

    def _all_doubts(self) -> str:
        """Return the command that prints all doubts."""
        source = [] if self.model.memory else self.check_arguments()
        return f"all: {command_line('doubts', str(self.path), *source)}"

    def _saved(self) -> str:
        """Say where the model was saved, and what had been there."""
        if self.replaced is None:
            return f"saved to {self.path}"
        return f"replaced {self.path}: it had {many(self.replaced, 'observation')}"

    def _print_chart(self, console: Console) -> None:
        curve = self.run.curve
        if curve.steps:
            say(console, "\nprediction error (distance to the true next state)", "heading")
            say(console, chart(curve.means, curve.steps, console.encoding, console.width), "name")

    def _print_rules(self, console: Console) -> None:
        texts = texts_of(self.model.rules.changing())
        say(console, "")
        say_wrapped(console, rule_counts(self.model.rules), style="heading")
        lines, group = 0, ""
        for number, (keys, text) in enumerate(texts):
            lines += len(text.splitlines())
            if lines > _MAX_RULE_LINES:
                left = sum(len(each) for each, _ in texts[number:])
                rest = f"{left} more; " if number else ""
                command = command_line("rules", str(self.path), "--style", "english")
                say(console, f"  {rest}print all rules with: {command}")
                return
            if group != (group := title_of(keys[0]).removesuffix(f" when {keys[0][2]}")):
                say(console, f"  {group}", "name")
            say_wrapped(console, text, indent="    ")

    def _print_verdict(self, console: Console, evaluation: Evaluation) -> None:
        print_evaluation(console, evaluation, self.failure)

    def _contradictions(self) -> Iterator[str]:
        """Yield the pinned rules that observations contradict: more learning cannot fix them."""
        for key, rule in self.model.summary().rules.items():
            against = sum(sum(leaf.against.values()) for leaf in rule.leaves)
            if against:
                text = f"{rule.title} is pinned, but {many(against, 'observation')} contradict it"
                command = command_line("edit", str(self.path), ".".join(key), "--unpin")
                yield f"{text}; unpin it with: {command}"

    def _print_next_commands(self, console: Console) -> None:
        say(console, "\nnext", "heading")
        rows = [(command_line(*parts), purpose) for parts, purpose in self.next_commands()]
        width = max(len(command) for command, _ in rows)
        fits = width + max(len(purpose) for _, purpose in rows) + 5 <= console.width
        for command, purpose in rows:  # a command stays on one line, to be copied
            text = Text(f"  {command:<{width}}  " if fits else f"  {command}\n    ", style="name")
            console.print(text + Text(purpose, style="quiet"), soft_wrap=True)

    # ------------------------------------------------------------------------ JSON

    def results(self) -> dict[str, Any]:
        """Return the results as JSON data, whatever it learned from."""
        model, evaluation, curve = self.model, self.evaluation, self.run.curve
        return {
            "settings": learner_settings(model),
            "observations": model.observations,
            "seconds": self.run.seconds,
            "interrupted": self.interrupted,
            "learned": None if evaluation is None else verdict_of(evaluation, self.failure),
            "last_error": curve.last_error or None,
            "recent_error": curve.recent(),
            "examined": None if evaluation is None else evaluation_to_dict(evaluation),
            "doubts": doubts_to_list(self.failure),
            "rules": rules_to_json(model, model.rules.changing()),
            "saved": str(self.path),
            "replaced": self.replaced,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnReport(Report):
    """A model that has observed a world, and how well it has learned it.

    `world_arguments` are the world's name and options as typed on the command line, and
    `stream_options` the options that select the transitions; the suggested commands repeat them.
    """

    world: World
    world_arguments: list[str]
    stream_options: list[str]

    @property
    def source(self) -> str:
        """The world, with its options."""
        return repr(self.world)

    def check_arguments(self) -> list[str]:
        """Return the world with its options."""
        return self.world_arguments

    def next_commands(self) -> list[tuple[list[str], str]]:
        """Return three commands, each with its purpose."""
        path = str(self.path)
        rules = (["rules", path], "print the rules (see also --style)")
        play = (["play", *self.world_arguments, path], "play it and compare predictions")
        if self.evaluation is None or (self.evaluation.stated and not self.evaluation.learned):
            learn = ["learn", *self.world_arguments, *self.stream_options, "--from", path]
            return [(learn, "continue learning"), play, rules]
        if "score" in self.world.schema.classes.get("game", ()):
            plan = (["plan", *self.world_arguments, path], "play it by planning")
            return [play, plan, rules]
        name, *options = self.world_arguments
        action = self._changing_action()
        explain = ["explain", path, name, *options, "--action", action]
        return [play, (explain, "explain a prediction"), rules]

    def _changing_action(self) -> str:
        """Return an action that changes something in the first level, if there is one."""
        state, actions = self.world.reset(0), self.world.actions
        changing = (each for each in actions if self.model.predict(state, each).mode() != state)
        return next(changing, actions[0])

    # ------------------------------------------------------------------------ JSON

    def print_json(self, seed: int) -> None:
        """Print the report as one JSON object."""
        source = {"world": self.world.name, "options": self.world.options, "seed": seed}
        print_json("learn", **source, **self.results())


def print_evaluation(console: Console, evaluation: Evaluation, failure: Failure | None) -> None:
    """Print the verdict and the numbers behind it."""
    verdict, *lines = evaluation.to_text(may_be_random(failure)).splitlines()
    style = {"learned": "learned", "NOT learned": "not learned"}.get(verdict)
    say_wrapped(console, verdict, style=style)
    say_wrapped(console, "\n".join(lines))


def print_verdict(console: Console, evaluation: Evaluation, failure: Failure | None) -> None:
    """Print the verdict and the main number in one line."""
    say_wrapped(console, evaluation.to_line(may_be_random(failure)))


def may_be_random(failure: Failure | None) -> bool:
    """Return whether unsure answers may be due to chance, as far as a failure says."""
    return failure is None or not failure.rules_out_chance


def verdict_of(evaluation: Evaluation, failure: Failure | None) -> bool | None:
    """Return whether something was learned; None if that cannot be told."""
    return evaluation.verdict(may_be_random(failure))


def missing_text(failure: Failure | None) -> str:
    """Return what is most likely missing, in one line; empty if nothing is."""
    if failure is None or not failure.doubts:
        return ""
    doubt = failure.doubts[0]
    return f"{title_of(doubt.rule)}: missing: {doubt.suggestions[0]}"


def print_failure(
    console: Console, failure: Failure, all_doubts: str = "", most: int | None = _MAX_DOUBTS
) -> None:
    """Print where the model is wrong, and what may be missing.

    `most` limits the doubts; `all_doubts` is a command that prints the others, too.
    """
    if failure.check:
        say(console, "\nwhere it is wrong", "heading")
        print_page(console, failure.check, _WIDTH)
    doubts = failure.doubts
    if doubts:
        say(console, "\nwhat may be missing", "heading")
        for number, doubt in enumerate(doubts[:most]):
            print_page(console, doubt, _WIDTH, space=number > 0)
        if most is not None and len(doubts) > most:
            say_wrapped(console, f"and {many(len(doubts) - most, 'more rule')}; {all_doubts}")
        if doubts.unexplained_pairs:
            say_wrapped(console, doubts.unexplained_pairs)
    say(console, "")


def command_line(*parts: str) -> str:
    """Return a `treethink` command, quoted for a shell."""
    return printable(shlex.join(["treethink", *parts]))


def doubts_to_list(failure: Failure | None) -> list[dict[str, Any]]:
    """Return what may be missing for `--json`."""
    return [] if failure is None else [each.to_dict() for each in failure.doubts]


def example_to_dict(failure: Failure | None) -> dict[str, Any] | None:
    """Return the smallest state that is wrong for `--json`."""
    example = None if failure is None else failure.check.example
    return None if example is None else example.to_dict()


def evaluation_to_dict(evaluation: Evaluation) -> dict[str, Any]:
    """Return the numbers of an evaluation for `--json`."""
    fields = asdict(evaluation)
    del fields["mistakes"]  # their values are states
    return fields


def run_text(source: str, run: LearningRun, interrupted: bool) -> str:
    """Return how many transitions were observed, in one line."""
    verb = "interrupted after" if interrupted else "observed"
    return f"{source}: {verb} {many(run.curve.steps, 'transition')} in {run.seconds:.1f} s"


def print_run(console: Console, source: str, run: LearningRun, interrupted: bool) -> None:
    """Print how many transitions were observed, and when the last error occurred."""
    curve = run.curve
    say_wrapped(console, run_text(source, run, interrupted))
    if not curve.last_error:
        say_wrapped(console, "no errors")
        return
    since = curve.steps - curve.last_error
    text = f"last error at transition {curve.last_error:,}; {since:,} without an error since"
    recent = f"; recent mean error {curve.recent():.4f}" if curve.recent() else ""
    say_wrapped(console, f"{text}{recent}")
