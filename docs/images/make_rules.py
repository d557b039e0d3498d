"""Draw learned rules with `Rule.draw`.

    python docs/images/make_rules.py        writes rule_*.svg beside this file

They correspond to the paper's figure of learned trees.
"""

from __future__ import annotations

from pathlib import Path

import treethink as tt
from treethink.rules import Rule

HERE = Path(__file__).parent
#: For each picture: the world, the number of transitions, and the rule.
RULES = {
    "rule_maze_player.svg": ("maze", 1_500, ("player", "pos", "right")),
    "rule_maze_score.svg": ("maze", 1_500, ("game", "score", "right")),
    "rule_coins_used.svg": ("coins", 10_000, ("coin", "used", "right")),
    "rule_keys_player.svg": ("keys", 20_000, ("player", "pos", "right")),
}


def main() -> None:
    """Write the pictures."""
    for name in RULES:
        learned(name).draw(HERE / name)


def learned(name: str) -> Rule:
    """Learn and return the rule of a picture."""
    world_name, steps, key = RULES[name]
    world = tt.make(world_name)
    model = tt.TreeThink(world.schema)
    model.observe_many(tt.transitions(world, steps, seed=0))
    return model.rules[key]


if __name__ == "__main__":
    main()
