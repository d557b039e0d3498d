"""Attacks with logs and schema files that are damaged, or that somebody wrote on purpose."""

from __future__ import annotations

import random
import warnings
from contextlib import suppress
from pathlib import Path

import treethink as tt
from torture import Attack

LOGS = Path(__file__).parents[2] / "examples" / "logs"
#: Cells, names and values that some reader may not expect.
ODD = [
    "",
    '"',
    "'",
    "nan",
    "-inf",
    "Infinity",
    "1e400",
    "-1e-400",
    "9" * 60,
    "9" * 400,
    "1" * 5_000,
    "9223372036854775808",
    "-9223372036854775808",
    "1.5",
    "(1, 2)",
    "[1 2 3]",
    "()",
    "true",
    "null",
    "{}",
    "[]",
    "[null]",
    '"\\ud800"',
    "\x1b[31m",
    "a.b.c",
    ".",
    "x[0]",
    "id",
    "class",
    "next.",
    "transition",
    "__class__",
    "😀",
    "\u202e",
    "a" * 70_000,
    "\r",
    "\n",
    "\0",
    ",",
    "[" * 500 + "]" * 500,
    "[" * 100_000,
    '{"a":' * 600 + "1" + "}" * 600,
    '{"a":' * 5_000 + "1" + "}" * 5_000,
]


def damaged(rng: random.Random, text: str) -> str:
    """Return the text with a few changes: characters, whole words, and lines."""
    for _ in range(rng.choice([1, 1, 2, 5])):
        start = rng.randrange(len(text) + 1)
        match rng.randrange(6):
            case 0:
                text = text[:start] + rng.choice('",;.[]{}=:#-0\t\n ') + text[start + 1 :]
            case 1:
                text = text[:start] + text[start + rng.randint(1, 40) :]
            case 2:
                lines = text.splitlines(keepends=True) or [""]
                lines.insert(rng.randrange(len(lines)), rng.choice(lines))
                text = "".join(lines)
            case _:
                ends = [k for k, letter in enumerate(text) if letter in ',:={}[]\n" '] or [0, 0]
                at = rng.randrange(len(ends))
                end = ends[at + 1] if at + 1 < len(ends) else len(text)
                text = text[: ends[at] + 1] + rng.choice(ODD) + text[end:]
    return text


def sources() -> list[Path]:
    return sorted(each for each in LOGS.iterdir() if each.suffix in (".csv", ".jsonl"))


def first_lines(path: Path, rng: random.Random) -> str:
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(lines[: rng.randint(2, 60)])


def damaged_log(rng: random.Random, folder: Path) -> str | None:
    """Read a damaged log, with a schema or without; learn from what is read."""
    source = rng.choice(sources())
    path = folder / source.name
    text = damaged(rng, first_lines(source, rng))
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    if rng.random() < 0.1:
        content = bytearray(path.read_bytes())
        content[rng.randrange(len(content))] = rng.randrange(256)
        path.write_bytes(content)
    read = tt.read_csv if source.suffix == ".csv" else tt.read_jsonl
    with suppress(tt.TreeThinkError), warnings.catch_warnings():
        warnings.simplefilter("ignore", tt.NoiseWarning)
        log = read(path)
        model = tt.TreeThink(log.schema)
        model.observe_many(log)
        tt.TreeThink.from_bytes(model.to_bytes())
        tt.write_schema(log.log_schema, folder / "schema.toml")
        if tt.read_schema(folder / "schema.toml") != log.log_schema:
            return "the schema that was written is read as another one"
    return None


def damaged_schema_file(rng: random.Random, folder: Path) -> str | None:
    """Read a damaged schema file; read the log with it."""
    source = rng.choice(sources())
    read = tt.read_csv if source.suffix == ".csv" else tt.read_jsonl
    log, path = folder / source.name, folder / "schema.toml"
    log.write_text(first_lines(source, rng), encoding="utf-8")
    with suppress(tt.TreeThinkError):
        tt.write_schema(read(log).log_schema, path)
        text = damaged(rng, path.read_text(encoding="utf-8"))
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        schema = tt.read_schema(path)
        read(log, schema)
    return None


ATTACKS = [
    Attack(
        "damaged log",
        "it is read, learned and saved, or one TreeThinkError says why not",
        1_000,
        damaged_log,
    ),
    Attack(
        "damaged schema file",
        "it is read, and the log with it, or one TreeThinkError says why not",
        1_000,
        damaged_schema_file,
    ),
]
