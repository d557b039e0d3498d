"""Configs: their meaning, and that all errors in one are reported before anything runs."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import treethink as tt
from treethink.baselines import make_learner
from treethink.errors import SettingError, TreeThinkError, UnknownNameError, WrongTypeError
from treethink.file import is_plain_name
from treethink.repro.figures import FIGURES
from treethink.repro.figures.reproduce import experiment
from treethink.repro.runner.config import Config, load, parse
from treethink.repro.runner.fields import MOST_STEPS
from treethink.repro.runner.spec import Limits, Run, Transfer

ROOT = Path(__file__).parents[2]
SMALL = """
steps = 1_000
worlds = ["walls", "maze"]
learners = ["treethink", "static"]
"""


def config(text: str) -> Config:
    return parse(text, "some.toml")


# ------------------------------------------------------------------------------ meaning


def test_there_is_a_run_for_every_world_learner_and_seed() -> None:
    runs = config(f"seeds = 3\n{SMALL}").runs()
    assert [(run.world, run.label, run.seed) for run in runs] == [
        (world, label, seed)
        for world in ("walls", "maze")
        for label in ("treethink", "static")
        for seed in range(3)
    ]
    assert len({run.key for run in runs}) == 12


def test_omitted_keys_have_defaults() -> None:
    (run, *_) = config(SMALL).runs()
    assert run == Run("walls", "treethink", "treethink", 0, steps=1_000, window=20)
    assert (run.episode, run.examine, run.transfer, run.limits) == (50, 0, None, Limits())
    assert config(SMALL).title == "some"


def test_every_key_of_a_config_is_used() -> None:
    (run,) = config(
        """
        title = "all of it"
        steps = 5_000
        seeds = [7]
        episode = 20
        window = 100
        examine = 2_000
        [limits]
        seconds = 600
        megabytes = 0.5
        [[worlds]]
        name = "maze"
        options = { width = 6 }
        transfer = { world = "maze-t", every = 500, steps = 10, options = { goals = 3 } }
        [[learners]]
        name = "treethink"
        label = "ours"
        settings = { alpha = 0.1 }
        predict = { facts = "full", bindings = "all" }
        """
    ).runs()
    assert run == Run(
        world="maze",
        learner="treethink",
        label="ours",
        seed=7,
        steps=5_000,
        window=100,
        episode=20,
        examine=2_000,
        options={"width": 6},
        settings={"alpha": 0.1},
        predict={"facts": "full", "bindings": "all"},
        transfer=Transfer("maze-t", every=500, steps=10, options={"goals": 3}),
        limits=Limits(600, 0.5),
    )


def test_worlds_and_learners_may_have_their_own_steps_seeds_and_partners() -> None:
    runs = config(
        """
        steps = 1_000
        seeds = 2
        [[worlds]]
        name = "walls"
        steps = 300
        [[worlds]]
        name = "maze"
        [[learners]]
        name = "static"
        [[learners]]
        name = "paper"
        worlds = ["maze"]
        seeds = [4, 5, 6]
        steps = 600
        [[learners]]
        name = "treethink"
        steps = 500
        """
    ).runs()
    combinations = [(r.world, r.learner, r.seed, r.steps) for r in runs]
    assert combinations == [
        *[("walls", "static", seed, 300) for seed in (0, 1)],
        *[("walls", "treethink", seed, 300) for seed in (0, 1)],
        *[("maze", "static", seed, 1_000) for seed in (0, 1)],
        *[("maze", "paper", seed, 600) for seed in (4, 5, 6)],
        *[("maze", "treethink", seed, 500) for seed in (0, 1)],
    ]


def test_changing_the_number_of_seeds_keeps_a_learners_own_seeds() -> None:
    config_ = config(
        """
        steps = 10
        seeds = 5
        worlds = ["walls"]
        learners = ["static", { name = "paper", seeds = 3 }]
        """
    )

    def seeds(count: int | None) -> list[list[int]]:
        runs = config_.runs(count)
        return [[r.seed for r in runs if r.label == label] for label in ("static", "paper")]

    assert seeds(None) == [[0, 1, 2, 3, 4], [0, 1, 2]]
    assert seeds(2) == [[0, 1], [0, 1]]
    assert seeds(6) == [[0, 1, 2, 3, 4, 5], [0, 1, 2]]


def test_a_window_is_a_fiftieth_of_the_steps_and_at_least_one() -> None:
    assert [config(f"steps = {n}\n{SMALL[14:]}").runs()[0].window for n in (1, 99, 5_000)] == [
        1,
        1,
        100,
    ]


def test_paper_means_the_settings_of_the_method_paper() -> None:
    (run,) = config(
        """
        steps = 10
        worlds = ["maze"]
        learners = [{ name = "treethink", paper = true, settings = { alpha = 0.05 } }]
        """
    ).runs()
    world = tt.make("maze")
    learner = make_learner(run.learner, world, **run.settings)
    stream = list(tt.transitions(world, steps=300, seed=0))
    expected = tt.TreeThink.paper(world.schema, alpha=0.05)
    for model in (learner, expected):
        model.observe_many(stream)
    assert learner.to_bytes() == expected.to_bytes()


def test_the_example_can_be_run() -> None:
    runs = load(ROOT / "experiments" / "example.toml").runs()
    assert len(runs) == len({run.key for run in runs}) == 18


def test_the_dict_of_a_config_can_be_read_back() -> None:
    config_ = config(
        """
        title = "all of it"
        steps = 5_000
        seeds = [7, 9]
        episode = 20
        examine = 100
        limits = { seconds = 600 }
        [[worlds]]
        name = "walls"
        [[worlds]]
        name = "maze"
        options = { width = 6 }
        steps = 300
        transfer = { world = "maze-t", every = 50 }
        [[learners]]
        name = "paper"
        worlds = ["maze"]
        seeds = [3, 4]
        steps = 20
        [[learners]]
        name = "treethink"
        label = "p"
        paper = true
        settings = { alpha = 0.1 }
        [[learners]]
        name = "treethink"
        predict = { facts = "full" }
        """
    )
    for each in (config_, config_.with_seeds(1), config_.with_seeds(5)):
        again = parse_raw(each.to_dict())
        assert again.runs() == each.runs() and again.title == each.title
    assert config_.raw["seeds"] == [7, 9]
    assert parse_raw(config_.with_seeds(3).raw).runs() == config_.runs(3)


def parse_raw(raw: Mapping[str, Any]) -> Config:
    """Parse a file with this content."""
    with_lists = json.loads(json.dumps(raw))  # as in a manifest
    text = "\n".join(f"{name} = {toml(value)}" for name, value in with_lists.items())
    return parse(text, "again.toml")


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {toml(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    return json.dumps(value)


@pytest.mark.parametrize("name", [name for name, each in FIGURES.items() if each.config])
def test_the_raw_form_of_a_quick_figure_gives_the_same_runs(name: str) -> None:
    small = experiment(FIGURES[name], small=True)
    assert small is not None and small.raw["title"].endswith("(quick)")
    assert parse_raw(small.raw).runs() == small.runs()


# --------------------------------------------------------------------------------- keys

RUN = Run("maze", "treethink", "TreeThink", seed=3, steps=100, window=10)


def test_a_key_is_readable_and_safe_for_files() -> None:
    assert re.fullmatch(r"maze\.TreeThink\.seed3\.[0-9a-f]{8}", RUN.key)
    odd = replace(RUN, world="../../my.worlds:Lamp", label="α / (β)" * 40)
    assert re.fullmatch(r"Lamp\.[\w-]{1,60}\.seed3\.[0-9a-f]{8}", odd.key)


@pytest.mark.parametrize("label", ["ä" * 300, "模型" * 300, "🌲" * 300, "a" * 300, "???"])
def test_file_names_of_any_label_are_valid(tmp_path: Path, label: str) -> None:
    key = replace(RUN, label=label, world="模" * 300, seed=999_999).key
    for name in (f"{key}.windows.parquet", f"{key}.{MOST_STEPS}.learner"):
        assert len(name.encode()) <= 255
        (tmp_path / name).touch()
    assert is_plain_name(key)


def test_keys_of_labels_that_differ_only_in_case_differ_otherwise() -> None:
    one, other = RUN.key, replace(RUN, label="treethink").key
    assert one.casefold() != other.casefold()
    long, longer = (replace(RUN, label="a" * n).key for n in (300, 301))
    assert long != longer


@pytest.mark.parametrize(
    "change",
    [
        {"world": "walls"},
        {"learner": "static"},
        {"label": "other"},
        {"seed": 4},
        {"steps": 101},
        {"window": 11},
        {"episode": 51},
        {"examine": 1},
        {"options": {"width": 9}},
        {"settings": {"alpha": 0.1}},
        {"predict": {"facts": "full"}},
        {"transfer": Transfer("maze-t", 10)},
    ],
    ids=str,
)
def test_the_key_depends_on_everything_that_affects_the_result(change: dict[str, Any]) -> None:
    assert replace(RUN, **change).key != RUN.key


def test_the_key_does_not_depend_on_limits_or_the_order_of_settings() -> None:
    assert replace(RUN, limits=Limits(1.0, 2.0)).key == RUN.key
    one, other = {"alpha": 0.1, "memory": 3}, {"memory": 3, "alpha": 0.1}
    assert replace(RUN, settings=one).key == replace(RUN, settings=other).key


# ------------------------------------------------------------------------------- errors

WORLDS, LEARNERS = 'worlds = ["walls"]\n', 'learners = ["static"]\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("steps = = 3", r"some.toml is not TOML: .*line 1"),
        (WORLDS + LEARNERS, r"some.toml: 'steps' is missing, and worlds\[0\] has none"),
        ("steps = 5\n" + WORLDS, r"some.toml: 'learners' is missing"),
        ("steps = 5\n" + LEARNERS, r"some.toml: 'worlds' is missing"),
        ("steps = 5\nworlds = []\n" + LEARNERS, r"some.toml, worlds must list one at least"),
        ("stepz = 5", r"unknown key 'stepz' in some.toml. Did you mean 'steps'\?"),
        ("steps = -5\n" + WORLDS + LEARNERS, r"some.toml, steps must be at least 1, got -5"),
        ("steps = 1.5\n" + WORLDS + LEARNERS, r"some.toml, steps must be a whole number"),
        ("steps = 3000000000\n" + WORLDS + LEARNERS, r"some.toml, steps must be at most"),
        ("steps = true\n" + WORLDS + LEARNERS, r"some.toml, steps must be a whole number"),
        ("steps = 5\nseeds = 0\n" + WORLDS + LEARNERS, r"some.toml, seeds must be at least 1"),
        ("steps = 5\nseeds = [1, 1]\n" + WORLDS + LEARNERS, r"seeds must not name a seed twice"),
        ("steps = 5\nseeds = [1, -1]\n" + WORLDS + LEARNERS, r"seeds\[1\] must be at least 0"),
        ("steps = 5\nepisode = 0\n" + WORLDS + LEARNERS, r"some.toml, episode must be at least 1"),
        ("steps = 5\ntitle = 7\n" + WORLDS + LEARNERS, r"some.toml, title must be a text, got 7"),
        ("limits = 3\nsteps = 5\n" + WORLDS + LEARNERS, r"some.toml, limits must be a table"),
        (
            "steps = 5\nlimits = { seconds = 0 }\n" + WORLDS + LEARNERS,
            r"some.toml, limits, seconds must be a number above 0, got 0",
        ),
        (
            "steps = 5\nlimits = { minutes = 1 }\n" + WORLDS + LEARNERS,
            r"unknown key 'minutes' in some.toml, limits",
        ),
        (
            'steps = 5\nworlds = ["walls", "mase"]\n' + LEARNERS,
            r"unknown world 'mase' in some.toml, worlds\[1\]. Did you mean 'maze'\?",
        ),
        ('steps = 5\nworlds = ["walls", 3]\n' + LEARNERS, r"worlds\[1\] must be a table, got 3"),
        (
            'steps = 5\nworlds = ["walls", "walls"]\n' + LEARNERS,
            r"some.toml, worlds\[1\]: 'walls' is there twice",
        ),
        (
            "steps = 5\n[[worlds]]\nname = 'maze'\noptions = { widht = 3 }\n"
            "[[learners]]\nname = 'static'",
            r"unknown option 'widht' in some.toml, worlds\[0\]. Did you mean 'width'\?",
        ),
        (
            "steps = 5\nworlds = [{ name = 'maze', transfer = { every = 1 } }]\n" + LEARNERS,
            r"some.toml, worlds\[0\], transfer: 'world' is missing",
        ),
        (
            "steps = 5\nworlds = [{ name = 'maze', transfer = { world = 'walls', every = 1 } }]\n"
            + LEARNERS,
            r"worlds\[0\], transfer: 'walls' has another schema than 'maze'",
        ),
        (
            "steps = 5\n" + WORLDS + "learners = ['static', 'paprr']",
            r"unknown learner 'paprr' in some.toml, learners\[1\]. Did you mean 'paper'\?",
        ),
        (
            "steps = 5\n" + WORLDS + "learners = ['static', 'static']",
            r"some.toml, learners\[1\]: there is a learner with the label 'static' already",
        ),
        (
            "steps = 5\n" + WORLDS + "learners = [{ name = 'treethink', settings = {aplha = 1} }]",
            r"some.toml, learners\[0\]: .*no setting 'aplha'.*'alpha'",
        ),
        (
            "steps = 5\n" + WORLDS + "learners = [{ name = 'static', settings = {world = 1} }]",
            r"some.toml, learners\[0\]: 'static' has no setting 'world'",
        ),
        (
            "steps = 5\n" + WORLDS + "learners = [{ name = 'treethink', settings = {alpha = 2} }]",
            r"some.toml, learners\[0\]: alpha must lie strictly between 0 and 1, got 2",
        ),
        (
            "steps = 5\n" + WORLDS + "learners = [{ name = 'static', paper = true }]",
            r"learners\[0\], paper is for the learner 'treethink', not 'static'",
        ),
        (
            "steps = 5\n" + WORLDS + "learners = [{ name = 'treethink', paper = 1 }]",
            r"learners\[0\], paper must be true or false, got 1",
        ),
        (
            "steps = 5\n"
            + WORLDS
            + "learners = [{ name = 'treethink', paper = true, settings = {memory = 1} }]",
            r"learners\[0\]: paper = true decides the setting 'memory'",
        ),
        (
            "steps = 5\n" + WORLDS + "learners = [{ name = 'treethink', predict = {facts = 'f'} }]",
            r"learners\[0\], predict: facts must be 'demand' or 'full', got 'f'",
        ),
        (
            "steps = 5\n" + WORLDS + "learners = [{ name = 'static', predict = {facts = 'full'} }]",
            r"learners\[0\], predict: static's predict takes no options, got facts",
        ),
        (
            "steps = 5\n" + WORLDS + "learners = [{ name = 'qora', predict = {bindings = 'all'} }]",
            r"learners\[0\], predict: qora's predict takes no options, got bindings",
        ),
        (
            "steps = 5\n" + WORLDS + "learners = [{ name = 'treethink', predict = {fact = 'f'} }]",
            r"predict: treethink's predict takes facts \('demand' or 'full'\) and bindings"
            r" \('first' or 'all'\), got fact",
        ),
        (
            "steps = 5\nworlds = 'maze'\n" + LEARNERS,
            r"""some.toml, worlds must be a list: worlds = \["maze"\], got 'maze'""",
        ),
        (
            "steps = 5\n" + WORLDS + "learners = ['no.such:Learner']",
            r"some.toml, learners\[0\]: there is no learner at 'no.such:Learner': No module named",
        ),
        (
            "steps = 5\n" + WORLDS + "learners = [{ name = 'json:JSONDecoder' }]",
            r"learners\[0\]: 'json:JSONDecoder' is no learner: it has no observe, predict, save,",
        ),
        (
            "steps = 5\n" + WORLDS + "learners = [{ name = 'static', worlds = ['maze'] }]",
            r"unknown world 'maze' in some.toml, learners\[0\], worlds",
        ),
        (
            "steps = 5\nseeds = 2_000_000_000\n" + WORLDS + LEARNERS,
            r"some.toml, seeds must be at most 10,000, got 2000000000",
        ),
        (
            "steps = 5\n" + WORLDS + "learners = [{ name = 'static', seeds = 10_001 }]",
            r"some.toml, learners\[0\], seeds must be at most 10,000, got 10001",
        ),
        (
            f"steps = 5\nseeds = {list(range(10_001))}\n" + WORLDS + LEARNERS,
            r"some.toml, seeds must be at most 10,000, got 10001",
        ),
        (
            "steps = 5\nseeds = [0, 1_000_000]\n" + WORLDS + LEARNERS,
            r"seeds\[1\] must be below 1,000,000, where held-out streams begin",
        ),
        ("a = " + "[" * 5_000 + "]" * 5_000, r"some.toml is not TOML: .*recursion"),
        ("title" + ".a" * 5_000 + " = 1", r"some.toml is nested deeper than 20"),
        ("steps = " + "9" * 5_000, r"some.toml is not TOML: .*4300 digits"),
        ("steps = 0x" + "f" * 5_000, r"some.toml, steps must fit 64 bits, got <int>"),
        (
            "steps = 5\n" + WORLDS + LEARNERS + "limits.seconds = " + "9" * 400,
            r"some.toml, limits, seconds must fit 64 bits, got 999",
        ),
        (
            "steps = 5\n" + LEARNERS + "worlds = [{ name = 'walls', options = { self = 3 } }]",
            r"unknown option 'self' in some.toml, worlds\[0\]",
        ),
        (
            "steps = 5\n"
            + LEARNERS
            + "worlds = [{ name = 'treethink.worlds.walls:Walls', options = { self = 3 } }]",
            r"worlds\[0\]: .*cannot be called with .*no option 'self'",
        ),
        (
            "steps = 5\n" + WORLDS + "learners = [{ name = 'static', worlds = [3] }]",
            r"learners\[0\], worlds must be names of worlds, got 3",
        ),
    ],
)
def test_errors_name_their_place_in_the_config(text: str, message: str) -> None:
    with pytest.raises(TreeThinkError, match=message) as raised:
        config(text)
    assert isinstance(raised.value, SettingError | UnknownNameError)
    assert "some.toml" in str(raised.value)


@pytest.mark.parametrize("seeds", [0, -1, 10_001, 10**30, "3"])
def test_an_invalid_number_of_seeds_is_refused(seeds: Any) -> None:
    with pytest.raises(SettingError, match="seeds must be"):
        config(SMALL).runs(seeds)


def test_parse_needs_a_text_and_its_name_is_optional() -> None:
    assert parse(SMALL).title == "the config"
    with pytest.raises(UnknownNameError, match="unknown key 'stepz' in the config"):
        parse("stepz = 5")
    with pytest.raises(WrongTypeError, match=r"a config must be a str, got .*; load reads a file"):
        parse(Path("some.toml"))  # type: ignore[arg-type]


OWN = """
from treethink.baselines import Static

