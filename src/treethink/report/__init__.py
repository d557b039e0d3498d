"""Tables and plots from records, with a verdict on every claim of the paper.

    records -> [ report ] -> index.html, results.md, SVG and PNG files

Records are all that is read, so a report can be made again at any time, anywhere.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from treethink.errors import RecordsError

__all__ = ["write"]


def write(
    folder: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    text: str | os.PathLike[str] | None = None,
) -> Path:
    """Write the report on a folder of records; returns the page's path.

    Without `out` it goes to the folder `report` beside the records. `text` says where the same as
    Markdown goes, with links to the plots, if not beside them.
    """
    from treethink.report.claims import judged
    from treethink.report.data import read_all
    from treethink.report.manifest import facts
    from treethink.report.markdown import markdown
    from treethink.report.page import page
    from treethink.report.sections import overview, sections

    data = read_all(Path(folder))
    target = Path(folder) / "report" if out is None else Path(out)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordsError(f"cannot write to {target}: {error.strerror or error}") from None
    # Of what was not run, nothing is said.
    found = [j for j in judged(data) if any(name in data.records for name in j.claim.figures)]
    parts = list(sections(data, found, target))
    about, claims = facts(data), overview(found)
    title = _title(data.records)
    beside = target / "results.md" if text is None else Path(text)
    plots = Path(os.path.relpath(target, beside.parent)).as_posix()
    beside.write_text(markdown(title, about, claims, parts, plots), encoding="utf-8")
    index = target / "index.html"
    index.write_text(page(title, about, claims, parts, target), encoding="utf-8")
    return index


def _title(records: Mapping[str, Any]) -> str:
    """Of one experiment its own; of many, that of the paper's figures."""
    if len(records) == 1:
        (only,) = records.values()
        return str(only.manifest.get("title") or next(iter(records)))
    return "TreeThink: the paper's figures and claims, from records"
