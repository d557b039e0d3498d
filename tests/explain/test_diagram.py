"""Pictures of rules: tidy, complete, the same everywhere, and no name breaks them.

The texts for Graphviz and Mermaid are golden files. After a wanted change, rewrite and read them:

    REWRITE_GOLDEN=1 pytest tests/explain/test_diagram.py
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from golden import check_golden
from models import learned
from treethink import cli
from treethink.errors import MissingPackageError, SettingError, UnknownNameError, WrongTypeError
from treethink.export import dot, mermaid, png
from treethink.export.boxes import MAX_OUTCOMES, WIDTH, Box, boxes_of
from treethink.export.files import FORMATS, check_target, draw_all, file_names, picture
from treethink.export.layout import Layout, Place, tidy
from treethink.export.shapes import size_of, texts_of
from treethink.model import TreeThink
from treethink.rules import EngineNode, Rule
from treethink.stream.random_play import transitions
from treethink.worlds import make

IMAGES = Path(__file__).parents[2] / "docs" / "images"
quick = settings(deadline=None, derandomize=True, max_examples=60)


# ---------------------------------------------------------------- rules to draw


def leaf(counts: dict[Any, int]) -> Any:
    return (None, None, ("dot",), counts, None)


def branch(left: int, right: int, class_name: str, value: tuple[int, ...] = (1,)) -> Any:
    """Return a node that tests whether there is another object with that value."""
    return (left, right, ("dot",), {}, ("equality", ("x",), (class_name,), (1,), value))


def chain(depth: int) -> Rule:
    """Return a rule of nested tests, each in the false branch of the one before."""
    nodes: list[EngineNode] = []
    for x in range(depth):
        nodes += [branch(2 * x + 1, 2 * x + 2, "dot", (x,)), leaf({(x % 2,): x + 1})]
    return Rule("tree", ("dot",), depth, {(0,): 1, (1,): 1}, [*nodes, leaf({})])


def rule_with_names(title: str, class_name: str, outcome: Any = (0, 0)) -> Rule:
    """Return a rule with these names: a test, a deterministic leaf and an empty one."""
    nodes = [branch(1, 2, class_name), leaf({outcome: 3}), leaf({})]
    return Rule(title, (class_name,), 3, {outcome: 3, (1, 0): 1}, nodes)


def rule_with_many_outcomes() -> Rule:
    """Return a rule whose leaf has more outcomes than are listed."""
    counts = {(x, 0): 50 - x for x in range(20)}
    return Rule("fish.pos when step", ("fish",), 99, counts, [leaf(counts)])


ODD_NAMES = rule_with_names(
    '"go" when [a|b];\n{c} & <b>&lt;</b> --> %% \\N\\l',
    "1. `x` *y* _z_ #35; 世界 $\\pi$ www.a.b style:#fff;",
)


def maze_model() -> TreeThink:
    return learned("maze", 5000)


# ------------------------------------------------------------------- layout


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[tuple[float, float]], list[tuple[int, ...]]]:
    """Draw sizes and children of a tree; parents come first, with up to three children each."""
    count = draw(st.integers(1, 25))
    children: list[tuple[int, ...]] = [()] * count
    for each in range(1, count):
        free = [parent for parent in range(each) if len(children[parent]) < 3]
        parent = free[draw(st.integers(0, len(free) - 1))]
        children[parent] += (each,)
    side = st.integers(1, 60).map(float)
    return draw(st.lists(st.tuples(side, side), min_size=count, max_size=count)), children


def naive_layout(
    widths: list[float], children: list[tuple[int, ...]], gap: float, root: int = 0
) -> dict[int, tuple[float, int]]:
    """Return centre and row of all boxes by comparing each with all of the subtrees beside it."""
    placed: dict[int, tuple[float, int]] = {}
    for child in children[root]:
        below = naive_layout(widths, children, gap, child)
        push = max(
            (x + widths[a] / 2 + gap - (y - widths[b] / 2)
             for a, (x, row) in placed.items() for b, (y, other) in below.items() if row == other),
            default=0.0,
        )  # fmt: skip
        placed |= {each: (x + push, row) for each, (x, row) in below.items()}
    middle = 0.0
    if children[root]:
        middle = (placed[children[root][0]][0] + placed[children[root][-1]][0]) / 2
    return {root: (0.0, 0)} | {each: (x - middle, row + 1) for each, (x, row) in placed.items()}


def check_tidy(layout: Layout, children: list[tuple[int, ...]], gap_x: float, gap_y: float) -> None:
    places = layout.places
    rows: dict[int, list[Any]] = {}
    for place, below in zip(places, children, strict=True):
        rows.setdefault(place.row, []).append(place)
        for child in below:
            assert places[child].y >= place.bottom + gap_y
        if below:
            middle = (places[below[0]].centre + places[below[-1]].centre) / 2
            assert place.centre == pytest.approx(middle)
        for one, other in pairwise(below):
            assert places[one].centre < places[other].centre
    for row in rows.values():  # rows are apart, as children are below their parents
        assert len({place.y for place in row}) == 1
        for one, other in combinations(sorted(row, key=lambda place: place.x), 2):
            assert one.x + one.width + gap_x <= other.x + 1e-6
    assert min(place.x for place in places) == pytest.approx(0)
    assert max(place.x + place.width for place in places) == pytest.approx(layout.width)
    assert max(place.bottom for place in places) == layout.height


@quick
@given(trees())
def test_boxes_do_not_overlap_and_parents_are_centred_above_their_children(tree: Any) -> None:
    sizes, children = tree
    layout = tidy(sizes, children, gap_x=5, gap_y=7)
    check_tidy(layout, children, 5, 7)
    assert [(place.width, place.height) for place in layout.places] == sizes


@quick
@given(trees())
def test_the_layout_matches_the_naive_one(tree: Any) -> None:
    sizes, children = tree
    layout = tidy(sizes, children, gap_x=5, gap_y=7)
    twin = naive_layout([width for width, _ in sizes], children, 5)
    root = layout.places[0].centre
    for each, (x, row) in twin.items():
        assert layout.places[each].centre - root == pytest.approx(x)
        assert layout.places[each].row == row


def test_a_small_layout_has_the_expected_places() -> None:
    layout = tidy([(40, 10), (20, 10), (20, 30)], [(1, 2), (), ()], gap_x=10, gap_y=5)
    assert [(place.x, place.y) for place in layout.places] == [(5, 0), (0, 15), (30, 15)]
    assert (layout.width, layout.height, layout.bottoms) == (50, 45, [10, 45])


def test_very_deep_trees_can_be_laid_out() -> None:
    boxes = boxes_of(chain(5_000))
    layout = tidy([size_of(box) for box in boxes], [box.children for box in boxes], 5, 7)
    assert len(layout.places) == 10_002
    assert len(layout.bottoms) == 5_002


# -------------------------------------------------------------- contents of boxes


def test_boxes_have_title_variables_tests_and_outcomes() -> None:
    boxes = boxes_of(maze_model().rules["game", "score", "left"])
    assert [(box.kind, box.lines, box.children) for box in boxes] == [
        ("header", ("game.score when left", "X0: game"), (1,)),
        ("branch", ("X1: wall, X2: player", "X2[pos] - X1[pos] = (1, 0)"), (2, 3)),
        ("leaf", ("-2 × 397",), ()),
        ("branch", ("X1: goal, X2: player", "X2[pos] - X1[pos] = (1, 0)"), (4, 5)),
        ("leaf", ("+1 × 47",), ()),
        ("leaf", ("-1 × 518",), ()),
    ]


def test_an_outcome_has_the_same_tone_in_all_leaves() -> None:
    nodes = [branch(1, 2, "dot"), leaf({(7,): 2}), leaf({(7,): 1, (5,): 8})]
    boxes = boxes_of(Rule("tree", ("dot",), 11, {(7,): 3, (5,): 8}, nodes))
    assert [[row.tone for row in box.rows] for box in boxes] == [[], [], [1], [0, 1]]


def test_rare_outcomes_are_grouped() -> None:
    rows = boxes_of(rule_with_many_outcomes())[1].rows
    assert len(rows) == MAX_OUTCOMES
    assert str(rows[0]) == "(0, 0) × 50 (6%)"
    assert rows[-1].outcome == "13 others"
    assert sum(row.count for row in rows) == rows[0].total


@pytest.mark.parametrize("form", ["svg", "dot", "mermaid"])
def test_unseen_and_constant_rules_are_drawn_as_one_leaf(form: str) -> None:
    model = TreeThink(make("walls").schema)
    unseen = model.rules["player", "pos", "up"]
    model.observe_many(transitions(make("walls"), steps=100, seed=0))
    constant = model.rules["wall", "pos", "up"]
    assert boxes_of(unseen)[1].lines == ("not seen yet",)
    assert boxes_of(constant)[1].lines == (f"stays × {sum(constant.seen.values())}",)
    for rule in (unseen, constant):
        text = {"svg": svg_of, "dot": Rule.to_dot, "mermaid": Rule.to_mermaid}[form](rule)
        assert ("not seen yet" in text) == (rule is unseen)


names = st.text(min_size=1, max_size=80).filter(lambda text: text.isascii() or text.isprintable())


@quick
@given(names, names, names)
def test_any_name_becomes_short_printable_lines(title: str, class_name: str, outcome: str) -> None:
    boxes = boxes_of(rule_with_names(title, class_name, outcome))
    assert len(boxes) == 4
    for box in boxes:
        for line in (*box.head, *box.body, *(row.outcome for row in box.rows)):
            assert 0 < len(line) <= WIDTH
            assert line.isprintable()


# ----------------------------------------------------------- Graphviz, Mermaid


STRING = r'"((?:[^"\\]|\\.)*)"'
PAIR = rf"\w+=(?:{STRING}|[\w.]+)"
DOT_LINE = re.compile(rf"    (\w+)(?: -> (\w+))? \[({PAIR}(?:, {PAIR})*)\];")


def read_dot(text: str) -> tuple[dict[str, list[str]], list[tuple[str, str, str]]]:
    """Return the labels of nodes and the edges. Anything outside of our small grammar fails."""
    first, *lines, last = text.splitlines()
    assert (first, last) == ("digraph rule {", "}")
    nodes: dict[str, list[str]] = {}
    edges = []
    for line in lines:
        match = DOT_LINE.fullmatch(line)
        assert match, line
        start, end, attributes = match[1], match[2], match[3]
        label = re.search(rf"\blabel={STRING}", attributes)
        if end:
            edges.append((start, end, label[1].strip() if label else ""))
        elif label:
            nodes[start] = dot_lines(label[1])
    return nodes, edges


def dot_lines(label: str) -> list[str]:
    r"""Return the lines as Graphviz reads them: `\n` ends a line, `\x` is x, and `&amp;` is `&`."""
    lines, escaped = [""], False
    for character in label:
        if escaped:
            assert character in '\\"n', label  # other escapes have a meaning
            lines += [""] if character == "n" else []
            lines[-1] += character if character != "n" else ""
            escaped = False
        elif character == "\\":
            escaped = True
        else:
            lines[-1] += character
    assert all(re.fullmatch(r"(?:[^&]|&amp;)*", line) for line in lines)
    return [line.replace("&amp;", "&") for line in lines]


NODE = re.compile(r'    (n\d+)(?:\["(.*)"\]|\("(.*)"\)):::(\w+)')
LINK = re.compile(r"    (n\d+) -->(?:\|(yes|no)\|)? (n\d+)")
CLASS = re.compile(r"    classDef (\w+) (?:[\w-]+:#?\w+,?)+")


def read_mermaid(text: str) -> tuple[dict[str, list[str]], list[tuple[str, str, str]]]:
    """Return the labels of nodes and the edges of a flowchart."""
    directive, first, *lines = text.splitlines()
    assert directive.startswith("%%{init: ") and first == "flowchart TD"
    nodes: dict[str, list[str]] = {}
    edges, used_styles, defined_styles = [], set(), set()
    for line in lines:
        if node := NODE.fullmatch(line):
            nodes[node[1]] = mermaid_lines(node[2] or node[3])
            used_styles.add(node[4])
        elif link := LINK.fullmatch(line):
            edges.append((link[1], link[3], link[2] or ""))
        else:
            style = CLASS.fullmatch(line)
            assert style, line
            defined_styles.add(style[1])
    assert used_styles == defined_styles
    return nodes, edges


def mermaid_lines(label: str) -> list[str]:
    lines = label.split("<br/>")
    for line in lines:
        plain = re.sub(r"#\d+;", "", line)
        assert not set(plain) & set('"#;<>&|{}`*~\\$@^!?/'), line
        assert not re.match(r"[-+]\s|[-+]$|\d+[.)](\s|$)", line), line  # Markdown would read a list
        assert not re.search(r"www\.|:(?! )", line, re.IGNORECASE), line
    return [re.sub(r"#(\d+);", lambda code: chr(int(code[1])), line) for line in lines]


READERS = {"dot": (dot.text_of, read_dot), "mmd": (mermaid.text_of, read_mermaid)}


def check_complete(boxes: list[Box], nodes: Any, edges: Any) -> None:
    assert nodes == {f"n{number}": list(box.lines) for number, box in enumerate(boxes)}
    assert edges == [
        (f"n{number}", f"n{child}", answer)
        for number, box in enumerate(boxes)
        for child, answer in zip(
            box.children, ("yes", "no") if box.kind == "branch" else ("",), strict=False
        )
    ]


@pytest.mark.parametrize("ending", READERS)
@quick
@given(names, names, names)
def test_any_name_survives_being_written_and_read(
    ending: str, title: str, class_name: str, outcome: str
) -> None:
    write, read = READERS[ending]
    for rule in (rule_with_names(title, class_name, outcome), ODD_NAMES):
        check_complete(boxes_of(rule), *read(write(rule)))


@pytest.mark.parametrize("ending", READERS)
def test_a_tree_of_five_hundred_tests_is_written_completely(ending: str) -> None:
    write, read = READERS[ending]
    check_complete(boxes_of(chain(500)), *read(write(chain(500))))


@pytest.mark.parametrize("ending", READERS)
def test_texts_match_the_golden_files(ending: str) -> None:
    rules = {
        "maze": maze_model().rules["game", "score", "left"],
        "odd": ODD_NAMES,
        "crowd": rule_with_many_outcomes(),
    }
    for name, rule in rules.items():
        text = READERS[ending][0](rule)
        check_golden(f"rules_{name}.{ending}", text)


# ------------------------------------------------------------------- pictures


def svg_of(rule: Rule) -> str:
    return picture(rule, "svg").decode()


def texts_in(svg: str) -> list[str]:
    """Return the texts of an SVG."""
    texts = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    return [each.text or "" for each in texts]


def expected_texts(rule: Rule) -> list[str]:
    boxes = boxes_of(rule)
    answers = ["yes", "no"] * sum(box.kind == "branch" for box in boxes)
    return answers + [text.text for box in boxes for text in texts_of(box, Place(0, 0, 0, 0, 0))]


def test_a_picture_has_all_texts_of_its_rule() -> None:
    for rule in (maze_model().rules["game", "score", "left"], rule_with_many_outcomes(), chain(20)):
        assert texts_in(svg_of(rule)) == expected_texts(rule)


@pytest.mark.parametrize("title", ["-->", "a--b", "<svg>", "$x^2$", "世界", "\0\x1b", "é ☃ 😀"])
def test_a_picture_can_have_any_name(title: str) -> None:
    svg = svg_of(rule_with_names(title, title, title))
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert "&lt;svg&gt;" in svg if title == "<svg>" else "<b>" not in svg


def test_a_character_that_the_font_lacks_is_escaped() -> None:
    assert boxes_of(rule_with_names("世界", "dot"), png.can_write)[0].head == ("\\u4e16\\u754c",)
    assert "世界" in texts_in(
        svg_of(rule_with_names("世界", "dot"))
    )  # an SVG uses the viewer's fonts


def test_texts_fit_in_their_boxes() -> None:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    for rule in (maze_model().rules["game", "score", "left"], rule_with_many_outcomes(), ODD_NAMES):
        for box in boxes_of(rule, str.isascii):
            width, height = size_of(box)
            for text in texts_of(box, Place(0, 0, width, height, 0)):
                weight = "bold" if text.bold else "normal"
                font = FontProperties(family="DejaVu Sans Mono", weight=weight)
                extent = TextPath((0, 0), text.text, text.size, font).get_extents()
                part = {"left": 0.0, "center": 0.5, "right": 1.0}[text.anchor]
                left = text.x - part * extent.width
                assert left >= 4 and left + extent.width <= width - 4
                assert text.y - extent.y1 >= 2 and text.y - extent.y0 <= height - 2


def test_pictures_do_not_depend_on_matplotlib_settings() -> None:
    import matplotlib

    rule = rule_with_many_outcomes()
    for kind in FORMATS:
        first = picture(rule, kind)
        odd = {"svg.fonttype": "none", "font.size": 30, "figure.facecolor": "red"}
        with matplotlib.rc_context(odd):
            before = dict(matplotlib.rcParams)
            assert picture(rule, kind) == first, kind
            assert dict(matplotlib.rcParams) == before


def test_drawing_in_threads_does_not_change_matplotlib_settings() -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    alone = picture(ODD_NAMES, "pdf")
    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(lambda _: picture(ODD_NAMES, "pdf"), range(12))) == {alone}
    assert dict(matplotlib.rcParams) == before


def test_the_file_extension_decides_the_format(tmp_path: Path) -> None:
    for ending, start in {"svg": b"<svg", "PNG": b"\x89PNG", "pdf": b"%PDF"}.items():
        path = tmp_path / f"rule.{ending}"
        assert ODD_NAMES.draw(path) is None
        assert path.read_bytes().startswith(start)
    ODD_NAMES.draw(str(path))
    with Image.open(tmp_path / "rule.PNG") as image:
        colours = image.convert("RGB").getcolors(1 << 20)
        assert colours is not None and (205, 234, 203) in {colour for _, colour in colours}
    assert len(list(tmp_path.iterdir())) == 3


def test_a_very_large_tree_can_be_drawn_as_svg_but_not_as_png(tmp_path: Path) -> None:
    rule = chain(500)
    rule.draw(tmp_path / "rule.svg")
    assert len(texts_in((tmp_path / "rule.svg").read_text(encoding="utf-8"))) == len(
        expected_texts(rule)
    )
    with pytest.raises(
        SettingError, match=r"too large for a PNG.*\d+ x \d+ inches.*\.svg or \.pdf"
    ):
        rule.draw(tmp_path / "rule.png")
    assert not (tmp_path / "rule.png").exists()


def test_the_resolution_of_a_large_png_is_reduced() -> None:
    assert png.resolution(300, 300) == png.DPI
    for width, height in [(5_000, 5_000), (20_000, 100), (100, 40_000)]:
        dpi = png.resolution(width, height)
        assert png.MIN_DPI <= dpi < png.DPI
        assert width * height / 72**2 * dpi**2 <= png.MAX_PIXELS
        assert max(width, height) / 72 * dpi <= png.MAX_SIDE


@pytest.mark.parametrize(
    ("path", "error", "message"),
    [
        ("rule.sgv", UnknownNameError, "unknown format 'sgv' in the path .* mean 'svg'"),
        ("rule", UnknownNameError, "unknown format '' .*Known: 'pdf', 'png', 'svg'"),
        ("missing/rule.svg", SettingError, "there is no folder missing"),
        ("folder.svg", SettingError, "folder.svg: it is a folder"),
        (3, WrongTypeError, "a path must be a str or a Path, got 3"),
    ],
)
def test_invalid_paths_are_refused(
    path: Any, error: type[Exception], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder.svg").mkdir()
    with pytest.raises(error, match=message):
        ODD_NAMES.draw(path)
    assert [each.name for each in tmp_path.iterdir()] == ["folder.svg"]


def test_without_matplotlib_only_png_and_pdf_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for ending in ("png", "pdf"):
        message = rf"a .{ending} of a rule, unlike an .svg, .* pip install '\.\[experiments\]'"
        with pytest.raises(MissingPackageError, match=message):
            ODD_NAMES.draw(tmp_path / f"rule.{ending}")
        with pytest.raises(MissingPackageError, match=message):
            check_target(tmp_path / f"rule.{ending}")
    check_target(tmp_path / "rule.svg")
    ODD_NAMES.draw(tmp_path / "rule.svg")
    assert (tmp_path / "rule.svg").read_text(encoding="utf-8") == f"{ODD_NAMES.to_svg()}\n"
    draw_all({("a", "b", "c"): ODD_NAMES}, tmp_path / "folder")
    assert [each.name for each in (tmp_path / "folder").iterdir()] == ["a.b.c.svg"]
    assert ODD_NAMES.to_dot() and ODD_NAMES.to_mermaid()


def test_matplotlib_is_imported_lazily_and_pyplot_never(tmp_path: Path) -> None:
    program = (
        "import sys, treethink as tt, treethink.cli\n"
        "rule = tt.TreeThink(tt.make('walls').schema).rules['player', 'pos', 'up']\n"
        "rule.to_dot(), rule.to_mermaid(), rule.draw('rule.svg')\n"
        "assert 'matplotlib' not in sys.modules\n"
        "rule.draw('rule.png')\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)


def test_the_pictures_of_the_docs_are_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("make_rules", IMAGES / "make_rules.py")
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert {path.name for path in IMAGES.glob("rule_*")} == set(script.RULES)
    for name in script.RULES:
        svg = (IMAGES / name).read_text(encoding="utf-8")
        assert texts_in(svg) == expected_texts(script.learned(name)), name


# ---------------------------------------------------------------- command line


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that runs `treethink rules`; it returns exit code, output and error."""
    monkeypatch.chdir(tmp_path)
    maze_model().save("maze.tt")

    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as exit_:
            cli.main(["rules", *arguments])
        out, err = capsys.readouterr()
        return int(exit_.value.code or 0), out, err

    return call


