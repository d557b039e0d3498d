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
    """Asks whether there is another object with that value."""
    return (left, right, ("dot",), {}, ("equality", "x", (class_name,), (1,), value))


def chain(depth: int) -> Rule:
    """Tests one below the other."""
    nodes: list[EngineNode] = []
    for x in range(depth):
        nodes += [branch(2 * x + 1, 2 * x + 2, "dot", (x,)), leaf({(x % 2,): x + 1})]
    return Rule("tree", ("dot",), depth, {(0,): 1, (1,): 1}, [*nodes, leaf({})])


def named(title: str, class_name: str, outcome: Any = (0, 0)) -> Rule:
    """A test, a leaf that is sure, and one that was never reached."""
    nodes = [branch(1, 2, class_name), leaf({outcome: 3}), leaf({})]
    return Rule(title, (class_name,), 3, {outcome: 3, (1, 0): 1}, nodes)


def crowd() -> Rule:
    """A leaf with more outcomes than are listed."""
    counts = {(x, 0): 50 - x for x in range(20)}
    return Rule("fish.pos when step", ("fish",), 99, counts, [leaf(counts)])


ODD = named(
    '"go" when [a|b];\n{c} & <b>&lt;</b> --> %% \\N\\l',
    "1. `x` *y* _z_ #35; 世界 $\\pi$ www.a.b style:#fff;",
)


def maze() -> TreeThink:
    return learned("maze", 5000)


# ------------------------------------------------------------------- the layout


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[tuple[float, float]], list[tuple[int, ...]]]:
    """Sizes and children of a random tree: parents come first, each has up to three children."""
    count = draw(st.integers(1, 25))
    children: list[tuple[int, ...]] = [()] * count
    for each in range(1, count):
        free = [parent for parent in range(each) if len(children[parent]) < 3]
        parent = free[draw(st.integers(0, len(free) - 1))]
        children[parent] += (each,)
    side = st.integers(1, 60).map(float)
    return draw(st.lists(st.tuples(side, side), min_size=count, max_size=count)), children


def naive(
    widths: list[float], children: list[tuple[int, ...]], gap: float, root: int = 0
) -> dict[int, tuple[float, int]]:
    """Centre and row of all boxes: every box of a subtree is compared with every one beside it."""
    placed: dict[int, tuple[float, int]] = {}
    for child in children[root]:
        below = naive(widths, children, gap, child)
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
def test_no_boxes_overlap_and_parents_stand_centred_above_their_children(tree: Any) -> None:
    sizes, children = tree
    layout = tidy(sizes, children, gap_x=5, gap_y=7)
    check_tidy(layout, children, 5, 7)
    assert [(place.width, place.height) for place in layout.places] == sizes


@quick
@given(trees())
def test_the_layout_is_that_of_comparing_every_box_with_every_other(tree: Any) -> None:
    sizes, children = tree
    layout = tidy(sizes, children, gap_x=5, gap_y=7)
    twin = naive([width for width, _ in sizes], children, 5)
    root = layout.places[0].centre
    for each, (x, row) in twin.items():
        assert layout.places[each].centre - root == pytest.approx(x)
        assert layout.places[each].row == row


def test_a_small_layout_is_as_one_would_draw_it() -> None:
    layout = tidy([(40, 10), (20, 10), (20, 30)], [(1, 2), (), ()], gap_x=10, gap_y=5)
    assert [(place.x, place.y) for place in layout.places] == [(5, 0), (0, 15), (30, 15)]
    assert (layout.width, layout.height, layout.bottoms) == (50, 45, [10, 45])


def test_depth_is_no_limit() -> None:
    boxes = boxes_of(chain(5_000))
    layout = tidy([size_of(box) for box in boxes], [box.children for box in boxes], 5, 7)
    assert len(layout.places) == 10_002
    assert len(layout.bottoms) == 5_002


# -------------------------------------------------------------- what they say


