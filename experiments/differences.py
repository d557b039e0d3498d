"""Measure the effect of each departure from the paper (for docs/differences.md).

    python experiments/differences.py [--seeds 5] [--steps 2000] [--size 6] [PART ...]

In:   seeded streams of the worlds `walls` and `maze`; random trees and scenes.
Out:  tables on stdout, one for each part. Without a PART, all of them.

All use the paper's criterion and no memory (`TreeThink.paper`); the effect of those two is measured
in `evidence/`. The variants of the paper are trees of `variants.py`. They observe the same
transitions as ours, so each comparison is paired. A run is judged by the last observation that it
predicted wrongly, and by held-out transitions of the same and of a larger grid.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "twins"))

from paper_evaluation import appending, short_circuit  # type: ignore[import-not-found]
from variants import (  # type: ignore[import-not-found]
    VARIANTS,
    ArbitraryTies,
    ById,
    ByIdScene,
    OldestFirst,
    Ours,
    preorder,
)

from reference import (
    Fact,
    FactType,
    Outcome,
    ReferenceModel,
    Scene,
    Test,
    as_vector,
    tell,
)
from strategies import Shape, random_state, random_tree
from strategies import transitions as random_stream
from treethink import Attribute, Object, Schema, State, TreeThink, error
from treethink.stream.random_play import transitions
from treethink.worlds import World, make
from treethink.worlds.maze import Maze

Transition = tuple[State, str, State]
Target = tuple[str, str, int, Outcome]
"""Class, attribute, object, outcome."""

EPISODE = 50
HELD_OUT_SEED = 1_000_000


class SceneWithoutFacts(Scene):
    """A scene for prediction only: its facts are not listed."""

    def _facts_of(self, fact_type: FactType) -> list[Fact]:
        return []


@dataclass
class Run:
    """One variant on one stream."""

    kind: type[Ours]
    trees: dict[tuple[str, str, str], Ours] = field(default_factory=dict)
    last_error: int = 0
    wrong: int = 0
    from_ancestor: int = 0
    """Answers of empty leaves, so far."""
    empty_in_training: int = 0
    right: dict[str, float] = field(default_factory=dict)
    """Shares of held-out transitions."""

    def tree(self, class_name: str, attribute: str, action: str) -> Ours:
        """Return the tree of a rule."""
        return self.trees.setdefault((class_name, attribute, action), self.kind([class_name]))

    def predicts(self, scene: Scene, action: str, targets: Iterable[Target]) -> bool:
        """Whether every outcome is predicted with certainty; an unknown rule predicts no change."""
        right = True
        for class_name, attribute, x, outcome in targets:
            tree = self.tree(class_name, attribute, action)
            self.from_ancestor += tree.is_empty_at(scene, (x,))
            answers = set(tree.predict(scene, (x,))) or {(0,) * len(outcome or ())}
            right &= answers == {outcome}
        return right

    def learn(self, scene: Scene, action: str, targets: Iterable[Target]) -> None:
        """Learn from a transition. Each rule that varies has one target in these worlds."""
        for class_name, attribute, x, outcome in targets:
            self.tree(class_name, attribute, action).observe(scene, [((x,), outcome)])

    @property
    def events(self) -> dict[tuple[str, str, str], list[tuple[int, str, str]]]:
        """All decisions, by rule."""
        return {key: tree.events for key, tree in self.trees.items()}

    @property
    def tests(self) -> list[Test | None]:
        """The tests of all rules, in preorder."""
        return [node.test for tree in self.trees.values() for node in tree.nodes()]

    def times(self, kind: str) -> int:
        """Return the number of decisions of a kind."""
        return sum(event == kind for events in self.events.values() for _, event, _ in events)

    @property
    def leaves(self) -> int:
        """The number of leaves of all rules that vary."""
        return sum(test is None for test in self.tests)


#: Classes that never change in `walls` and `maze`.
FIXED = ("wall", "goal")


def targets_of(world: World, before: State, after: State) -> list[Target]:
    """Return the outcomes of all objects of classes that change.

    Rules of the other classes see one outcome only, so no variant learns anything there.
    """
    targets: list[Target] = []
    for class_name, attributes in world.schema.classes.items():
        for attribute in () if class_name in FIXED else attributes:
            for each in before.of_class(class_name):
                old, new = (as_vector(state.value(each.id, attribute)) for state in (before, after))
                delta = tuple(b - a for a, b in zip(old, new, strict=True))
                targets.append((class_name, attribute, each.id, delta))
    return targets


@lru_cache(maxsize=64)
def scene_of(state: State, see: type[Scene]) -> Scene:
    """Return the scene of a state; cached, because the states of a level recur."""
    return see(state)


def without_score(state: State) -> State:
    """Return the state with score 0: no fact depends on the score, so scenes can be shared."""
    games = state.of_class("game") if "game" in state.schema.classes else ()
    return state.replace_many({game.id: {"score": 0} for game in games})


def train(
    kinds: Sequence[type[Ours]],
    world: World,
    stream: Iterable[Transition],
    see: type[Scene] = Scene,
) -> list[Run]:
    """Let all variants learn from a stream, side by side."""
    runs = [Run(kind) for kind in kinds]
    for step, (before, action, after) in enumerate(stream, start=1):
        scene = scene_of(without_score(before), see)  # type: ignore[arg-type]
        targets = targets_of(world, before, after)
        for run in runs:
            if not run.predicts(scene, action, targets):
                run.last_error = step
                run.wrong += 1
            run.learn(scene, action, targets)
    return runs


def shares_right(runs: Sequence[Run], world: World, stream: Iterable[Transition]) -> list[float]:
    """Return, for each run, the share of transitions that it predicts with certainty."""
    right: list[list[bool]] = [[] for _ in runs]
    for before, action, after in stream:
        scene = SceneWithoutFacts(before)
        targets = targets_of(world, before, after)
        for run, answers in zip(runs, right, strict=True):
            answers.append(run.predicts(scene, action, targets))
    return [statistics.fmean(answers) for answers in right]


def square(name: str, size: int) -> World:
    """Return a square world."""
    return make(name, width=size, height=size)


def format_runs(numbers: Iterable[float]) -> str:
    """Return the median and all numbers, as text."""
    numbers = list(numbers)
    middle = statistics.median(numbers)
    return f"{middle:g} ({', '.join(f'{each:g}' for each in numbers)})"


def mean(numbers: Iterable[float]) -> str:
    """Return the mean as text, with four digits."""
    return f"{statistics.fmean(numbers):.4f}"


# --- parts -------------------------------------------------------------------------


def learning(options: argparse.Namespace) -> None:
    """Compare each variant of learning with ours, on the same streams."""
    for name, steps in (("walls", options.steps // 4), ("maze", options.steps)):
        world, large = square(name, options.size), square(name, options.large)
        by_seed: list[list[Run]] = []
        for seed in range(options.seeds):
            runs = train(VARIANTS, world, transitions(world, steps, seed))
            check_against_twin(runs[0], world, seed)
            for run in runs:
                run.empty_in_training = run.from_ancestor
            for shares, where in (("same", world), ("large", large)):
                unseen = transitions(where, options.held_out, HELD_OUT_SEED + seed)
                for run, share in zip(runs, shares_right(runs, where, unseen), strict=True):
                    run.right[shares] = share
            by_seed.append(runs)
        print(
            f"\n{name} {options.size}x{options.size}, {steps:,} steps, seeds 0-{options.seeds - 1};"
            f" held out {options.held_out} of {options.size}x{options.size} and of"
            f" {options.large}x{options.large}\n"
        )
        print_learning(by_seed)


def print_learning(by_seed: list[list[Run]]) -> None:
    """Print one line for each variant."""
    ours = [runs[0] for runs in by_seed]
    print(
        "| variant | last error | errors | splits, changes, returns | leaves | right | right, large"
        " | seeds with our decisions, with our tests |\n|---|---|---|---|---|---|---|---|"
    )
    for i, kind in enumerate(VARIANTS):
        runs = [each[i] for each in by_seed]
        decisions = (sum(run.times(k) for run in runs) for k in ("split", "change", "return"))
        same = [
            sum(run.events == our.events for run, our in zip(runs, ours, strict=True)),
            sum(run.tests == our.tests for run, our in zip(runs, ours, strict=True)),
        ]
        print(
            f"| {kind.title} | {format_runs(run.last_error for run in runs)}"
            f" | {sum(run.wrong for run in runs)} | {', '.join(map(str, decisions))}"
            f" | {format_runs(run.leaves for run in runs)}"
            f" | {mean(run.right['same'] for run in runs)}"
            f" | {mean(run.right['large'] for run in runs)} | {same[0]}, {same[1]} |"
        )
    bindings, variables, depth = (
        max(tree.most[i] for run in ours for tree in run.trees.values()) for i in range(3)
    )
    print(f"\nours, at most: {bindings} bindings, {variables} variables, depth {depth}")
    print(f"ours, answers of empty leaves: {format_runs(run.empty_in_training for run in ours)}")


def check_against_twin(run: Run, world: World, seed: int, steps: int = 150) -> None:
    """Check that `Ours`, with its counts in arrays, decides as the twin does."""
    twin = ReferenceModel(world.schema, criterion="wilson")
    for before, action, after in transitions(world, steps, seed):
        twin.observe(before, action, after)
    (again,) = train([Ours], world, transitions(world, steps, seed))
    decided: dict[Any, list[tuple[str, str]]] = {key: [] for key in again.trees}
    for event, key, path in twin.events:
        decided[key].append((event, path))
    for key, tree in again.trees.items():
        assert decided[key] == [each[1:] for each in tree.events], "not the twin's decisions"
        assert [node.test for node in tree.nodes()] == tests_of(twin)[key], "not its tests"
        assert run.events[key][: len(tree.events)] == tree.events, "a longer run begins otherwise"


def candidates(options: argparse.Namespace) -> None:
    """Count the candidates of a root, with the paper's `bindings` and with ours."""
    world = square("maze", options.size)
    action = "right"
    for class_name in ("player", "game"):
        predicates: set[tuple[FactType, tuple[int, ...]]] = set()
        ours: set[Test] = set()
        for before, taken_action, _ in transitions(world, options.steps, seed=0):
            if taken_action == action:
                scene = ByIdScene(before)
                predicates |= {(fact.type, fact.value) for fact in scene.facts}
                ours |= Scene(before).true_tests([(scene.of_class(class_name)[0],)])
        paper = sum(n_bindings(kind.classes, class_name) for kind, _ in predicates)
        print(f"{class_name}, root, when {action}: paper {paper:,} candidates, ours {len(ours):,}")


