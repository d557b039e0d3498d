"""Write the example logs: what an elevator and a vending machine did, in two layouts.

Run as `python examples/logs/make.py`; the same seeds give the same files.
"""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


def elevator(path: Path, episodes: int = 150, steps: int = 14) -> None:
    """Write one row per step as CSV: a lift goes up and down, and opens where it is expected."""
    rng = random.Random(1)
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        values = ["lift.floor", "lift.dest", "lift.door", "top.floor", "ground.floor"]
        table.writerow(["episode", "step", "action", "reward", *values])
        for episode in range(episodes):
            top = rng.randint(3, 7)
            floor, dest, door = rng.randint(0, top), rng.randint(0, top), "closed"
            for step in range(steps + 1):
                now = [floor, dest, door, top, 0]
                action = rng.choice(["up", "down", "open", "close"]) if step < steps else ""
                arrived = action == "open" and door == "closed" and floor == dest
                if action == "up" and door == "closed" and floor < top:
                    floor += 1
                elif action == "down" and door == "closed" and floor > 0:
                    floor -= 1
                elif arrived:
                    door = "open"
                elif action == "close":
                    door = "closed"
                reward = int(arrived) if action else ""
                table.writerow([episode, step, action, reward, *now])


def vending(path: Path, episodes: int = 80, steps: int = 12) -> None:
    """Write one JSON object per step: a machine takes coins, sells a drink and gives it out."""
    rng = random.Random(2)
    with open(path, "w", encoding="utf-8") as file:
        for episode in range(episodes):
            credit, tray = rng.choice([0, 50, 100, 150]), rng.choice(["nothing", "cola"])
            stock = {"cola": rng.randint(0, 3), "water": rng.randint(0, 3)}
            for step in range(steps + 1):
                line: dict[str, Any] = {"episode": episode, "step": step}
                action = rng.choice(["coin", "coin", "cola", "water", "take"])
                line["action"] = action if step < steps else None
                line["machine"] = {"credit": credit / 100, "tray": tray}
                line |= {drink: {"stock": count} for drink, count in stock.items()}
                file.write(json.dumps(line) + "\n")
                if action == "coin" and credit < 150:
                    credit += 50
                elif action == "take":
                    tray = "nothing"
                elif action in stock and credit == 150 and tray == "nothing" and stock[action]:
                    credit, tray = 0, action
                    stock[action] -= 1


if __name__ == "__main__":
    elevator(FOLDER / "elevator.csv")
    vending(FOLDER / "vending.jsonl")