def test_boxes_have_the_title_the_variables_the_tests_and_the_outcomes() -> None:
    boxes = boxes_of(maze().rules["game", "score", "left"])
    assert [(box.kind, box.lines, box.children) for box in boxes] == [
        ("header", ("game.score when left", "X0: game"), (1,)),
        ("branch", ("X1: wall, X2: player", "X2[pos] - X1[pos] = (1, 0)"), (2, 3)),
        ("leaf", ("-2 × 397",), ()),
        ("branch", ("X1: goal, X2: player", "X2[pos] - X1[pos] = (1, 0)"), (4, 5)),
        ("leaf", ("1 × 47",), ()),
        ("leaf", ("-1 × 518",), ()),
    ]


def test_an_outcome_has_one_tone_in_all_leaves_the_commonest_the_first() -> None:
    nodes = [branch(1, 2, "dot"), leaf({(7,): 2}), leaf({(7,): 1, (5,): 8})]
    boxes = boxes_of(Rule("tree", ("dot",), 11, {(7,): 3, (5,): 8}, nodes))
    assert [[row.tone for row in box.rows] for box in boxes] == [[], [], [1], [0, 1]]


def test_of_very_many_outcomes_the_rare_ones_are_counted_together() -> None:
    rows = boxes_of(crowd())[1].rows
    assert len(rows) == MAX_OUTCOMES
    assert str(rows[0]) == "(0, 0) × 50 (6%)"
    assert rows[-1].outcome == "13 others"
    assert sum(row.count for row in rows) == rows[0].total


@pytest.mark.parametrize("drawn", ["svg", "dot", "mermaid"])
def test_what_was_never_seen_and_what_never_varied_is_drawn_as_one_leaf(drawn: str) -> None:
    model = TreeThink(make("walls").schema)
    never = model.rules["player", "pos", "up"]
    model.observe_many(transitions(make("walls"), steps=100, seed=0))
    constant = model.rules["wall", "pos", "up"]
    assert boxes_of(never)[1].lines == ("not seen yet",)
    assert boxes_of(constant)[1].lines == (f"(0, 0) × {sum(constant.seen.values())}",)
    for rule in (never, constant):
        text = {"svg": svg_of, "dot": Rule.to_dot, "mermaid": Rule.to_mermaid}[drawn](rule)
        assert ("not seen yet" in text) == (rule is never)


names = st.text(min_size=1, max_size=80).filter(lambda text: text.isascii() or text.isprintable())


@quick
@given(names, names, names)
def test_any_name_becomes_printable_lines_that_are_not_too_long(
    title: str, class_name: str, outcome: str
) -> None:
    boxes = boxes_of(named(title, class_name, outcome))
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
    """Labels by node, and edges with theirs. Whatever is not of our small grammar fails."""
    first, *lines, last = text.splitlines()
    assert (first, last) == ("digraph rule {", "}")
    nodes: dict[str, list[str]] = {}
    edges = []
    for line in lines:
        read = DOT_LINE.fullmatch(line)
        assert read, line
        start, end, attributes = read[1], read[2], read[3]
        label = re.search(rf"\blabel={STRING}", attributes)
        if end:
            edges.append((start, end, label[1].strip() if label else ""))
        elif label:
            nodes[start] = dot_lines(label[1])
    return nodes, edges


def dot_lines(label: str) -> list[str]:
    r"""What Graphviz reads: `\n` ends a line, `\x` is x, and `&amp;` is `&`."""
    lines, escaped = [""], False
    for character in label:
        if escaped:
            assert character in '\\"n', label  # others would mean something
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
LINK = re.compile(r"    (n\d+) -->(?:\|(true|false)\|)? (n\d+)")
CLASS = re.compile(r"    classDef (\w+) (?:[\w-]+:#?\w+,?)+")


def read_mermaid(text: str) -> tuple[dict[str, list[str]], list[tuple[str, str, str]]]:
    """The same of a flowchart."""
    directive, first, *lines = text.splitlines()
    assert directive.startswith("%%{init: ") and first == "flowchart TD"
    nodes: dict[str, list[str]] = {}
    edges, looks, defined = [], set(), set()
    for line in lines:
        if node := NODE.fullmatch(line):
            nodes[node[1]] = mermaid_lines(node[2] or node[3])
            looks.add(node[4])
        elif link := LINK.fullmatch(line):
            edges.append((link[1], link[3], link[2] or ""))
        else:
            look = CLASS.fullmatch(line)
            assert look, line
            defined.add(look[1])
    assert looks == defined
    return nodes, edges


