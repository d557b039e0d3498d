"""Write docs/rules.md: every learned rule, in English and as code.

    python experiments/rules.py [--check] [WORLD ...]

In:   for each world, random play of one seed; models with the default settings.
Out:  docs/rules.md, written anew; with --check or for single worlds, only compared.

Each model is examined first (`treethink.evaluation`): the page is only written if its rules predict
all of 20,000 held-out transitions and every scene of the world's specification. The section
"Redundant or odd" is written by hand; check it when rules change.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from treethink.evaluation import examine
from treethink.export import python as code
from treethink.model import TreeThink
from treethink.rules import Rule
from treethink.stream.random_play import transitions
from treethink.worlds import World, make

PAGE = Path(__file__).resolve().parents[1] / "docs" / "rules.md"
HELD_OUT, HELD_OUT_SEED, SEED = 20_000, 1_000_000, 0
#: Enough for a model of that seed to be exact, and for its rules to be stable.
STEPS = {
    "maze": 5_000,
    "coins": 20_000,
    "keys": 60_000,
    "doors": 20_000,
    "switches": 20_000,
    "gates": 20_000,
    "lights": 5_000,
}

INTRODUCTION = """\
# The rules that were learned

What TreeThink knows of {worlds}
after watching random play, with its default settings (but for `facts=` in `keys`): every rule
that varies, in English (`rule.to_text("english")`) and as Python (`rule.to_text("code")`). Each
model predicts all of {held_out:,} held-out transitions exactly, and every scene of its world's
specification ([worlds.md](worlds.md)). Each rule was also read against that specification: by
hand, and in the tests by a small reader that knows nothing but the words. They are all right in
every level that their world makes; what is roundabout in them, or right for that reason only,
stands below. This page is made by `python experiments/rules.py`.

## How to read them

- **It** and **its** are the object that the rule is about.
- **A door** is any door. **That door** is the one just spoken of. If several would do, one for
  which the condition holds is enough, and **not** means for none of them.
- **Another key** is a key other than those spoken of.
- An action is **pressed** if its last word is a direction or a button, and otherwise **chosen**.
  In `pick-up` and the like, up is no direction.
- Right, left, above and below are said of attributes of two numbers that are named like places,
  such as `pos`. The second number grows downwards.
- Rules say by how much something changes. Where a condition tells what it was before, the new
  value is said.
- Outcomes that followed in a part of all cases come with their shares. In these worlds nothing is
  left to chance, so there are none.

A sentence puts tests together that the tree asks one by one. The code has them as they stand in
the tree, with the number of observations behind each answer.

## Redundant or odd

{odd}
"""

#: Remarks by world. None of these rules is wrong in any level that the world makes.
ODD = {
    "maze": ["nothing."],
    "coins": ["nothing. That staying picks up nothing is not here, because it never varies."],
    "keys": [
        """"No other key's `status` is 1 more than its own", of a key that is free (0), is a
        roundabout way to say that no other key is held (1). So is "another key's `status` is 1 more
        than that key's" for up and down, where left and right say it straight.""",
        """In `key.status` for up and down, "its `status` is not 0" is redundant beside "its
        `status` is 1".""",
        """Doors, keys, goals and walls never share a cell. So rules may ask for them in any order,
        and do: the score of down asks for the door before the goal. What the specification says of
        a closed door with a free key on the same cell is in no rule, because no level shows it.""",
        """"The goal" is said because each level has one.""",
    ],
    "doors": [
        """`player.color` asks twice whether the player stands on a door, once for each color; one
        test above both would do. That it falls by 1 otherwise is right because there are two
        colors.""",
    ],
    "switches": ["""nothing. `on` falls by 1 where it is 1, as it is if it is not 0."""],
    "gates": [
        """The rule of `switch.on` is learned twelve times, once for each action: trees do not share
        what they know.""",
        """A jump does not ask for a wall in the gate's own cell, although the specification does:
        no cell has both.""",
    ],
    "lights": [
        """The score is that of one light, because a level has one light on each channel. Of two
        lights on a channel the specification counts each, and this rule would be wrong.""",
    ],
}