class Asked(Static):
    name = "asked"

    def __init__(self, schema, *, depth=1):
        super().__init__(schema)

    def predict(self, state, action, *, deep=False):
        if deep > 1:
            raise TypeError("deep is true or false")
        return super().predict(state, action)
"""


def test_a_custom_learner_is_checked_with_its_settings_and_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ownlearner.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)

    def config_with(more: str) -> Config:
        learner = f"learners = [{{ name = 'ownlearner:Asked', {more} }}]"
        return config(f"steps = 5\n{WORLDS}{learner}")

    (run,) = config_with("settings = { depth = 2 }, predict = { deep = true }").runs()
    assert (run.learner, run.settings, run.predict) == (
        "ownlearner:Asked", {"depth": 2}, {"deep": True},
    )  # fmt: skip
    assert run.key.startswith("walls.Asked.seed0.")
    with pytest.raises(SettingError, match=r"learners\[0\]: .*cannot be made with .*'width'"):
        config_with("settings = { width = 2 }")
    with pytest.raises(SettingError, match=r"ownlearner:Asked's predict takes deep, got facts"):
        config_with("predict = { facts = 'full' }")
    with pytest.raises(SettingError, match=r"cannot be asked with deep=2: deep is true or false"):
        config_with("predict = { deep = 2 }")


def test_a_file_that_cannot_be_read_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"cannot read .*missing\.toml: No such file"):
        load(tmp_path / "missing.toml")
    (tmp_path / "odd.toml").write_bytes(b"title = '\xff'")
    with pytest.raises(SettingError, match=r"cannot read .*odd\.toml: .*utf-8"):
        load(tmp_path / "odd.toml")