def mermaid_lines(label: str) -> list[str]:
    lines = label.split("<br/>")
    for line in lines:
        plain = re.sub(r"#\d+;", "", line)
        assert not set(plain) & set('"#;<>&|{}`*~\\$@^!?/'), line
        assert not re.match(r"[-+]\s|[-+]$|\d+[.)](\s|$)", line), line  # a list to Markdown
        assert not re.search(r"www\.|:(?! )", line, re.IGNORECASE), line
    return [re.sub(r"#(\d+);", lambda code: chr(int(code[1])), line) for line in lines]


READERS = {"dot": (dot.text_of, read_dot), "mmd": (mermaid.text_of, read_mermaid)}


def check_says_all(boxes: list[Box], nodes: Any, edges: Any) -> None:
    assert nodes == {f"n{number}": list(box.lines) for number, box in enumerate(boxes)}
    assert edges == [
        (f"n{number}", f"n{child}", answer)
        for number, box in enumerate(boxes)
        for child, answer in zip(
            box.children, ("true", "false") if box.kind == "branch" else ("",), strict=False
        )
    ]


@pytest.mark.parametrize("ending", READERS)
@quick
@given(names, names, names)
def test_no_name_breaks_the_text_or_is_changed_by_it(
    ending: str, title: str, class_name: str, outcome: str
) -> None:
    write, read = READERS[ending]
    for rule in (named(title, class_name, outcome), ODD):
        check_says_all(boxes_of(rule), *read(write(rule)))


@pytest.mark.parametrize("ending", READERS)
def test_a_tree_of_five_hundred_tests_is_written_whole(ending: str) -> None:
    write, read = READERS[ending]
    check_says_all(boxes_of(chain(500)), *read(write(chain(500))))


@pytest.mark.parametrize("ending", READERS)
def test_the_texts_are_as_they_were(ending: str) -> None:
    drawn = {"maze": maze().rules["game", "score", "left"], "odd": ODD, "crowd": crowd()}
    for name, rule in drawn.items():
        text = READERS[ending][0](rule)
        check_golden(f"rules_{name}.{ending}", text)


# ------------------------------------------------------------------- pictures


def svg_of(rule: Rule) -> str:
    return picture(rule, "svg").decode()


def written(svg: str) -> list[str]:
    """The texts of an SVG."""
    texts = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    return [each.text or "" for each in texts]


def expected(rule: Rule) -> list[str]:
    boxes = boxes_of(rule)
    answers = ["true", "false"] * sum(box.kind == "branch" for box in boxes)
    return answers + [text.text for box in boxes for text in texts_of(box, Place(0, 0, 0, 0, 0))]


def test_a_picture_says_what_the_rule_does() -> None:
    for rule in (maze().rules["game", "score", "left"], crowd(), chain(20)):
        assert written(svg_of(rule)) == expected(rule)


@pytest.mark.parametrize("title", ["-->", "a--b", "<svg>", "$x^2$", "世界", "\0\x1b", "é ☃ 😀"])
def test_a_picture_takes_any_name(title: str) -> None:
    svg = svg_of(named(title, title, title))
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert "&lt;svg&gt;" in svg if title == "<svg>" else "<b>" not in svg


def test_a_character_that_the_font_lacks_is_spelled_out() -> None:
    assert boxes_of(named("世界", "dot"), png.can_write)[0].head == ("\\u4e16\\u754c",)
    assert "世界" in written(svg_of(named("世界", "dot")))  # whoever looks at it has the fonts


def test_no_text_leaves_its_box() -> None:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    for rule in (maze().rules["game", "score", "left"], crowd(), ODD):
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


