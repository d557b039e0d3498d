"""The pictures of docs/how-it-works.md, drawn from real runs with seeds.

    world, model, twin -> [ pictures ] -> SVG

Nothing in them is drawn by hand: levels and trees are drawn as the package draws them, and every
number is counted here. `level`, `canvas` and `plot` are the parts of pictures, `doors_run` is the
run that most of them show, and the other modules are named after the pictures that they draw.
"""

import sys
from pathlib import Path

# The slow twin of the engine, which has counts that the engine does not show, is in tests/.
sys.path.append(str(Path(__file__).resolve().parents[2] / "tests" / "twins"))
