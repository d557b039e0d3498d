"""Scenes are read as they are drawn, and errors name the place of a mistake."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from treethink.errors import SceneError
from treethink.state import Object, Schema, State
from treethink.worlds import scene as scenes
from treethink.worlds.looks import BLUE, GREEN, GREY, Look
from treethink.worlds.scene import parse_scenes

SCHEMA = Schema(
    classes={"wall": ["pos"], "door": ["pos", "open"], "player": ["pos"], "game": ["score"]},
    attributes={"pos": 2, "open": 1, "score": 1},
    actions=["left", "right"],
)
LOOKS = (
    Look("#", "wall", "block", GREY),
    Look("D", "door", "door", GREEN, {"open": 0}),
    Look("d", "door", "door", GREEN, {"open": 1}),
    Look("P", "player", "disc", BLUE),
)

OPENS = """
says: a door opens and lets the player in
does: right
pays: -1
where: @ = P d
.P#  ..#
.D.  .@.
"""


def test_a_drawing_is_read_row_by_row_with_ids_by_class() -> None:
    (scene,) = parse_scenes(OPENS, SCHEMA, LOOKS)
    assert scene.says == "a door opens and lets the player in"
    assert scene.action == "right"
    assert list(scene.before) == [
        Object(3, "wall", pos=(2, 0)),
        Object(0, "door", pos=(1, 1), open=0),
        Object(2, "player", pos=(1, 0)),
        Object(1, "game", score=0),
    ]
    after = scene.before.replace_many({0: {"open": 1}, 2: {"pos": (1, 1)}, 1: {"score": -1}})
    assert scene.truth == [(after, 1.0)]


def test_chances_have_a_drawing_each() -> None:
    text = "says: it may move\ndoes: left\nchances: 1/4 3/4\n.P.  P..  .P."
    (scene,) = parse_scenes(text, SCHEMA, LOOKS)
    (player,) = scene.before.of_class("player")
    assert scene.truth == [
        (scene.before.replace(player.id, pos=(0, 0)), 0.25),
        (scene.before, 0.75),
    ]


FILES = sorted(Path(scenes.__file__).with_name("scenes").glob("*.txt"))
# A sentence that is wrong is told alone. So none may begin with what only another one explains,
# or end in a verb that another one had.
LEANING = re.compile(
    r"(so|nor|neither|and|also|it|they)\b|.*\b(does|do) (so|too|not|so twice)$"
    r"|(with|where|on|at|a wall|the border|walls)\b(?!.*\b(player|agent|fish|taxi|toggle|coin)\b)"
    r".*\b(it|they|them)\b"
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_sentence_is_understood_alone(path: Path) -> None:
    says = re.findall(r"^says: (.*)$", path.read_text("utf-8"), re.MULTILINE)
    assert says and len(set(says)) == len(says)
    assert [each for each in says if LEANING.match(each)] == []


@pytest.mark.parametrize(
    ("chances", "drawings", "complaint"),
    [
        ("3/2 -1/2", ".P.  P..  .P.", "above 0"),
        ("1 0", ".P.  P..  .P.", "above 0"),
        ("1/2 1/2", ".P.  P..  P..", "lead to the same state"),
    ],
)
def test_chances_must_be_chances(chances: str, drawings: str, complaint: str) -> None:
    with pytest.raises(SceneError, match=complaint):
        parse_scenes(f"says: so\ndoes: left\nchances: {chances}\n{drawings}", SCHEMA, LOOKS)


def test_line_ends_of_other_systems_are_line_ends() -> None:
    text = (OPENS + "\n" + OPENS).replace("\n", "\r\n")
    assert parse_scenes(text, SCHEMA, LOOKS) == parse_scenes(OPENS, SCHEMA, LOOKS) * 2


def test_attributes_that_a_drawing_cannot_show_are_written_out() -> None:
    text = """
says: hidden things change too
does: left
also: door(pos=(-3, 4), open=0) -> door(pos=(-3, 4), open=1)
also: player(pos=(0, 0))
"""
    (scene,) = parse_scenes(text, SCHEMA, LOOKS)
    objects = [Object(0, "door", pos=(-3, 4), open=0), Object(1, "game", score=0)]
    assert scene.before == State(SCHEMA, [*objects, Object(2, "player", pos=(0, 0))])
    assert scene.truth == [(scene.before.replace(0, open=1), 1.0)]


def test_a_schema_without_a_score_ignores_what_is_paid() -> None:
    schema = Schema({"player": ["pos"]}, {"pos": 2}, ["left"])
    (scene,) = parse_scenes("says: so\ndoes: left\npays: 5\n.P  P.", schema, LOOKS)
    assert {each.class_name for each in scene.before} == {"player"}


def test_blank_lines_part_scenes() -> None:
    assert [scene.action for scene in parse_scenes(OPENS + "\n \n\n" + OPENS, SCHEMA, LOOKS)] == [
        "right",
        "right",
    ]
    assert parse_scenes("\n\n", SCHEMA, LOOKS) == []


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("right", "rigth", "no such action as 'rigth'"),
        ("pays", "costs", "no such line as 'costs'"),
        ("-1", "much", "invalid literal"),
        ("..#", "..#  ..#", "every row needs 2 drawings"),
        (".@.", ".X.", "no look has the sign 'X'"),
        (".@.", ".d.", "other objects before and after"),
        ("does: right\n", "does: right\nchances: 1/2\n", "sum to 1"),
        ("does: right\n", "does: right\nchances: 1/0\n", "Fraction"),
        ("does: right\n", "does: right\ndoes: left\n", "it has the line 'does' twice"),
        (
            "does: right\n",
            "does: right\nalso: door(pos=(1, 1), open=0, x)\n",
            "not a list of values",
        ),
        (
            "does: right\n",
            "does: right\nalso: door(pos=(1, 1), open=red)\n",
            "not a list of values",
        ),
        ("does: right\n", "does: right\nalso: door(open=1, open=0)\n", "not a list of values"),
        ("does: right\n", "does: right\nalso: key\n", "'key' is not an object such as"),
        ("does: right\n", "does: right\nalso: key(pos=(1, 1))\n", "unknown class 'key'"),
        ("does: right\n", "does: right\nalso: door(pos=(1, 1))\n", "lacks the attribute 'open'"),
        ("says: a door opens and lets the player in\n", "", "it says nothing"),
    ],
)
def test_unreadable_scenes_are_refused_with_their_number(
    old: str, new: str, complaint: str
) -> None:
    assert old in OPENS
    with pytest.raises(SceneError, match=rf"^the text, scene 2: .*{complaint}"):
        parse_scenes(OPENS + "\n" + OPENS.replace(old, new), SCHEMA, LOOKS)
