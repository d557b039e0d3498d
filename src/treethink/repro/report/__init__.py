"""Tables and plots from records, with a verdict on every claim of the paper.

    records -> [ report ] -> index.html, results.md, SVG and PNG files

Records are all that is read, so a report can be made again at any time, anywhere.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from treethink.errors import RecordsError

if TYPE_CHECKING:
    from treethink.repro.report.data import Data

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
    from treethink.repro.report.claims import CLAIMS, judged
    from treethink.repro.report.data import read_all
    from treethink.repro.report.figure_records import parted
    from treethink.repro.report.manifest import facts
    from treethink.repro.report.markdown import markdown
    from treethink.repro.report.page import page
    from treethink.repro.report.provenance import origin
    from treethink.repro.report.sections import Report, sections

    data = read_all(Path(folder))
    target = Path(folder) / "report" if out is None else Path(out)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordsError(f"cannot write to {target}: {error.strerror or error}") from None
    figures, own = parted(data)
    found = [each for each in judged(figures) if each.claim.can_be_judged(figures)]
    left_out = len({claim.text for claim in CLAIMS} - {each.claim.text for each in found})
    parts = list(sections(figures, own, found, target))
    about = Report(
        _title(data, figures), origin(data, figures), facts(data), tuple(found), tuple(parts),
        left_out if figures.records else 0,
    )  # fmt: skip
    beside = target / "results.md" if text is None else Path(text)
    plots = Path(os.path.relpath(target, beside.parent)).as_posix()
    beside.write_text(markdown(about, plots), encoding="utf-8", newline="\n")
    index = target / "index.html"
    index.write_text(page(about, target), encoding="utf-8", newline="\n")
    return index


def _title(data: Data, figures: Data) -> str:
    """Of one experiment its own; of many, that of the paper's figures."""
    if len(data.records) == 1:
        ((name, only),) = data.records.items()
        return str(only.manifest.get("title") or name)
    return "Results: the paper's figures and claims" if figures.records else "Results"