def n_bindings(classes: tuple[str, ...], given: str) -> int:
    """Count class-consistent results of `bindings(1, n)`: X0 has a class, X1 and X2 are new."""
    if len(classes) == 1:
        return 1 + (classes[0] == given)
    first, second = (each == given for each in classes)
    twice = classes[0] == classes[1]
    return (first and second) + first + second + twice + 1


def ties(options: argparse.Namespace) -> None:
    """Measure transfer after learning in one tiny level, where positions and walls coincide."""
    steps, seeds = 400, 4 * options.seeds
    kinds = (Ours, OldestFirst, ArbitraryTies)
    world, large = square("walls", 4), square("walls", options.large)
    shares: list[list[float]] = []
    last: list[list[int]] = []
    for seed in range(seeds):
        runs = train(kinds, world, transitions(world, steps, seed, episode=steps))
        unseen = transitions(large, options.held_out, HELD_OUT_SEED + seed)
        shares.append(shares_right(runs, large, unseen))
        last.append([run.last_error for run in runs])
    print(
        f"walls 4x4, one level of {steps} steps, seeds 0-{seeds - 1};"
        f" then {options.large}x{options.large}"
    )
    for i, kind in enumerate(kinds):
        right = [each[i] for each in shares]
        print(
            f"{kind.title}: last error, median {statistics.median(each[i] for each in last):g};"
            f" right in large grids, mean {mean(right)}, all right {sum(r == 1 for r in right)}"
        )


