"""The engine and the reference agree when both are edited while they learn."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

import reference_editing as twin_edits
import treethink as tt
from parts import listed, random_part
from reference import OTHERS, ReferenceTree, Scene, in_order
from strategies import Stream, explained_shapes, restless_shapes, shapes, streams
from test_twin import Twins
from treethink.editing.simplify import steps_of


class Edited(Twins):
    """Twins whose rules are edited while they learn."""

    def __init__(self, stream: Stream, seed: int, **settings: Any):
        super().__init__(stream.schema, **stream.settings, **settings)
        self.rng = random.Random(seed)

    def edit(self, scene: Scene) -> None:
        """Some edit of some rule, where that is possible."""
        rule = self.rng.choice(list(self.engine.rules))
        tree = self.twin.tree(*rule)
        path = self.rng.choice(tree.nodes()).path
        kind = self.rng.choice(["pin", "unpin", "replace", "replace", "learn on", "simplify"])
        note(f"{kind} {rule} at {path!r}")
        before = len(self.events)
        getattr(self, "_" + kind.replace(" ", "_"))(rule, tree, path, scene)
        assert len(self.events) == before
        self.assert_same_trees(rule[-1])

    def _pin(self, rule: Any, tree: ReferenceTree, path: str, scene: Scene) -> None:
        if tree.transitions or tree.edited:
            self.engine.pin(rule, path)
            twin_edits.pin(tree, path)
            self.happened["pin"] += 1

    def _unpin(self, rule: Any, tree: ReferenceTree, path: str, scene: Scene) -> None:
        if not self.engine.rules[rule].varies:
            return
        pinned = [node for node in twin_edits.below(twin_edits.at(tree, path)) if node.pinned]
        self.happened["unpin"] += bool(pinned)
        self.happened["unpin what has met something"] += any(
            node.seen_since_pinned for node in pinned
        )
        self.engine.unpin(rule, path)
        twin_edits.unpin(self.twin, tree, path, len(self.known(rule)))

    def _replace(self, rule: Any, tree: ReferenceTree, path: str, scene: Scene) -> None:
        length = self.twin.schema.attributes[rule[1]].length
        named = [tuple(self.rng.choice([-1, 0, 1, 7]) for _ in range(length)) for _ in range(2)]
        outcomes = in_order({*named, *tree.seen} - {OTHERS})
        variables = twin_edits.at(tree, path).variables
        part = random_part(self.rng, variables, [scene], outcomes, depth=2)
        self.engine._replace(*rule, path, listed(part))
        twin_edits.replace(tree, path, part)
        self.happened["replace"] += 1
        self.names[rule] = self.known(rule) | {o for _, leaf in listed(part) for o, _ in leaf}

    def _learn_on(self, rule: Any, tree: ReferenceTree, path: str, scene: Scene) -> None:
        self._replace(rule, tree, path, scene)
        self._unpin(rule, tree, path, scene)
        self.happened["learn on"] += 1

    def _simplify(self, rule: Any, tree: ReferenceTree, path: str, scene: Scene) -> None:
        for step in steps_of(self.engine.rules[rule]):
            self.engine._keep_child(*rule, *step)
            twin_edits.keep_child(tree, *step)
            self.happened["merged" if step.merge else "decided"] += 1

    def known(self, rule: Any) -> set[Any]:
        """All outcomes that the rule has seen, or that were ever written into it."""
        return self.names.get(rule, set()) | set(self.twin.tree(*rule).seen)

    names: dict[Any, set[Any]]

    def follow_edited(self, stream: Stream) -> None:
        self.names = {}
        for step, (before, action, after) in enumerate(stream.transitions):
            if step % 7 == 6:
                self.edit(Scene(before))
                self.assert_same_predictions(before, action)
            self.observe(before, action, after)
            self.assert_same_trees(action)
            if step % 5 == 0:
                self.assert_same_predictions(after, action)
            if step % 20 == 0:
                self.assert_goes_on_from_a_file()
        for action in stream.schema.actions:
            self.assert_same_trees(action)
            self.assert_same_predictions(after, action)

    def assert_goes_on_from_a_file(self) -> None:
        content = self.engine.to_bytes()
        loaded = tt.TreeThink.from_bytes(content)
        assert loaded.to_bytes() == content
        loaded.on_change = self.engine.on_change
        self.engine = loaded
        for rule in self.engine.rules:
            tree, engine_nodes = self.twin.tree(*rule), self.engine._tree(*rule)[2]
            for node, engine_node in zip(
                tree.nodes() if engine_nodes else [], engine_nodes, strict=True
            ):
                pinned, written, _ = engine_node[5]
                assert (pinned, written) == (node.pinned, node.hand_written), (rule, node.path)
                seen_since_pinned = (
                    node.seen_since_pinned if node.pinned and node.test is None else {}
                )
                assert engine_node[6] == dict(seen_since_pinned), (rule, node.path)


SHAPES = st.one_of(shapes(), restless_shapes(), explained_shapes())


@pytest.mark.slow
@settings(deadline=None, max_examples=20)
@given(
    streams(
        criteria=("wilson", "evidence"),
        memories=("none", "short", "long"),
        mostly=SHAPES,
        units=True,
    ),
    st.integers(0, 2**32),
)
def test_engine_and_twin_agree_while_people_edit(stream: Stream, seed: int) -> None:
    Edited(stream, seed).follow_edited(stream)


@pytest.mark.filterwarnings("ignore::treethink.errors.NoiseWarning")
@settings(deadline=None, max_examples=10)
@given(
    streams(criteria=("wilson", "evidence"), memories=("none", "short"), mostly=SHAPES, units=True),
    st.integers(0, 2**32),
    st.integers(1, 4),
)
def test_engine_and_twin_agree_while_people_edit_noise(
    stream: Stream, seed: int, most: int
) -> None:
    Edited(stream, seed, max_outcomes=most).follow_edited(stream)


@pytest.mark.slow
def test_streams_contain_every_kind_of_edit() -> None:
    """The test above is useful only if its streams contain these edits."""
    counts: Any = {}

    @settings(deadline=None, max_examples=20)
    @given(
        streams(
            criteria=("evidence",), memories=("none", "short", "long"), mostly=SHAPES, units=True
        ),
        st.integers(0, 2**32),
    )
    def follow(stream: Stream, seed: int) -> None:
        twins = Edited(stream, seed)
        twins.follow_edited(stream)
        for kind, n in twins.happened.items():
            counts[kind] = counts.get(kind, 0) + n

    follow()
    edits = ("pin", "unpin", "unpin what has met something", "replace", "learn on")
    for kind in (*edits, "merged", "decided", "split"):
        assert counts.get(kind, 0) > 0, (kind, counts)
