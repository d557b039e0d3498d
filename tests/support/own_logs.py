"""Logs as people write them: a coffee machine, and a robot that has a sensor for the wall."""

from __future__ import annotations

import random
from typing import Any

_ACTIONS = {
    "espresso": 6, "lungo": 6, "fill": 2, "beans": 2, "empty": 2, "put": 8, "take": 6, "power": 1,
}  # fmt: skip
_PAID = {"espresso": 5, "lungo": 7}
Columns = dict[str, list[Any]]


def coffee_log(seed: int, episodes: int) -> Columns:
    """Return a log with one row per step: a machine, its tank, a cup, and how many are ordered."""
    rng = random.Random(seed)
    rows: list[dict[str, Any]] = []
    for episode in range(episodes):
        capacity, order = rng.choice([3, 4, 5]), rng.choice([2, 3, 4])
        machine: dict[str, Any] = {
            "machine.water": rng.randint(0, capacity),
            "machine.beans": rng.randint(0, 6),
            "machine.grounds": rng.randint(0, 4),
            "machine.power": rng.choice(["off", "warming", "ready", "ready", "ready"]),
            "machine.served": 0,
            "cup.content": "none",
        }
        rest = {"tank.capacity": capacity, "order.cups": order}
        is_done = False
        for step in range(41):
            moment = {"run": episode, "step": step, **machine, **rest}
            if step == 40 or is_done:
                rows.append(moment | {"action": "", "reward": None, "done": None})
                break
            action = rng.choices([*_ACTIONS], [*_ACTIONS.values()])[0]
            machine, reward = _after(machine, action, capacity)
            is_done = action == "take" and machine["machine.served"] >= order
            rows.append(moment | {"action": action, "reward": reward, "done": is_done})
    return {name: [row[name] for row in rows] for name in rows[0]}


def _after(before: dict[str, Any], action: str, capacity: int) -> tuple[dict[str, Any], int]:
    """Return the machine and the cup after an action, and the reward."""
    water, beans, grounds, power, served, content = before.values()
    warm, reward = "ready" if power == "warming" else power, -1
    if action in _PAID:
        need = 1 if action == "espresso" else 2
        if power == "ready" and content == "mug" and beans and water >= need and grounds < 4:
            water, beans, grounds, content = water - need, beans - 1, grounds + 1, action
        else:
            reward = -2
    elif action == "fill":
        water = capacity
    elif action == "beans":
        beans += 3 if beans <= 3 else 0
    elif action == "empty":
        grounds = 0
    elif action == "put":
        content = "mug" if content == "none" else content
    elif action == "take":
        reward, served = _PAID.get(content, -1), served + (content in _PAID)
        content = "none"
    elif action == "power":
        warm = "warming" if power == "off" else "off"
    return dict(zip(before, (water, beans, grounds, warm, served, content), strict=True)), reward


def wall_log(seed: int, episodes: int) -> Columns:
    """Return a log of a robot in a corridor; whether a wall blocks it is a column of its own."""
    rng = random.Random(seed)
    rows: list[dict[str, Any]] = []
    for episode in range(episodes):
        end = rng.randrange(3, 30)
        at = rng.randrange(end)
        for step in range(12):
            action = rng.choice(["left", "right"]) if step < 11 else ""
            after = min(at + 1, end) if action == "right" else max(0, at - 1)
            moment = {"episode": episode, "step": step, "action": action}
            reward = after - at if action else None
            robot = {"robot.at": at, "robot.blocked": "yes" if at == end else "no"}
            rows.append(moment | {"reward": reward} | robot)
            at = after
    return {name: [row[name] for row in rows] for name in rows[0]}
