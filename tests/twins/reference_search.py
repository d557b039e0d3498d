"""The reference implementation of the search in cpp/search/search.hpp, with lists and dicts.

Nodes are numbered in the order in which they are met, as in the engine, so that both can be
compared number by number.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from treethink.state import State

GROWTH = 19652


def natural_log(x: float) -> float:
    """The engine's own, which is the same on every machine."""
    m, exponent = math.frexp(x)
    if m < 1 / math.sqrt(2):
        m, exponent = 2 * m, exponent - 1
    s = (m - 1) / (m + 1)
    total = 0.0
    for k in range(25, 0, -2):
        total = total * (s * s) + 1.0 / k
    return 2 * s * total + exponent * math.log(2)


class SplitMix:
    """The engine's random numbers."""

    def __init__(self, seed: int):
        self.state = seed

    def next(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        z = self.state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        return z ^ (z >> 31)

    def random(self) -> float:
        """What `Prediction.sample` asks a Generator for."""
        return (self.next() >> 11) * 2.0**-53


@dataclass
class Edge:
    visits: int = 0
    worth: float = 0.0
    outcomes: list[list[Any]] = field(default_factory=list)
    """[node, reward, count, worth, probability that the episode goes on]"""
    prediction: Any = None
    is_certain: bool = False


@dataclass
class Node:
    state: State
    depth: int
    visits: int = 1
    value: float = 0.0
    edges: list[Edge] = field(default_factory=list)


class ReferenceSearch:
    """`rng` is what predictions are sampled with; `looks_first`: a sample shows what is certain.

    Unless `for_score`, rewards are what predictions say, or `feedback`: a function of the state
    before, the action and the state after, that gives a reward, and whether the episode ended.
    """

    def __init__(
        self,
        predict: Callable[[State, str], Any],
        state: State,
        *,
        discount: float = 1.0,
        exploration: float = 1.25,
        merge: bool = True,
        by_value: bool = False,
        seed: int = 0,
        rng: Any = None,
        looks_first: bool = True,
        for_score: bool = True,
        feedback: Callable[[State, str, State], tuple[float, bool | None]] | None = None,
    ):
        self.predict, self.discount, self.exploration = predict, discount, exploration
        self.merge, self.by_value = merge, by_value
        self.ties = SplitMix(seed)
        self.rng = SplitMix(~seed % 2**64) if rng is None else rng
        self.looks_first = looks_first
        self.for_score, self.feedback = for_score, feedback
        if for_score:
            score = state.schema.attributes["score"]
            self.without_score = not score.facts and score.outcomes != "value"
            self.base = game(state).score
        self.start(state)

    def start(self, state: State) -> None:
        self.now = state
        self.nodes = [Node(self.situation(state), 0)]
        self.range: list[float] | None = None  # all values since something was first drawn

    # ---- one simulation ----

    def simulate(self, horizon: float = math.inf) -> None:
        path, at = [], 0
        while self.nodes[at].depth - self.nodes[0].depth < horizon:
            node = self.nodes[at]
            node.edges = node.edges or [Edge() for _ in node.state.schema.actions]
            action = self.select(node)
            outcome, is_new = self.step(node, action)
            path.append((node, action, outcome))
            at, *_, goes_on = node.edges[action].outcomes[outcome]
            if is_new or goes_on == 0:
                break
        for node, action, outcome in reversed(path):
            self.back_up(node, node.edges[action], outcome)

    def select(self, node: Node) -> int:
        values = [self.value(each) if each.visits else node.value for each in node.edges]
        low, high = min([node.value, *values]), max([node.value, *values])
        if self.range is not None:
            low, high = min(self.range, default=math.inf), max(self.range, default=-math.inf)

        def share(value: float) -> float:
            return (value - low) / (high - low) if high > low else 0.0

        rate = self.exploration + natural_log((node.visits + GROWTH + 1) / GROWTH)
        unsure = rate * (1 / len(node.edges)) * math.sqrt(node.visits)
        scores = [
            share(value) + unsure / (1 + each.visits)
            for value, each in zip(values, node.edges, strict=True)
        ]
        best = [action for action, score in enumerate(scores) if score == max(scores)]
        return best[self.ties.next() % len(best)] if len(best) > 1 else best[0]

    def step(self, node: Node, action: int) -> tuple[int, bool]:
        edge = node.edges[action]
        if edge.is_certain:
            return 0, False
        if edge.prediction is None:
            edge.prediction = self.predict(node.state, node.state.schema.actions[action])
            if self.looks_first:
                after = edge.prediction.sample(self.rng)
                edge.is_certain = edge.prediction.probability(after) >= 1 - 1e-9
            else:
                after = edge.prediction.mode()
                edge.is_certain = edge.prediction.probability(after) == 1
            if edge.is_certain:
                return self.reach(node, edge, after)
            self.range = [] if self.range is None else self.range
        return self.reach(node, edge, edge.prediction.sample(self.rng))

    def reach(self, node: Node, edge: Edge, after: State) -> tuple[int, bool]:
        reward, goes_on = self.feedback_of(node, edge, after)
        situation = self.situation(after)
        for i, (child, paid, *_, went_on) in enumerate(edge.outcomes):
            if (paid, went_on) == (reward, goes_on) and self.nodes[child].state == situation:
                return i, False
        edge.outcomes.append([self.node_for(situation, node.depth + 1), reward, 0, 0.0, goes_on])
        return len(edge.outcomes) - 1, True

    def feedback_of(self, node: Node, edge: Edge, after: State) -> tuple[float, float]:
        """The reward of a step, and the probability that the episode goes on."""
        said = [getattr(edge.prediction, name, lambda: None)() for name in ("reward", "terminated")]
        reward, goes_on = said[0] or 0.0, 1 - (said[1] or 0.0)
        if self.feedback is not None:
            place = next(i for i, each in enumerate(node.edges) if each is edge)
            action = node.state.schema.actions[place]
            reward, ended = self.feedback(node.state, action, after)
            goes_on = goes_on if ended is None else 1.0 - ended
        if self.for_score:
            reward = game(after).score - game(node.state).score
        return reward, goes_on

    def node_for(self, situation: State, depth: int) -> int:
        if self.merge:
            for i, node in enumerate(self.nodes):
                if node.depth == depth and node.state == situation:
                    return i
        self.nodes.append(Node(situation, depth))
        return len(self.nodes) - 1

    def situation(self, state: State) -> State:
        if not self.for_score or not self.without_score:
            return state
        return state.replace(game(state).id, score=self.base)

    def back_up(self, node: Node, edge: Edge, outcome: int) -> None:
        edge.visits += 1
        node.visits += 1
        child, reward, count, before, goes_on = edge.outcomes[outcome]
        worth = (count + 1) * (reward + self.discount * goes_on * self.nodes[child].value)
        edge.outcomes[outcome][2:4] = [count + 1, worth]
        edge.worth = (edge.worth - before) + worth
        if self.range is not None:
            self.range.append(self.value(edge))
        total = 0.0
        for each in node.edges:
            if each.visits:
                total += each.visits * self.value(each)
        node.value = total / node.visits

    def value(self, edge: Edge) -> float:
        if not edge.is_certain:
            return edge.worth / edge.visits
        ((known, reward, *_, goes_on),) = edge.outcomes
        return reward + self.discount * goes_on * self.nodes[known].value

    # ---- what came of it ----

    def follow(self, action: int, now: State) -> bool:
        edges, situation = self.nodes[0].edges, self.situation(now)
        reward = game(now).score - game(self.now).score if self.for_score else None
        outcomes = edges[action].outcomes if edges else []
        likely = [each for each in outcomes if self.nodes[each[0]].state == situation]
        if not likely:
            return False
        self.now = now
        self.keep_only(max(likely, key=lambda each: each[1] == reward)[0])
        return True

    def keep_only(self, root: int) -> None:
        order = [root]
        for each in order:
            for edge in self.nodes[each].edges:
                order.extend(
                    child
                    for child in dict.fromkeys(o[0] for o in edge.outcomes)
                    if child not in order
                )
        new_index = {old: new for new, old in enumerate(order)}
        self.nodes = [self.nodes[each] for each in order]
        for node in self.nodes:
            for edge in node.edges:
                for outcome in edge.outcomes:
                    outcome[0] = new_index[outcome[0]]

    def best(self, node: Node) -> int:
        def rank(action: int) -> tuple[float, float]:
            edge = node.edges[action]
            value = self.value(edge) if edge.visits else -math.inf
            return (value, edge.visits) if self.by_value else (edge.visits, value)

        return max(range(len(node.edges)), key=rank)

    def variation(self) -> list[tuple[str, State]]:
        result, node = [], self.nodes[0]
        score = game(self.now).score if self.for_score else 0
        while node.edges:
            action = self.best(node)
            outcomes = node.edges[action].outcomes
            if not outcomes:
                break
            child, reward, *_, goes_on = max(outcomes, key=lambda each: each[2])
            node, state = self.nodes[child], self.nodes[child].state
            if self.for_score:
                score += reward
                state = state.replace(game(state).id, score=score)
            result.append((state.schema.actions[action], state))
            if goes_on < 0.5:
                break
        return result

    def dump(self) -> list[Any]:
        """As `_engine.Search._tree` has it."""
        return [
            (node.state, node.depth, node.visits, node.value, list(map(self.told, node.edges)))
            for node in self.nodes
        ]

    def told(self, edge: Edge) -> tuple[int, float, list[Any]]:
        value = self.value(edge) if edge.visits else 0
        return edge.visits, value, [tuple(each[:3]) for each in edge.outcomes]


def game(state: State) -> Any:
    (only,) = state.of_class("game")
    return only