def test_the_same_rule_gives_the_same_bytes_whatever_the_settings_are() -> None:
    import matplotlib

    rule = crowd()
    for kind in FORMATS:
        first = picture(rule, kind)
        odd = {"svg.fonttype": "none", "font.size": 30, "figure.facecolor": "red"}
        with matplotlib.rc_context(odd):
            before = dict(matplotlib.rcParams)
            assert picture(rule, kind) == first, kind
            assert dict(matplotlib.rcParams) == before


def test_threads_that_draw_at_once_leave_the_settings_alone() -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    alone = picture(ODD, "pdf")
    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(lambda _: picture(ODD, "pdf"), range(12))) == {alone}
    assert dict(matplotlib.rcParams) == before


def test_a_file_is_what_its_ending_says(tmp_path: Path) -> None:
    for ending, start in {"svg": b"<svg", "PNG": b"\x89PNG", "pdf": b"%PDF"}.items():
        path = tmp_path / f"rule.{ending}"
        assert ODD.draw(path) is None
        assert path.read_bytes().startswith(start)
    ODD.draw(str(path))
    with Image.open(tmp_path / "rule.PNG") as image:
        colours = image.convert("RGB").getcolors(1 << 20)
        assert colours is not None and (205, 234, 203) in {colour for _, colour in colours}
    assert len(list(tmp_path.iterdir())) == 3


def test_a_tree_of_five_hundred_tests_is_drawn_but_not_as_a_png(tmp_path: Path) -> None:
    rule = chain(500)
    rule.draw(tmp_path / "rule.svg")
    assert len(written((tmp_path / "rule.svg").read_text(encoding="utf-8"))) == len(expected(rule))
    with pytest.raises(
        SettingError, match=r"too large for a PNG.*\d+ x \d+ inches.*\.svg or \.pdf"
    ):
        rule.draw(tmp_path / "rule.png")
    assert not (tmp_path / "rule.png").exists()


def test_a_large_png_has_fewer_dots_and_never_too_many() -> None:
    assert png.resolution(300, 300) == png.DPI
    for width, height in [(5_000, 5_000), (20_000, 100), (100, 40_000)]:
        dpi = png.resolution(width, height)
        assert png.MIN_DPI <= dpi < png.DPI
        assert width * height / 72**2 * dpi**2 <= png.MAX_PIXELS
        assert max(width, height) / 72 * dpi <= png.MAX_SIDE


