"""All leaves of a model as a pandas data frame, one row for each.

Only this module needs pandas; ``treethink[notebook]`` installs it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from treethink.errors import MissingPackageError
from treethink.explain.summary.leaves import Leaf
from treethink.explain.summary.summary import Summary, summary_of

if TYPE_CHECKING:
    from treethink.model import TreeThink

#: The columns with their pandas types, which an empty frame has too.
COLUMNS = {
    "rule": "str",
    "class": "str",
    "attribute": "str",
    "action": "str",
    "path": "str",
    "tests": "str",
    "outcome": "object",
    "count": "int64",
    "observations": "int64",
    "share": "float64",
    "confidence": "float64",
    "written": "bool",
}


def frame_of(model: TreeThink) -> Any:
    """Return a `pandas.DataFrame`; a leaf that has seen nothing has no outcome and no share."""
    pandas = _pandas()
    rows = rows_of(summary_of(model))
    return pandas.DataFrame(
        {
            name: pandas.Series([row[name] for row in rows], dtype=kind)
            for name, kind in COLUMNS.items()
        }
    )


def rows_of(summary: Summary) -> list[dict[str, Any]]:
    """Return the rows as dicts, rule by rule, leaves from left to right."""
    titles = {key: each.title for key, each in summary.rules.items()}
    return [_row(titles[leaf.rule], leaf) for leaf in summary.leaves]


def _row(title: str, leaf: Leaf) -> dict[str, Any]:
    return {
        "rule": title,
        **dict(zip(("class", "attribute", "action"), leaf.rule, strict=True)),
        "path": leaf.path,
        "tests": " and ".join(leaf.tests),
        "outcome": leaf.outcome,
        "count": leaf.count,
        "observations": leaf.total,
        "share": leaf.share,
        "confidence": leaf.confidence,
        "written": leaf.written,
    }


def _pandas() -> Any:
    try:
        return import_module("pandas")
    except ImportError as error:
        raise MissingPackageError(
            "data frames are made by pandas, which is not installed:"
            ' pip install "treethink[notebook]"'
        ) from error
