"""What each departure from the paper does, in numbers (for docs/differences.md).

    python experiments/differences.py [--seeds 5] [--steps 2000] [--size 6] [PART ...]

In:   seeded streams of the worlds `walls` and `maze`; random trees and scenes.
Out:  tables on stdout, one for each part. Without a PART, all of them.

All have the paper's criterion and no memory (`TreeThink.paper`); what those two do is measured
elsewhere. The variants of the paper are trees of `variants.py`. They meet the same transitions
as ours, side by side, so each comparison is paired. A run is judged by the last observation
that it predicted wrongly, and by held-out transitions of the same and of a larger grid.
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

from printed import appending, short_circuit  # type: ignore[import-not-found]
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


class Glance(Scene):
    """A scene that is only asked about, never learned from: its facts are not listed."""

    def _facts_of(self, fact_type: FactType) -> list[Fact]:
        return []


@dataclass
class Run:
    """One variant that met one stream."""

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
        """The rule's tree."""
        return self.trees.setdefault((class_name, attribute, action), self.kind([class_name]))

    def predicts(self, scene: Scene, action: str, targets: Iterable[Target]) -> bool:
        """Whether every outcome is predicted for sure. A rule never seen: no change."""
        right = True
        for class_name, attribute, x, outcome in targets:
            tree = self.tree(class_name, attribute, action)
            self.from_ancestor += tree.is_empty_at(scene, (x,))
            answers = set(tree.predict(scene, (x,))) or {(0,) * len(outcome)}
            right &= answers == {outcome}
        return right

    def learn(self, scene: Scene, action: str, targets: Iterable[Target]) -> None:
        """One transition. Each rule that varies has one target in these worlds."""
        for class_name, attribute, x, outcome in targets:
            self.tree(class_name, attribute, action).observe(scene, [((x,), outcome)])

    @property
    def events(self) -> dict[tuple[str, str, str], list[tuple[int, str, str]]]:
        """All decisions, by rule."""
        return {key: tree.events for key, tree in self.trees.items()}

    @property
    def tests(self) -> list[Test | None]:
        """What the rules ask in the end."""
        return [node.test for tree in self.trees.values() for node in tree.nodes()]

    def times(self, kind: str) -> int:
        """How many decisions of a kind there were."""
        return sum(event == kind for told in self.events.values() for _, event, _ in told)

    @property
    def leaves(self) -> int:
        """Of all rules that vary."""
        return sum(test is None for test in self.tests)


#: In `walls` and `maze`, what never changes.
FIXED = ("wall", "goal")


def targets_of(world: World, before: State, after: State) -> list[Target]:
    """The outcomes of all objects of classes that ever change.

    Rules of the others see one outcome only, so no variant learns anything there.
    """
    found = []
    for class_name, attributes in world.schema.classes.items():
        for attribute in () if class_name in FIXED else attributes:
            for each in before.of_class(class_name):
                old, new = (as_vector(state.value(each.id, attribute)) for state in (before, after))
                delta = tuple(b - a for a, b in zip(old, new, strict=True))
                found.append((class_name, attribute, each.id, delta))
    return found


@lru_cache(maxsize=64)
def scene_of(state: State, see: type[Scene]) -> Scene:
    """A level is met in the same few states over and over."""
    return see(state)


def without_score(state: State) -> State:
    """No fact says anything about the score, so scenes need not tell them apart."""
    games = state.of_class("game") if "game" in state.schema.classes else ()
    return state.replace_many({game.id: {"score": 0} for game in games})


def train(
    kinds: Sequence[type[Ours]],
    world: World,
    stream: Iterable[Transition],
    see: type[Scene] = Scene,
) -> list[Run]:
    """Let all variants meet a stream, side by side."""
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
    """For each run, the share of transitions that it predicts for sure."""
    right: list[list[bool]] = [[] for _ in runs]
    for before, action, after in stream:
        scene = Glance(before)
        targets = targets_of(world, before, after)
        for run, told in zip(runs, right, strict=True):
            told.append(run.predicts(scene, action, targets))
    return [statistics.fmean(told) for told in right]


def square(name: str, size: int) -> World:
    """The world, as wide as high."""
    return make(name, width=size, height=size)