@pytest.mark.parametrize(
    ("path", "error", "says"),
    [
        ("rule.sgv", UnknownNameError, "unknown format 'sgv' in the path .* mean 'svg'"),
        ("rule", UnknownNameError, "unknown format '' .*Known: 'pdf', 'png', 'svg'"),
        ("missing/rule.svg", SettingError, "there is no folder missing"),
        ("folder.svg", SettingError, "folder.svg: it is a folder"),
        (3, WrongTypeError, "a path must be a str or a Path, got 3"),
    ],
)
def test_what_cannot_be_drawn_to_is_refused(
    path: Any, error: type[Exception], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder.svg").mkdir()
    with pytest.raises(error, match=says):
        ODD.draw(path)
    assert [each.name for each in tmp_path.iterdir()] == ["folder.svg"]


def test_without_matplotlib_all_but_png_and_pdf_is_drawn_and_they_say_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for ending in ("png", "pdf"):
        says = rf'a .{ending} of a rule .* pip install "treethink\[experiments\]"; an .svg needs'
        with pytest.raises(MissingPackageError, match=says):
            ODD.draw(tmp_path / f"rule.{ending}")
        with pytest.raises(MissingPackageError, match=says):
            check_target(tmp_path / f"rule.{ending}")
    check_target(tmp_path / "rule.svg")
    ODD.draw(tmp_path / "rule.svg")
    assert (tmp_path / "rule.svg").read_text(encoding="utf-8") == f"{ODD.to_svg()}\n"
    draw_all({("a", "b", "c"): ODD}, tmp_path / "folder")
    assert [each.name for each in (tmp_path / "folder").iterdir()] == ["a.b.c.svg"]
    assert ODD.to_dot() and ODD.to_mermaid()


def test_pyplot_is_never_imported_nor_matplotlib_before_it_is_needed(tmp_path: Path) -> None:
    program = (
        "import sys, treethink as tt, treethink.cli\n"
        "rule = tt.TreeThink(tt.make('walls').schema).rules['player', 'pos', 'up']\n"
        "rule.to_dot(), rule.to_mermaid(), rule.draw('rule.svg')\n"
        "assert 'matplotlib' not in sys.modules\n"
        "rule.draw('rule.png')\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)


def test_the_pictures_of_the_docs_are_of_the_rules_that_are_learned() -> None:
    spec = importlib.util.spec_from_file_location("make_rules", IMAGES / "make_rules.py")
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert {path.name for path in IMAGES.glob("rule_*")} == set(script.RULES)
    for name in script.RULES:
        svg = (IMAGES / name).read_text(encoding="utf-8")
        assert written(svg) == expected(script.learned(name)), name


# ---------------------------------------------------------------- the command


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs `treethink rules` on a model of the maze; returns exit code, output and error."""
    monkeypatch.chdir(tmp_path)
    maze().save("maze.tt")

    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            cli.main(["rules", *arguments])
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return call


def test_rules_are_drawn_into_a_folder_each_in_its_file(run: Any) -> None:
    code, out, _ = run("maze.tt", "--draw", "pictures")
    assert (code, out) == (0, "9 rules drawn to pictures\n")
    rules = TreeThink.load("maze.tt").rules.varying()
    files = {path.name: path for path in Path("pictures").iterdir()}
    assert set(files) == {f"{'.'.join(key)}.svg" for key in rules}
    for key, rule in rules.items():
        svg = files[f"{'.'.join(key)}.svg"].read_text(encoding="utf-8")
        assert written(svg) == expected(rule)
    assert run("maze.tt", "--draw", "pictures", "--rule", "wall.pos.up")[0] == 0
    assert len(list(Path("pictures").iterdir())) == 10  # one that was asked for need not vary


def test_one_rule_is_drawn_to_a_file(run: Any) -> None:
    code, out, _ = run("maze.tt", "--rule", "game.score.left", "--draw", "score.png")
    assert (code, out) == (0, "1 rule drawn to score.png\n")
    assert Path("score.png").read_bytes().startswith(b"\x89PNG")


def test_rules_are_printed_in_the_style_that_was_asked_for(run: Any) -> None:
    model = TreeThink.load("maze.tt")
    rule = model.rules["game", "score", "left"]
    for style, text in {"dot": rule.to_dot(), "mermaid": rule.to_mermaid()}.items():
        assert run("maze.tt", "--rule", "game.score.left", "--style", style)[1] == text
        assert text in run("maze.tt", "--style", style)[1]
    assert run("maze.tt", "--style", "text")[1] == run("maze.tt")[1]
    assert run("maze.tt", "--style", "dot")[1].count("digraph") == len(model.rules.varying())


def test_where_no_rule_varies_nothing_is_drawn(run: Any) -> None:
    TreeThink(make("maze").schema).save("new.tt")
    code, out, _ = run("new.tt", "--draw", "pictures")
    assert code == 0 and out.startswith("nothing to draw")
    assert not Path("pictures").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
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
def test_what_the_command_cannot_do_is_one_line_and_leaves_nothing(
    run: Any, arguments: str, says: str
) -> None:
    Path("taken").write_text("a file")
    before = set(Path().iterdir())
    code, out, err = run("maze.tt", *arguments.split())
    assert (code, out) == (2, "")
    assert re.match(f"treethink: .*{says}", err) and len(err.splitlines()) == 1
    assert set(Path().iterdir()) == before


def test_names_of_files_are_safe_and_no_two_are_the_same() -> None:
    keys = [("a/b", "x", ".."), ("A\\B", "x", "?!"), ("世" * 200, "x", "go"), ("c", "x", "go")]
    found = file_names([*keys, *keys])
    assert len({name.casefold() for name in found}) == 8
    assert all(re.fullmatch(r"[\w.-]+", name) and len(name.encode()) < 250 for name in found)
    assert found[3] == "c.x.go"