def test_rules_are_drawn_into_a_folder_one_file_each(run: Any) -> None:
    code, out, _ = run("maze.tt", "--draw", "pictures")
    assert (code, out) == (0, "9 rules drawn to pictures\n")
    rules = TreeThink.load("maze.tt").rules.varying()
    files = {path.name: path for path in Path("pictures").iterdir()}
    assert set(files) == {f"{'.'.join(key)}.svg" for key in rules}
    for key, rule in rules.items():
        svg = files[f"{'.'.join(key)}.svg"].read_text(encoding="utf-8")
        assert texts_in(svg) == expected_texts(rule)
    assert run("maze.tt", "--draw", "pictures", "--rule", "wall.pos.up")[0] == 0
    assert len(list(Path("pictures").iterdir())) == 10  # a rule given by name may be constant


def test_one_rule_is_drawn_to_a_file(run: Any) -> None:
    code, out, _ = run("maze.tt", "--rule", "game.score.left", "--draw", "score.png")
    assert (code, out) == (0, "1 rule drawn to score.png\n")
    assert Path("score.png").read_bytes().startswith(b"\x89PNG")


def test_rules_are_printed_in_the_requested_style(run: Any) -> None:
    model = TreeThink.load("maze.tt")
    rule = model.rules["game", "score", "left"]
    for style, text in {"dot": rule.to_dot(), "mermaid": rule.to_mermaid()}.items():
        assert run("maze.tt", "--rule", "game.score.left", "--style", style)[1] == text
        assert text in run("maze.tt", "--style", style)[1]
    assert run("maze.tt", "--style", "text")[1] == run("maze.tt")[1]
    assert run("maze.tt", "--style", "dot")[1].count("digraph") == len(model.rules.varying())


