"""Where a model is wrong about a world, and where two models disagree.

counterexample  `model.check(world, n)`: a `Check`
diff            `model.diff(other)`: a `Diff`, from play or from random states
boards          the level of a counterexample, as pictures for notebooks
minimize        the smallest state that still shows something (delta debugging)
"""

from treethink.explain import notebook
from treethink.explain.compare.counterexample import Check
from treethink.explain.compare.diff import Diff

__all__ = ["Check", "Diff"]

notebook.install_on(
    Check,
    _repr_html_="treethink.explain.compare.boards:check_html",
    _repr_svg_="treethink.explain.compare.boards:check_svg",
)
