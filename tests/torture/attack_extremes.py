"""Attacks with streams at the edge of what can be said: values, names, numbers of objects."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import treethink as tt
from torture import Attack

LEAST, MOST = -(2**63), 2**63 - 1
KINDS = ["equality", "difference", "order", "something"]
#: Names that text, rules, pictures or other languages could take for something else.
ODD_NAMES = [
    " ",
    "a b",
    "=",
    "X0",
    "X0[pos] = 1 ?",
    "transition",
    "class",
    "\n",
    "\x1b[2J",
    "\u202eabc",
    "'\"\\",
    "%s{}",
    "[bold]",
    ":smile:",
    "$(ls)",
    "a.b",
    "é",
    "😀",
    "A",
    "a" * 500,
    "None",
    "0",
    "-1",
    "../x",
]


def number(rng: random.Random, most: int) -> int:
    """Return a number, often a very large one."""
    ends = [-most - 1, -most, -(2**62), -(2**31), 2**31, 2**62 - 1, most - 1, most]
    return rng.choice([*ends, *range(-2, 3), *range(-2, 3)])


def extremes(rng: random.Random) -> Iterator[tuple[tt.State, str, tt.State]]:
    """Cars in states of their own, with every frame and sums; the objects differ every time."""
    length, with_differences = rng.choice([1, 2, 2, 3]), rng.random() < 0.5
    kinds = [each for each in KINDS if with_differences or each != "difference"]
    outcomes = ["auto", "auto", "value", "change"]
    attributes = {
        "pos": tt.Attribute(length, kinds, rng.choice(outcomes)),
        "heading": tt.Attribute(length, kinds),
        "home": tt.Attribute(length, kinds, like="pos"),
        "fuel": tt.Number(facts=kinds, outcomes=rng.choice(outcomes)),
        "full": tt.Number(like="fuel"),
    }
    classes = {"car": [*attributes], "gate": ["pos", "fuel"], "rock": ["pos"]}
    schema = tt.Schema(classes, attributes, rng.sample(ODD_NAMES, 3))

    def value(name: str) -> int | tuple[int, ...]:
        most = 2**62 - 1 if with_differences and name != "heading" else MOST
        numbers = tuple(number(rng, most) for _ in range(attributes[name].length))
        return numbers[0] if len(numbers) == 1 else numbers

    while True:
        objects = []
        for name, most in (("car", 3), ("gate", 2), ("rock", 4)):
            for _ in range(rng.randint(name == "car", most)):
                own = {each: value(each) for each in classes[name]}
                objects.append(tt.Object(rng.randrange(LEAST, MOST), name, **own))
        before = after = tt.State(schema, objects)
        for each in before.of_class("car"):
            source = rng.choice(["home", "heading", "pos", "new"])
            new = value("pos") if source == "new" else each.values[source]
            after = after.replace(each.id, pos=new)
            after = after.replace(each.id, fuel=rng.choice([each.full, value("fuel"), each.fuel]))
        yield before, rng.choice(schema.actions), after


def learn_extremes(rng: random.Random, folder: Path) -> str | None:
    """Learn; what is refused leaves the model as it was."""
    stream = extremes(rng)
    first = next(stream)
    warnings.simplefilter("ignore", tt.NoiseWarning)
    settings = {
        "criterion": rng.choice(["evidence", "evidence", "wilson", "proven"]),
        "memory": rng.choice([5_000, 40, 1, 0]),
        "alpha": rng.choice([0.01, 0.3, 0.99]),
        "max_outcomes": rng.choice([1_024, 5, 1]),
        "max_candidates": rng.choice([100_000, 10, 1]),
    }
    model = tt.TreeThink(first[0].schema, **settings)
    learned = 0
    for _ in range(rng.randrange(1, 150)):
        before, action, after = next(stream)
        with suppress(tt.StateError):  # a predicted value may not fit 64 bits
            prediction = model.predict(before, action)
            prediction.mode()
            prediction.probability(after)
        try:
            model.observe(before, action, after, rng.choice([None, 1e308, -1e308, 5e-324]))
            learned += 1
        except (tt.TransitionError, tt.StateError) as error:
            if "does not fit 64 bits" not in str(error):
                raise
        if model.observations != learned:
            return f"{model.observations} observations, not {learned}"
    if tt.TreeThink.from_bytes(model.to_bytes()).to_bytes() != model.to_bytes():
        return "a copy is different"
    with suppress(tt.TreeThinkError):
        str(model.summary())
        str(model.explain(before, action))
    for rule in model.rules.values():
        for style in ("formula", "english", "code"):
            rule.to_text(style)
    with suppress(tt.TreeThinkError):
        model.doubts()
    return None


def use_rule(model: tt.TreeThink, rule: tt.Rule) -> None:
    """Write a rule down in several forms, and read one of them."""
    assert rule.key is not None
    key = rule.key
    uses: list[Callable[[], object]] = [
        lambda: model.replace(key, str(rule)),
        rule.to_svg,
        rule.to_dot,
        rule.to_mermaid,
    ]
    for call in uses:
        with suppress(tt.TreeThinkError):
            call()


def learn_odd_schema(rng: random.Random, folder: Path) -> str | None:
    """Learn with odd names, thousands of classes, or very long vectors, in all forms of text."""
    many, long = rng.choice([(3, 2), (3, 2), (400, 1), (2_000, 1), (3, 500)])
    names = [*ODD_NAMES, *(f"c{k}" for k in range(many))][: max(many, 3)]
    rng.shuffle(names)
    facts: list[str] = rng.choice([[], ["equality"], KINDS if many < 100 else []])
    attribute = tt.Attribute(long, facts)
    try:
        schema = tt.Schema(
            {name: ["m"] for name in names}, {"m": attribute}, rng.sample(ODD_NAMES, 2)
        )
        model = tt.TreeThink(schema)
    except tt.TreeThinkError:
        return None

    def value() -> int | tuple[int, ...]:
        numbers = tuple(rng.randrange(3) for _ in range(long))
        return numbers[0] if long == 1 else numbers

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tt.NoiseWarning)
        for _ in range(rng.randrange(1, 30)):
            chosen = rng.sample(names, 3)
            objects = [tt.Object(k, name, m=value()) for k, name in enumerate(chosen)]
            before = tt.State(schema, objects)
            after = before.replace(0, m=value())
            model.observe(before, rng.choice(schema.actions), after)
    content = model.to_bytes()
    if tt.TreeThink.from_bytes(content).to_bytes() != content:
        return "a copy is different"
    for key in [*model.rules.varying()][:3]:
        use_rule(model, model.rules[key])
    if many < 100:
        with suppress(tt.TreeThinkError):
            model.to_python(folder / "rules.py")
            compile((folder / "rules.py").read_text(encoding="utf-8"), "rules.py", "exec")
        with suppress(tt.TreeThinkError):
            model.to_prolog(folder / "rules.pl")
    return None


ATTACKS = [
    Attack(
        "values at the ends of 64 bits",
        "what does not fit is refused with one error; all else is learned, explained and saved",
        200,
        learn_extremes,
    ),
    Attack(
        "odd names, many classes, long vectors",
        "they are learned, printed, exported and saved, or one TreeThinkError says why not",
        100,
        learn_odd_schema,
    ),
]