def listed(numbers: Iterable[float]) -> str:
    """The numbers, and their median."""
    numbers = list(numbers)
    middle = statistics.median(numbers)
    return f"{middle:g} ({', '.join(f'{each:g}' for each in numbers)})"


def mean(numbers: Iterable[float]) -> str:
    """Rounded to the fourth digit."""
    return f"{statistics.fmean(numbers):.4f}"


# --- parts -------------------------------------------------------------------------


def learning(asked: argparse.Namespace) -> None:
    """Each variant of learning beside ours, on the same streams."""
    for name, steps in (("walls", asked.steps // 4), ("maze", asked.steps)):
        world, large = square(name, asked.size), square(name, asked.large)
        by_seed: list[list[Run]] = []
        for seed in range(asked.seeds):
            runs = train(VARIANTS, world, transitions(world, steps, seed))
            check_against_twin(runs[0], world, seed)
            for run in runs:
                run.empty_in_training = run.from_ancestor
            for shares, where in (("same", world), ("large", large)):
                unseen = transitions(where, asked.held_out, HELD_OUT_SEED + seed)
                for run, share in zip(runs, shares_right(runs, where, unseen), strict=True):
                    run.right[shares] = share
            by_seed.append(runs)
        print(
            f"\n{name} {asked.size}x{asked.size}, {steps:,} steps, seeds 0-{asked.seeds - 1};"
            f" held out {asked.held_out} of {asked.size}x{asked.size} and of"
            f" {asked.large}x{asked.large}\n"
        )
        print_learning(by_seed)


def print_learning(by_seed: list[list[Run]]) -> None:
    """One line for each variant."""
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
            f"| {kind.title} | {listed(run.last_error for run in runs)}"
            f" | {sum(run.wrong for run in runs)} | {', '.join(map(str, decisions))}"
            f" | {listed(run.leaves for run in runs)}"
            f" | {mean(run.right['same'] for run in runs)}"
            f" | {mean(run.right['large'] for run in runs)} | {same[0]}, {same[1]} |"
        )
    bindings, variables, depth = (
        max(tree.most[i] for run in ours for tree in run.trees.values()) for i in range(3)
    )
    print(f"\nours, at most: {bindings} bindings, {variables} variables, depth {depth}")
    print(f"ours, answers of empty leaves: {listed(run.empty_in_training for run in ours)}")


def check_against_twin(run: Run, world: World, seed: int, steps: int = 150) -> None:
    """The arrays of `Ours` decide as the twin does."""
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


def candidates(asked: argparse.Namespace) -> None:
    """How many candidates a root has, by the paper's `bindings` and by ours."""
    world = square("maze", asked.size)
    action = "right"
    for class_name in ("player", "game"):
        predicates: set[tuple[FactType, tuple[int, ...]]] = set()
        ours: set[Test] = set()
        for before, did, _ in transitions(world, asked.steps, seed=0):
            if did == action:
                scene = ByIdScene(before)
                predicates |= {(fact.type, fact.value) for fact in scene.facts}
                ours |= Scene(before).true_tests([(scene.of_class(class_name)[0],)])
        paper = sum(n_bindings(kind.classes, class_name) for kind, _ in predicates)
        print(f"{class_name}, root, when {action}: paper {paper:,} candidates, ours {len(ours):,}")


def n_bindings(classes: tuple[str, ...], given: str) -> int:
    """Class-consistent results of `bindings(1, n)`: X0 is of the class given, X1 and X2 new."""
    if len(classes) == 1:
        return 1 + (classes[0] == given)
    first, second = (each == given for each in classes)
    twice = classes[0] == classes[1]
    return (first and second) + first + second + twice + 1


def ties(asked: argparse.Namespace) -> None:
    """One tiny level that never changes cannot tell places from walls: what transfers?"""
    steps, seeds = 400, 4 * asked.seeds
    kinds = (Ours, OldestFirst, ArbitraryTies)
    world, large = square("walls", 4), square("walls", asked.large)
    shares: list[list[float]] = []
    last: list[list[int]] = []
    for seed in range(seeds):
        runs = train(kinds, world, transitions(world, steps, seed, episode=steps))
        unseen = transitions(large, asked.held_out, HELD_OUT_SEED + seed)
        shares.append(shares_right(runs, large, unseen))
        last.append([run.last_error for run in runs])
    print(
        f"walls 4x4, one level of {steps} steps, seeds 0-{seeds - 1};"
        f" then {asked.large}x{asked.large}"
    )
    for i, kind in enumerate(kinds):
        right = [each[i] for each in shares]
        print(
            f"{kind.title}: last error, median {statistics.median(each[i] for each in last):g};"
            f" right in large grids, mean {mean(right)}, all right {sum(r == 1 for r in right)}"
        )


def ids(asked: argparse.Namespace) -> None:
    """Pairs by object id: what is learned depends on the names of objects."""
    for name, steps in (("walls", asked.steps // 4), ("maze", asked.steps)):
        world = square(name, asked.size)
        print(
            f"\n{name} {asked.size}x{asked.size}, {steps:,} steps, seeds 0-{asked.seeds - 1}\n\n"
            "| learner | ids | last error | leaves | right | other answers on demand |\n"
            "|---|---|---|---|---|---|"
        )
        ours = name_and_train(asked, world, steps, Ours, "as given")
        again = name_and_train(asked, world, steps, Ours, "shuffled")
        for naming in ("as given", "reversed", "shuffled"):
            name_and_train(asked, world, steps, ById, naming)
        assert [run.events for run in ours] == [run.events for run in again]


def name_and_train(
    asked: argparse.Namespace, world: World, steps: int, kind: type[Ours], naming: str
) -> list[Run]:
    """Learn from streams whose objects have been renamed; print one line."""
    runs, right, otherwise = [], [], []
    for seed in range(asked.seeds):
        stream = renamed(transitions(world, steps, seed), naming, seed)
        (run,) = train([kind], world, stream, ByIdScene if kind is ById else Scene)
        unseen = transitions(world, asked.held_out, HELD_OUT_SEED + seed)
        held_out = list(renamed(unseen, naming, HELD_OUT_SEED + seed))
        right += shares_right([run], world, held_out)
        if kind is ById:
            otherwise.append(disagreement(run, world, held_out))
        runs.append(run)
    print(
        f"| {kind.title} | {naming} | {listed(run.last_error for run in runs)}"
        f" | {listed(run.leaves for run in runs)} | {mean(right)}"
        f" | {mean(otherwise) if otherwise else '-'} |",
        flush=True,
    )
    return runs


def renamed(stream: Iterable[Transition], naming: str, seed: int) -> Iterator[Transition]:
    """The same stream with other ids: one renaming for each level."""
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
    """The same objects under other ids."""
    return State(state.schema, [Object(names[x.id], x.class_name, **x.values) for x in state])


def disagreement(run: Run, world: World, stream: Iterable[Transition]) -> float:
    """The share of predictions that scanRel's facts (both directions) answer otherwise."""
    differs = []
    for before, action, after in stream:
        scene = Glance(before)
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

    def observe(self, before: State, action: str, after: State) -> None:
        """The targets of a rule in the order of ids, or in the reverse of it."""
        scene, then = Scene(before), Scene(after)
        for class_name, attribute in self.slots():
            for x in sorted(scene.of_class(class_name), reverse=self.reverse):
                outcome = self._outcome(attribute, scene.values[x], then.values[x])
                self.tree(class_name, attribute, action).observe(scene, [((x,), outcome)])


class Backwards(OneByOne):
    """As above, the last id first."""

    reverse = True


CROWD = Schema(
    classes={"walker": ["place", "mood"], "stone": ["place"]},
    attributes={"place": 2, "mood": 1},
    actions=["go", "wait"],
)


def objects(asked: argparse.Namespace) -> None:
    """Several objects of a class feed one rule: decide once for all, or after each?"""
    differ: Counter[str] = Counter()
    for seed in range(asked.streams):
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
    last = asked.streams - 1
    print(f"random streams of 80 transitions, seeds 0-{last}, alpha 0.05: {asked.streams}")
    for what, n in differ.items():
        print(f"{what}: {n}")


def tests_of(model: ReferenceModel) -> dict[Any, list[Test | None]]:
    """All tests of all rules, in preorder."""
    return {key: [node.test for node in preorder(tree)] for key, tree in model.trees.items()}


def routing(asked: argparse.Namespace) -> None:
    """How often evaluation as printed ends in another leaf than set narrowing."""
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
                if cases == asked.cases:
                    break
                cases += 1
                route = tree.route(scene, (x,))
                leaf = route[-1][0]
                several += any(len(bindings) > 1 for _, bindings in route)
                for name, (as_rank, bit) in readings.items():
                    found = short_circuit(tree.root, scene, (x,), as_rank, bit)[0]
                    differ[name] += found is not leaf
                differ["matchVars appends"] += appending(tree.root, scene, x) is not leaf
        if cases == asked.cases:
            break
    print(f"{cases:,} cases, {seed + 1} random trees of depth at most 4 (seeds 0-{seed})")
    print(f"more than one binding: {several:,}")
    for name in [*readings, "matchVars appends"]:
        print(f"{name}: another leaf in {differ[name]:,}")


# --- the engine's own settings -----------------------------------------------------


class ScoreFacts(Maze):
    """The maze whose score takes part in all kinds of fact."""

    schema = Schema(
        classes=Maze.schema.classes,
        attributes={"pos": 2, "score": 1},
        actions=Maze.schema.actions,
    )


def score(asked: argparse.Namespace) -> None:
    """Candidates in one endless episode, with and without facts of the score."""
    steps = 40_000
    for name, world in (("no facts of score", make("maze")), ("facts of score", ScoreFacts())):
        for seed in range(min(asked.seeds, 2)):
            model = TreeThink.paper(world.schema)
            told = []
            for step, transition in enumerate(transitions(world, steps, seed, episode=steps), 1):
                model.observe(*transition)
                if step % (steps // 4) == 0:
                    use = model.memory_use()
                    told.append(f"{use['candidates']:,} ({use['bytes'] / 1e6:.1f} MB)")
            print(f"{name}, seed {seed}, after each 10,000 steps: {'; '.join(told)}")


def last_error(model: TreeThink, world: World, steps: int, seed: int) -> int:
    """The last step, counted from 1, that was predicted wrongly."""
    last = 0
    for step, (before, action, after) in enumerate(transitions(world, steps, seed), 1):
        if error(model.predict(before, action), after) > 0:
            last = step
        model.observe(before, action, after)
    return last


def limit(asked: argparse.Namespace) -> None:
    """A small `max_candidates`: what forgetting costs."""
    world, steps = make("maze"), 10_000
    for most in (100, 300, 600, 1_000, 2_000, 100_000):
        models = [TreeThink.paper(world.schema, max_candidates=most) for _ in range(asked.seeds)]
        last = [last_error(model, world, steps, seed) for seed, model in enumerate(models)]
        forgotten = sum(model.memory_use()["forgotten"] for model in models) // len(models)
        print(
            f"maze 8x8, {steps:,} steps, max_candidates {most:,}: last error"
            f" {listed(last)}; forgotten, mean {forgotten:,}",
            flush=True,
        )


def values(asked: argparse.Namespace) -> None:
    """A dial with ten marks that jumps back to 0: by how much, or to what?"""
    steps = 5_000
    for outcomes in ("delta", "value"):
        last, leaves = [], []
        for seed in range(asked.seeds):
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
        print(f"outcomes as {outcomes}: last error {listed(last)}; leaves {listed(leaves)}")


PARTS: dict[str, Callable[[argparse.Namespace], None]] = {
    each.__name__: each
    for each in (learning, ties, candidates, ids, objects, routing, score, limit, values)
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
    asked = parser.parse_args()
    if unknown := set(asked.parts) - set(PARTS):
        parser.error(f"unknown part {', '.join(sorted(unknown))}; known: {', '.join(PARTS)}")
    for name in asked.parts or PARTS:
        start = time.process_time()
        print(f"\n## {name}: {(PARTS[name].__doc__ or '').splitlines()[0]}\n", flush=True)
        PARTS[name](asked)
        print(f"({time.process_time() - start:.0f} s of processor time)", flush=True)


if __name__ == "__main__":
    main()
