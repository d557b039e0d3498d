"""Schemas, worlds, plans and episodes as HTML, for notebooks. All text is escaped."""

from __future__ import annotations

from typing import Any

from treethink.explain.notebook_html import boards, cut
from treethink.explain.summary.tables import Part, Table, page
from treethink.state import Schema
from treethink.worlds.base import World
from treethink.worlds.draw.svg import svg

MAX_STATES = 4  # of a plan


def schema_html(schema: Schema) -> str:
    """Return a table of the classes, a table of the attributes, and the actions."""
    return page(_of_schema(schema))


def _of_schema(schema: Schema) -> list[Part]:
    classes = [(name, ", ".join(own)) for name, own in schema.classes.items()]
    attributes = [(name, repr(each)) for name, each in schema.attributes.items()]
    actions = f"Actions: {', '.join(schema.actions) or 'none'}"
    return [
        cut(Table("", ("class", "attributes"), classes)),
        cut(Table("", ("attribute", "definition"), attributes)),
        actions,
    ]


def world_html(world: World) -> str:
    """Return the world's name, its first level, and its schema to be unfolded.

    A world that can only step from its current state is not reset for a picture.
    """
    title = page([repr(world), *filter(None, [world.summary()])])
    picture = svg(world, world.reset(0)) if world.pure else ""
    schema = f"<details><summary>Schema</summary>{schema_html(world.schema)}</details>"
    return f"<div>{title}{picture}{schema}</div>"


def plan_html(plan: Any) -> str:
    """Return the value of each action, and the states that are expected, the first one as now."""
    columns = ("action", ">visits", ">mean return")
    rows = [_action_row(plan, each) for each in plan.visits]
    heading = f"{plan.action} after {plan.simulations:,} simulations"
    then = [f"after {' '.join(plan.actions[: n + 1])}" for n in range(len(plan.states) - 1)]
    expected = [*zip(["now", *then], plan.states, strict=True)][:MAX_STATES]
    return f"<div>{page([heading, cut(Table('', columns, rows))])}{boards(expected)}</div>"


def _action_row(plan: Any, action: str) -> tuple[str, str, str]:
    value = plan.values[action]
    mark = " (chosen)" if action == plan.action else ""
    return f"{action}{mark}", f"{plan.visits[action]:,}", "" if value is None else f"{value:.3f}"


def episode_html(episode: Any) -> str:
    """Return the first and the last state, and the actions with their rewards to be unfolded."""
    ends = {"start": episode.states[0], f"after {len(episode.actions)} steps": episode.states[-1]}
    heading = page([repr(episode).strip("<>")])
    rows = [
        (f"{number:,}", action, f"{reward:+}")
        for number, (action, reward) in enumerate(
            zip(episode.actions, episode.rewards, strict=True), 1
        )
    ]
    steps = cut(Table("", (">step", "action", ">reward"), rows)).html()
    folded = f"<details><summary>Steps</summary>{steps}</details>" if rows else ""
    return f"<div>{heading}{boards(ends.items())}{folded}</div>"