def ids(options: argparse.Namespace) -> None:
    """Measure the effect of pairs by object id: learning depends on the ids of objects."""
    for name, steps in (("walls", options.steps // 4), ("maze", options.steps)):
        world = square(name, options.size)
        print(
            f"\n{name} {options.size}x{options.size}, {steps:,} steps,"
            f" seeds 0-{options.seeds - 1}\n\n"
            "| learner | ids | last error | leaves | right | other answers on demand |\n"
            "|---|---|---|---|---|---|"
        )
        ours = name_and_train(options, world, steps, Ours, "as given")
        again = name_and_train(options, world, steps, Ours, "shuffled")
        for naming in ("as given", "reversed", "shuffled"):
            name_and_train(options, world, steps, ById, naming)
        assert [run.events for run in ours] == [run.events for run in again]


def name_and_train(
    options: argparse.Namespace, world: World, steps: int, kind: type[Ours], naming: str
) -> list[Run]:
    """Learn from streams whose objects have been renamed; print one line."""
    runs, right, otherwise = [], [], []
    for seed in range(options.seeds):
        stream = renamed(transitions(world, steps, seed), naming, seed)
        (run,) = train([kind], world, stream, ByIdScene if kind is ById else Scene)
        unseen = transitions(world, options.held_out, HELD_OUT_SEED + seed)
        held_out = list(renamed(unseen, naming, HELD_OUT_SEED + seed))
        right += shares_right([run], world, held_out)
        if kind is ById:
            otherwise.append(disagreement(run, world, held_out))
        runs.append(run)
    print(
        f"| {kind.title} | {naming} | {format_runs(run.last_error for run in runs)}"
        f" | {format_runs(run.leaves for run in runs)} | {mean(right)}"
        f" | {mean(otherwise) if otherwise else '-'} |",
        flush=True,
    )
    return runs


def renamed(stream: Iterable[Transition], naming: str, seed: int) -> Iterator[Transition]:
    """Yield the stream with other ids, renamed once for each level."""
    rng = random.Random(seed)
    names: dict[int, int] = {}
    for step, (before, action, after) in enumerate(stream):
        if step % EPISODE == 0:
            old = list(before.ids)
            new = old[::-1] if naming == "reversed" else old[:]
            if naming == "shuffled":
                rng.shuffle(new)
            names = dict(zip(old, new, strict=True))
        yield rename(before, names), action, rename(after, names)


def rename(state: State, names: dict[int, int]) -> State:
    """Return the state with other ids."""
    return State(state.schema, [Object(names[x.id], x.class_name, **x.values) for x in state])


def disagreement(run: Run, world: World, stream: Iterable[Transition]) -> float:
    """Return the share of predictions that differ with scanRel's facts (both directions)."""
    differs = []
    for before, action, after in stream:
        scene = SceneWithoutFacts(before)
        for class_name, attribute, x, _ in targets_of(world, before, after):
            tree = run.tree(class_name, attribute, action)
            answers = []
            for on_demand in (False, True):
                tree.on_demand = on_demand
                answers.append(tree.predict(scene, (x,)))
            tree.on_demand = False
            differs.append(answers[0] != answers[1])
    return statistics.fmean(differs)


class OneByOne(ReferenceModel):
    """Decides after every object instead of after every transition."""

    reverse = False

    def observe(self, before: State, action: str, after: State, *feedback: object) -> None:
        """Observe the targets of a rule in the order of ids, or in reverse."""
        scene, then = Scene(before), Scene(after)
        for class_name, attribute in self.slots():
            for x in sorted(scene.of_class(class_name), reverse=self.reverse):
                tree = self.tree(class_name, attribute, action)
                _, outcome = tell(scene, then, tree.frame, x, attribute)
                tree.observe(scene, [((x,), outcome)])


class Backwards(OneByOne):
    """Like `OneByOne`, with the last id first."""

    reverse = True


CROWD = Schema(
    classes={"walker": ["place", "mood"], "stone": ["place"]},
    attributes={"place": 2, "mood": 1},
    actions=["go", "wait"],
)


def objects(options: argparse.Namespace) -> None:
    """Compare deciding once for all objects of a class with deciding after each object."""
    differ: Counter[str] = Counter()
    for seed in range(options.streams):
        shape = Shape(seed, length=80, objects=5, values="bits", depth=2, noise=0.1)
        kinds = (ReferenceModel, OneByOne, Backwards)
        models = [kind(CROWD, criterion="wilson", alpha=0.05) for kind in kinds]
        for transition in random_stream(CROWD, shape):
            for model in models:
                model.observe(*transition)
        ours, forwards, backwards = ((model.events, tests_of(model)) for model in models)
        differ["ours decided something"] += bool(ours[0])
        for what, i in (("decisions", 0), ("tests in the end", 1)):
            differ[f"one by one, other {what} than ours"] += forwards[i] != ours[i]
            differ[f"one by one, last id first, other {what}"] += backwards[i] != forwards[i]
    last = options.streams - 1
    print(f"random streams of 80 transitions, seeds 0-{last}, alpha 0.05: {options.streams}")
    for what, n in differ.items():
        print(f"{what}: {n}")


def tests_of(model: ReferenceModel) -> dict[Any, list[Test | None]]:
    """Return all tests of all rules, in preorder."""
    return {key: [node.test for node in preorder(tree)] for key, tree in model.trees.items()}


def routing(options: argparse.Namespace) -> None:
    """Count how often evaluation as printed reaches another leaf than set narrowing."""
    readings: dict[str, tuple[Callable[[str], Any], bool]] = {
        "ranks as printed, read as binary numbers": (lambda bits: int(bits or "0", 2), False),
        "ranks as printed, read as strings": (str, False),
        "the missing bit mended, numbers": (lambda bits: int(bits or "0", 2), True),
        "the missing bit mended, strings": (str, True),
        "mended, and shallow decisions first": (lambda bits: bits[::-1], True),
    }
    differ: Counter[str] = Counter()
    cases = several = 0
    for seed in range(10**9):
        rng = random.Random(seed)
        shape = Shape(seed, values=rng.choice(["bits", "small"]), objects=4)
        scenes = [Scene(random_state(rng, CROWD, shape)) for _ in range(12)]
        tree = random_tree(rng, "walker", scenes, depth=4)
        for scene in (Scene(random_state(rng, CROWD, shape)) for _ in range(24)):
            for x in scene.of_class("walker"):
                if cases == options.cases:
                    break
                cases += 1
                route = tree.route(scene, (x,))
                leaf = route[-1][0]
                several += any(len(bindings) > 1 for _, bindings in route)
                for name, (as_rank, bit) in readings.items():
                    other = short_circuit(tree.root, scene, (x,), as_rank, bit)[0]
                    differ[name] += other is not leaf
                differ["matchVars appends"] += appending(tree.root, scene, x) is not leaf
        if cases == options.cases:
            break
    print(f"{cases:,} cases, {seed + 1} random trees of depth at most 4 (seeds 0-{seed})")
    print(f"more than one binding: {several:,}")
    for name in [*readings, "matchVars appends"]:
        print(f"{name}: another leaf in {differ[name]:,}")


# --- the engine's own settings -----------------------------------------------------


class ScoreFacts(Maze):
    """The maze with facts of the score."""

    schema = Schema(
        classes=Maze.schema.classes,
        attributes={"pos": 2, "score": 1},
        actions=Maze.schema.actions,
    )


def score(options: argparse.Namespace) -> None:
    """Count candidates in one endless episode, with and without facts of the score."""
    steps = 40_000
    for name, world in (("no facts of score", make("maze")), ("facts of score", ScoreFacts())):
        for seed in range(min(options.seeds, 2)):
            model = TreeThink.paper(world.schema)
            texts = []
            for step, transition in enumerate(transitions(world, steps, seed, episode=steps), 1):
                model.observe(*transition)
                if step % (steps // 4) == 0:
                    use = model.memory_use()
                    texts.append(f"{use['candidates']:,} ({use['bytes'] / 1e6:.1f} MB)")
            print(f"{name}, seed {seed}, after each 10,000 steps: {'; '.join(texts)}")


def last_error(model: TreeThink, world: World, steps: int, seed: int) -> int:
    """Return the last step, counted from 1, that was predicted wrongly."""
    return max(wrong_steps(model, world, steps, seed), default=0)


def wrong_steps(model: TreeThink, world: World, steps: int, seed: int) -> list[int]:
    """Return the steps, counted from 1, that were predicted wrongly before they were learned."""
    wrong = []
    for step, (before, action, after) in enumerate(transitions(world, steps, seed), 1):
        if error(model.predict(before, action), after) > 0:
            wrong.append(step)
        model.observe(before, action, after)
    return wrong


def limit(options: argparse.Namespace) -> None:
    """Measure the cost of a small `max_candidates`."""
    world, steps = make("maze"), 10_000
    for most in (100, 300, 600, 1_000, 2_000, 100_000):
        models = [TreeThink.paper(world.schema, max_candidates=most) for _ in range(options.seeds)]
        last = [last_error(model, world, steps, seed) for seed, model in enumerate(models)]
        forgotten = sum(model.memory_use()["forgotten"] for model in models) // len(models)
        print(
            f"maze 8x8, {steps:,} steps, max_candidates {most:,}: last error"
            f" {format_runs(last)}; forgotten, mean {forgotten:,}",
            flush=True,
        )


def values(options: argparse.Namespace) -> None:
    """Compare outcomes as differences and as values, on a dial that jumps back to 0."""
    steps = 5_000
    for outcomes in ("change", "value"):
        last, leaves = [], []
        for seed in range(options.seeds):
            attributes = {"mark": Attribute(1, outcomes=outcomes)}
            schema = Schema({"dial": ["mark"]}, attributes, ["reset"])
            model, rng, wrong = TreeThink.paper(schema), random.Random(seed), 0
            for step in range(1, steps + 1):
                before = State(schema, [Object(0, "dial", mark=rng.randrange(10))])
                after = before.replace(0, mark=0)
                if error(model.predict(before, "reset"), after) > 0:
                    wrong = step
                model.observe(before, "reset", after)
            last.append(wrong)
            leaves.append(model.rules["dial", "mark", "reset"].n_leaves)
        print(
            f"outcomes as {outcomes}: last error {format_runs(last)}; leaves {format_runs(leaves)}"
        )


def frames(options: argparse.Namespace) -> None:
    """Compare rules that choose their frame with rules that always tell changes."""
    for name, steps in (("portal", 3_000), ("carry", 10_000), ("walls", 3_000), ("maze", 10_000)):
        world = make(name)
        for outcomes in ("auto", "change"):
            attributes = {
                name: Attribute(each.length, each.facts, outcomes, like=each.like)
                for name, each in world.schema.attributes.items()
            }
            schema = Schema(world.schema.classes, attributes, world.schema.actions)
            seeds = range(options.seeds)
            wrong = [wrong_steps(TreeThink(schema), world, steps, seed) for seed in seeds]
            last, errors = [max(each, default=0) for each in wrong], [len(each) for each in wrong]
            print(
                f"{name}, {steps:,} steps, {outcomes}: last error {format_runs(last)};"
                f" errors {format_runs(errors)}",
                flush=True,
            )


def sums(options: argparse.Namespace) -> None:
    """Compare rules about the sum of a position and a heading with rules that lack it."""
    world, steps = make("carry"), 30_000
    for facts in (None, ("equality",)):
        attributes = {**world.schema.attributes, "heading": Attribute(2, facts)}
        schema = Schema(world.schema.classes, attributes, world.schema.actions)
        seeds = range(options.seeds)
        wrong = [wrong_steps(TreeThink(schema), world, steps, seed) for seed in seeds]
        known = ", ".join(schema.sums) if facts is None else "none"
        print(
            f"carry, {steps:,} steps, sums: {known}: last error"
            f" {format_runs([max(each, default=0) for each in wrong])};"
            f" errors {format_runs([len(each) for each in wrong])}",
            flush=True,
        )


PARTS: dict[str, Callable[[argparse.Namespace], None]] = {
    each.__name__: each
    for each in (
        learning,
        ties,
        candidates,
        ids,
        objects,
        routing,
        score,
        limit,
        values,
        frames,
        sums,
    )
}


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=2_000, help="of maze; a quarter of walls")
    parser.add_argument("--size", type=int, default=6, help="of the grids to learn in")
    parser.add_argument("--large", type=int, default=12, help="of the grids to transfer to")
    parser.add_argument("--held-out", type=int, default=400)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--streams", type=int, default=100)
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"unknown part {', '.join(sorted(unknown))}; known: {', '.join(PARTS)}")
    for name in options.parts or PARTS:
        start = time.process_time()
        print(f"\n## {name}: {(PARTS[name].__doc__ or '').splitlines()[0]}\n", flush=True)
        PARTS[name](options)
        print(f"({time.process_time() - start:.0f} s of processor time)", flush=True)


if __name__ == "__main__":
    main()
