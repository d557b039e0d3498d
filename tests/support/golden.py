"""Golden files: texts that people read, compared with what is in tests/golden.

After an intended change, rewrite the files and read the difference:

    REWRITE_GOLDEN=1 pytest tests/explain
"""

from __future__ import annotations

import os
from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "golden"


def check_golden(name: str, text: str) -> None:
    """Compare a text with the golden file of that name, or write it with REWRITE_GOLDEN."""
    path = GOLDEN / name
    if os.environ.get("REWRITE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text, name
