"""The pictures of docs/how-it-works.md, drawn from real runs with seeds.

    world, model, twin -> [ pictures ] -> SVG

Nothing in them is drawn by hand: levels and trees are drawn as the package draws them, and every
number is counted here. `level`, `canvas` and `plot` are what they are made of, `learned` is the
run that most of them show.
"""

import sys
from pathlib import Path

# The slow twin of the engine, which keeps what the engine does not tell, lies with the tests.
sys.path.append(str(Path(__file__).resolve().parents[2] / "tests" / "twins"))
