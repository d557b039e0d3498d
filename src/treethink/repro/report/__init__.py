"""Tables and plots from records, with a verdict on every claim of the paper.

    records -> [ report ] -> index.html, results.md, SVG and PNG files

A report is made from records alone, so it can be made again at any time, on any machine.
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
    """Write the report on a folder of records; return the path of the HTML page.

    Without `out` it goes to the folder `report` beside the records. `text` is the path of the
    Markdown version, which links to the plots; without it, `results.md` beside the page.
    """
    from treethink.repro.report.claims import CLAIMS, judge_all
    from treethink.repro.report.data import read_all
    from treethink.repro.report.markdown import markdown
    from treethink.repro.report.page import page
    from treethink.repro.report.provenance import facts, origin, split
    from treethink.repro.report.sections import Report, sections

    data = read_all(Path(folder))
    target = _own_folder(Path(folder)) if out is None else Path(out)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordsError(f"cannot write to {target}: {error.strerror or error}") from None
    figures, others = split(data)
    verdicts = [each for each in judge_all(figures) if each.claim.can_be_judged(figures)]
    left_out = len({claim.text for claim in CLAIMS} - {each.claim.text for each in verdicts})
    report = Report(
        title=_title(data, figures),
        origin=origin(data, figures),
        facts=facts(data),
        claims=tuple(verdicts),
        parts=tuple(sections(figures, others, verdicts, target)),
        left_out=left_out if figures.records else 0,
    )
    results = target / "results.md" if text is None else Path(text)
    plots = Path(os.path.relpath(target, results.parent)).as_posix()
    results.write_text(markdown(report, plots), encoding="utf-8", newline="\n")
    index = target / "index.html"
    index.write_text(page(report, target), encoding="utf-8", newline="\n")
    return index


def _own_folder(records: Path) -> Path:
    """Return the folder `report` beside the records; refuse links, which may lead anywhere.

    Records may come from others, who may have put links there.
    """
    target = records / "report"
    for path in (target, *target.rglob("*")):
        if path.is_symlink():
            raise RecordsError(
                f"{path} is a symbolic link, and the report must stay in its folder:"
                " delete it, or choose a folder with --out"
            )
    return target


def _title(data: Data, figures: Data) -> str:
    """Return the title of the only experiment, or one for several."""
    if len(data.records) == 1:
        ((name, only),) = data.records.items()
        return str(only.manifest.get("title") or name)
    return "Results: the paper's figures and claims" if figures.records else "Results"