def test_nothing_is_drawn_if_no_rule_varies(run: Any) -> None:
    TreeThink(make("maze").schema).save("new.tt")
    code, out, _ = run("new.tt", "--draw", "pictures")
    assert code == 0 and out.startswith("nothing to draw")
    assert not Path("pictures").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--draw pictures/deep", "there is no folder pictures"),
        ("--draw rules.sgv", "unknown format 'sgv' .*Did you mean 'svg'"),
        ("--draw taken", "it is a file"),
        ("--draw rules.svg", "say which with --rule"),
        ("--draw rules.svg --rule game.score", "cannot draw 5 rules to the file rules.svg"),
        ("--draw rules.svg --rule game.scor.left", "Did you mean 'game.score.left'"),
        ("--draw pictures --style dot", "leave out one"),
        ("--style dott", "unknown style 'dott' .*Did you mean 'dot'"),
    ],
)
def test_errors_are_one_line_and_leave_no_files(run: Any, arguments: str, message: str) -> None:
    Path("taken").write_text("a file")
    before = set(Path().iterdir())
    code, out, err = run("maze.tt", *arguments.split())
    assert (code, out) == (2, "")
    assert re.match(f"treethink: .*{message}", err) and len(err.splitlines()) == 1
    assert set(Path().iterdir()) == before


def test_file_names_are_safe_and_unique() -> None:
    keys = [("a/b", "x", ".."), ("A\\B", "x", "?!"), ("世" * 200, "x", "go"), ("c", "x", "go")]
    file_stems = file_names([*keys, *keys])
    assert len({name.casefold() for name in file_stems}) == 8
    assert all(re.fullmatch(r"[\w.-]+", name) and len(name.encode()) < 250 for name in file_stems)
    assert file_stems[3] == "c.x.go"