HELPERS = """\
## The functions that the code calls

`rule.to_text("code")` has them with it, so that each function runs on its own. Here they are once.
A state is what `State.to_dict` gives, and `x0` is the id of an object.

<details markdown="1"><summary>Code</summary>

```python
{text}
```

</details>
"""

SECTION = """\
## {name}

{summary} Learned from {steps:,} observations (seed {seed}). {right}

{rules}
"""

RULE = """\
**{title}**

{english}

<details markdown="1"><summary>Code</summary>

```python
{code}
```

</details>
"""


class NotLearned(Exception):  # noqa: N818  # a verdict
    """The model of a world makes mistakes, so the page is not written."""


def page() -> str:
    """Return the whole page."""
    odd = "\n".join(f"- `{name}`:{_joined(remarks)}" for name, remarks in ODD.items())
    worlds = ", ".join(f"`{name}`" for name in STEPS)
    parts = [INTRODUCTION.format(worlds=worlds, held_out=HELD_OUT, odd=odd), helpers()]
    return "\n".join([*parts, *map(section, STEPS)])


def _joined(remarks: list[str]) -> str:
    """Return one remark in the line, or several below it."""
    lines = [" ".join(each.split()) for each in remarks]
    return f" {lines[0]}" if len(lines) == 1 else "\n    - " + "\n    - ".join(lines)


def helpers() -> str:
    """Return the functions that the code of rules calls."""
    parts = (code.READ, code.MINUS, code.PLUS, code.KEPT)
    return HELPERS.format(text="\n\n".join(part.strip() + "\n" for part in parts).strip())


def section(name: str) -> str:
    """Return the section of one world: its description, and its rules."""
    world = make(name)
    model = TreeThink(world.schema)
    model.observe_many(transitions(world, steps=STEPS[name], seed=SEED))
    rules = "\n".join(_both_forms(rule) for rule in model.rules.varying().values())
    right = _examined(model, world)
    text = SECTION.format(
        name=name, summary=world.summary(), steps=STEPS[name], seed=SEED, right=right, rules=rules
    )
    return text.rstrip() + "\n"


def _examined(model: TreeThink, world: World) -> str:
    """Examine the model; return a sentence about its scenes, or raise `NotLearned`."""
    examination = examine(model, world, transitions(world, HELD_OUT, HELD_OUT_SEED))
    if not examination.learned:
        raise NotLearned(f"{world.name}: {examination}")
    return f"Of its specification's {examination.scenes} scenes, all are right."


def _both_forms(rule: Rule) -> str:
    """Return a rule in English and as code.

    Markdown needs an empty line before lists, and four spaces for each level of indentation.
    """
    first, *rest = rule.to_text("english").splitlines()
    items = [re.sub(r"^ +", lambda match: match[0] * 2, line) for line in rest]
    english = "\n".join([first, "", *items]) if items else first
    return RULE.format(
        title=rule.title, english=english, code=code.text_of(rule, helpers=False).rstrip()
    )


def is_on_page(name: str) -> bool:
    """Whether the page has exactly the section that would be written now."""
    return f"\n{section(name)}" in PAGE.read_text(encoding="utf-8")


def main() -> None:
    """Write or compare the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("worlds", nargs="*", metavar="WORLD", help=", ".join(STEPS))
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    options = parser.parse_args()
    if unknown := set(options.worlds) - set(STEPS):
        parser.error(f"unknown world {', '.join(sorted(unknown))}; known: {', '.join(STEPS)}")
    if not (options.check or options.worlds):
        PAGE.write_text(page(), encoding="utf-8")
    elif other := [name for name in options.worlds or STEPS if not is_on_page(name)]:
        sys.exit(f"{PAGE.name} says other things of {', '.join(other)}")


if __name__ == "__main__":
    main()
