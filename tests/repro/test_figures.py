"""`treethink reproduce`: one name for every figure, and the same command goes on."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treethink import TreeThink, cli
from treethink.baselines import LEARNERS
from treethink.errors import MissingPackageError, SettingError, UnknownNameError
from treethink.planning.paper_levels import settings
from treethink.repro import figures
from treethink.repro.figures import FIGURES, chosen, left_out
from treethink.repro.figures.reproduce import (
    DRAWINGS,
    STATES,
    Part,
    RunCounts,
    cost,
    experiment,
    listing,
    quick,
    reproduce,
)
from treethink.repro.report import provenance
from treethink.repro.report.claims import BUILT, CLAIMS, DETERMINISTIC, NETWORKS, ORACLE, PLANNING
from treethink.repro.report.judges.performance import pair_of
from treethink.repro.report.plots.figures import PLOTS, TREES
from treethink.repro.report.sections import CAPTIONS
from treethink.repro.runner.config import Config, parse
from treethink.repro.runner.records import read
from treethink.worlds import make

FOLDER = Path(figures.__file__).parent
CONFIGS: dict[str, Config] = {
    path.stem: parse(path.read_text(encoding="utf-8"), path.name)
    for path in sorted(FOLDER.glob("*.toml"))
}
FOUR = ["TreeThink", "TreeThink (paper)", "QORA", "static"]


# --------------------------------------------------------------------------- figures and configs


def test_every_figure_of_the_paper_has_one_name() -> None:
    curves = {*DETERMINISTIC, "fish", "fish-0.001"}
    series = {f"scale-{each}" for each in ("players", "actions", "both")}
    transfer = {f"transfer-{each}" for each in ("maze", "coins", "keys")}
    others = {"inference", "branches", "alpha", "complexity", "trees", "worlds", "baselines"}
    planning = {"planning", "planning-coins", "planning-keys"}
    networks = {"neural", "neural-planning"}
    whole = {"predict", "ablation"}
    ours = {"ladder"}
    every = curves | series | transfer | others | planning | networks | whole | ours
    assert set(FIGURES) == every


def test_configs_and_figures_match() -> None:
    assert set(CONFIGS) <= set(FIGURES)
    for name, figure in FIGURES.items():
        has_runs = not figure.parts and name != "worlds"
        assert (figure.config is not None) == has_runs == (name in CONFIGS), name


@pytest.mark.parametrize("name", CONFIGS)
def test_configs_name_only_existing_worlds_and_learners(name: str) -> None:
    runs = CONFIGS[name].runs()
    assert runs and len({run.key for run in runs}) == len(runs)
    for learner in {run.learner for run in runs}:
        assert learner in LEARNERS
    for world in {run.world for run in runs}:
        assert make(world).schema


def test_every_figure_has_a_plot_and_a_caption() -> None:
    for figure in FIGURES.values():
        assert figure.kind in CAPTIONS
        assert figure.kind in PLOTS or figure.kind in ("trees", "worlds")
    for part in (part for figure in FIGURES.values() for part in figure.parts):
        assert part in CONFIGS
    assert {name for claim in CLAIMS for name in claim.figures} <= set(FIGURES)


@pytest.mark.parametrize("name", [*DETERMINISTIC, "fish", "fish-0.001"])
def test_curves_have_four_learners_and_ten_seeds(name: str) -> None:
    config = CONFIGS[name]
    assert [each.label for each in config.learners] == FOUR
    slow = name.startswith("keys")  # they run longest
    assert config.seeds == tuple(range(10)) and config.limits.seconds == (2_400 if slow else 600)
    paper = config.learners[1].settings
    assert paper["criterion"] == "wilson" and paper["memory"] == 0
    if name.startswith("fish"):
        assert {e.settings.get("alpha") for e in config.learners[:3]} == {config_alpha(name)}


def config_alpha(name: str) -> float:
    return 0.001 if name.endswith("0.001") else 0.01


@pytest.mark.parametrize("world", PLANNING)
def test_plans_have_the_papers_five_sizes(world: str) -> None:
    config = CONFIGS[PLANNING[world]]
    assert [(each.name, each.options) for each in config.worlds] == [(world, {})]
    assert [each.label for each in config.learners] == ["TreeThink", ORACLE]
    assert config.seeds == tuple(range(10)) and config.examine
    plans = [(plan.label, plan.options, plan.steps) for plan in config.plans]
    assert plans == [(each.label, options, each.steps) for each, options in settings(world)]
    assert {(plan.episodes, plan.simulations, plan.every) for plan in config.plans} == {
        (100, 100, None)
    }


def test_networks_and_their_plans_are_those_of_the_paper() -> None:
    learning, planning = CONFIGS["neural"], CONFIGS["neural-planning"]
    for config, steps in ((learning, 1_000_000), (planning, 500_000)):
        assert config.steps == steps and config.seeds == (0, 1, 2)
        assert [(each.name, each.options) for each in config.worlds] == [("maze", {})]
    by_label = {each.label: each for each in learning.learners}
    assert list(by_label) == [*NETWORKS, BUILT, "TreeThink", "static"]
    for label in NETWORKS:
        settings_ = {"width": 1, "layers": 1, **by_label[label].settings}
        assert label == f"NPE_{settings_['width']}_{settings_['layers']}"
    transfer = learning.worlds[0].transfer
    assert transfer is not None and transfer.options == {"width": 16, "height": 16}
    same = [each for each in learning.learners if each.label in ("NPE_1_1", "NPE_8_3")]
    assert list(planning.learners[:2]) == same
    plans = [(plan.label, plan.options, plan.steps) for plan in planning.plans]
    assert plans == [(each.label, options, each.steps) for each, options in settings("maze")]
    assert {(plan.episodes, plan.every) for plan in planning.plans} == {(5, 100_000)}
    small = quick(planning)
    assert {(plan.episodes, plan.every) for plan in small.plans} == {(1, 1_000)}
    assert {run.steps for run in small.runs()} == {2_000, 100}


def test_random_pairs_are_distinct_and_cover_the_range() -> None:
    pairs = [pair_of(each.name) for each in CONFIGS["complexity"].worlds]
    assert len(set(pairs)) == len(pairs) >= 40
    assert {p for p, _ in pairs} == {c for _, c in pairs} == set(range(1, 9))
    steps = {
        pair: each.steps for pair, each in zip(pairs, CONFIGS["complexity"].worlds, strict=True)
    }
    assert all(n == 1_000 * p * c for (p, c), n in steps.items())


def test_the_four_settings_of_inference_are_the_papers() -> None:
    settings_by_label = {each.label: dict(each.predict) for each in CONFIGS["inference"].learners}
    assert settings_by_label == {
        "none": {"facts": "full", "bindings": "all"},
        "eval": {"facts": "full", "bindings": "first"},
        "query": {"facts": "demand", "bindings": "all"},
        "both": {"facts": "demand", "bindings": "first"},
    }


@pytest.mark.parametrize("name", CONFIGS)
def test_quick_is_a_smaller_version_of_the_same_experiment(name: str) -> None:
    full, small = CONFIGS[name], quick(CONFIGS[name])
    assert small.title == f"{full.title} (quick)"
    assert [each.label for each in small.learners] == [each.label for each in full.learners]
    assert {each.name for each in small.worlds} <= {each.name for each in full.worlds}
    assert sum(run.steps for run in small.runs()) < sum(run.steps for run in full.runs())
    assert max(run.seed for run in small.runs()) <= 1
    assert max(run.steps for run in small.runs()) <= 30_000
    assert all(plan.episodes <= 5 for plan in small.plans)
    some = 3 if FIGURES[name].networks else None
    assert [each.label for each in small.plans] == [each.label for each in full.plans[:some]]


def test_trees_name_existing_rules() -> None:
    assert {each.name for each in CONFIGS["trees"].worlds} == set(TREES)
    for name, rules in TREES.items():
        all_rules = TreeThink(make(name).schema).rules
        assert all(tuple(each.split(".")) in all_rules for each in rules)


# --------------------------------------------------------------------------- choosing figures


def test_chosen_figures_have_a_fixed_order_without_duplicates() -> None:
    assert chosen(["ablation", "alpha"])[0].name == "ablation"
    assert chosen(["all"]) == list(FIGURES.values()) and left_out(["all"]) == []
    assert chosen(["maze", "walls"]) == chosen(["walls", "maze", "maze"])


def test_unknown_names_are_clear_errors() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'switches'"):
        chosen(["swiches"])


@pytest.fixture
def without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate that PyTorch is not installed."""
    monkeypatch.setattr(
        figures, "find_spec", lambda name: None if name == "torch" else find_spec(name)
    )
    monkeypatch.setitem(sys.modules, "torch", None)
    for module in [each for each in sys.modules if each.startswith("treethink.baselines.npe")]:
        monkeypatch.delitem(sys.modules, module)
    known: dict[str, Any] = {**LEARNERS._known}  # type: ignore[attr-defined]
    for name in ("npe", "npe-star"):
        if isinstance(known[name], type):  # an earlier test has looked it up
            module = known[name].__module__.removeprefix("treethink.baselines.")
            known[name] = f"{module}:{known[name].__name__}"
    monkeypatch.setattr(LEARNERS, "_known", known)


@pytest.mark.usefixtures("without_torch")
def test_without_pytorch_all_leaves_out_the_networks() -> None:
    all_figures = chosen(["all"])
    assert [each for each in FIGURES.values() if each not in all_figures] == left_out(["all"])
    assert [each.name for each in left_out(["all"])] == ["neural", "neural-planning"]
    assert left_out(["walls"]) == [] and FIGURES["neural"] in chosen(["all", "neural"])
    assert [each.name for each in left_out(["all", "neural"])] == ["neural-planning"]


@pytest.mark.usefixtures("without_torch")
def test_without_pytorch_all_says_what_is_left_out_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names: list[str] = []

    def record_names(figures_to_make: Any, *_: Any, **__: Any) -> RunCounts:
        names.extend(each.name for each in figures_to_make)
        return RunCounts()

    monkeypatch.setattr("treethink.repro.figures.reproduce.reproduce", record_names)
    monkeypatch.setattr("treethink.cli.repro.report.report", lambda folder: None)
    with pytest.raises(SystemExit) as exit_:
        cli.main(["reproduce", "all", "--quick", "--out", str(tmp_path)])
    assert not exit_.value.code and "neural" not in names and "planning" in names
    (line,) = [each for each in capsys.readouterr().out.splitlines() if "skipped" in each]
    assert "pip install '.[neural]'" in line
    assert line.endswith(": neural, neural-planning")


@pytest.mark.usefixtures("without_torch")
def test_without_pytorch_a_network_by_name_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(
        MissingPackageError, match=r"^neural\.toml, learners\[0\]: .*PyTorch.*: pip"
    ):
        reproduce(chosen(["walls", "neural"]), tmp_path, small=True, processes=0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("without_torch")
def test_the_list_and_the_report_need_no_pytorch() -> None:
    assert listing().row_count == len(FIGURES) + 1
    for small in (False, True):
        config = experiment(FIGURES["neural"], small)
        assert config is not None
        runs: Any = [SimpleNamespace(**run.to_dict()) for run in config.runs()]
        provenance._fingerprints.cache_clear()
        assert provenance.is_figure("neural", runs)


def test_the_list_has_every_figure(capsys: pytest.CaptureFixture[str]) -> None:
    assert listing().row_count == len(FIGURES) + 1
    with pytest.raises(SystemExit):
        cli.main(["reproduce", "--list"])
    text = capsys.readouterr().out
    assert all(re.search(rf"\b{re.escape(name)}\b", text) for name in FIGURES)
    for name, minutes in (("neural", 210), ("neural-planning", 75)):
        assert re.search(rf"\b{name} .* {minutes}, on a GPU", text)
    need = (
        "neural and neural-planning need PyTorch (pip install '.[neural]' in a clone of TreeThink)"
    )
    assert need in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80
    assert str(list(listing().columns[-1].cells)[-1]).endswith(", and 285 on a GPU")


def test_the_list_has_the_cost_of_quick_runs(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["reproduce", "--list", "--quick"])
    text = capsys.readouterr().out
    small = experiment(FIGURES["maze"], small=True)
    assert small is not None and cost(FIGURES["maze"], small=True)[0] == f"{len(small.runs())}"
    assert re.search(rf"\bmaze .* {len(small.runs())} +under 1 ", text)
    every, minutes = re.search(r"all of these +([\d,]+) +about (\d+)", text).groups()  # type: ignore[union-attr]
    assert int(every) == sum(len(quick(e).runs()) for k, e in CONFIGS.items() if k != "trees")
    assert 1 <= int(minutes) <= sum(each.minutes for each in FIGURES.values()) / 5


def test_every_figure_of_the_paper_is_listed_or_a_drawing() -> None:
    covered: set[int] = set()
    for figure in FIGURES.values():
        if figure.paper.startswith("Fig"):
            numbers = re.sub(r"rows? [\d\-, ]+|[a-f]", "", figure.paper.removeprefix("Fig"))
            for first, last in re.findall(r"(\d+)(?:-(\d+))?", numbers):
                covered.update(range(int(first), int(last or first) + 1))
    assert covered | set(DRAWINGS) == set(range(1, 27)) and not covered & set(DRAWINGS)
    caption = str(listing().caption)
    assert all(f"{number} ({what})" in caption for number, what in DRAWINGS.items())


@given(st.integers(1, 9), st.integers(0, 200))
def test_every_run_belongs_to_exactly_one_part(of: int, runs: int) -> None:
    parts = [Part(k, of) for k in range(1, of + 1)]
    assert all(sum(part.has(i) for part in parts) == 1 for i in range(runs))


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "a/b", "1/0", ""])
def test_an_invalid_part_is_refused(text: str) -> None:
    with pytest.raises(SettingError, match="--part takes K/N"):
        Part.read(text)


# --------------------------------------------------------------------------- reproducing figures


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def walls_records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return records of the figure `walls`: quick, with one seed."""
    out = tmp_path_factory.mktemp("reproduced")
    counts = reproduce(chosen(["walls"]), out, small=True, seeds=1, processes=0)
    assert (counts.performed, counts.kept, counts.failed) == (4, 0, 0)
    return out


def test_a_figure_leaves_records_of_all_its_runs(walls_records: Path) -> None:
    records = read(walls_records / "walls")
    assert records.manifest["title"] == "walls (quick)"
    assert [run.label for run in records.runs] == FOUR
    assert {run.status for run in records.runs} == {"finished"}


def test_the_same_command_again_only_writes_the_report(
    walls_records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = files(walls_records / "walls" / "runs")
    with pytest.raises(SystemExit) as exit_:
        cli.main(["reproduce", "walls", "--quick", "--seeds", "1", "--out", str(walls_records)])
    assert not exit_.value.code
    text = capsys.readouterr().out
    assert "0 runs performed, 4 kept" in text and "index.html" in text
    assert files(walls_records / "walls" / "runs") == before
    results = (walls_records / "report" / "results.md").read_text(encoding="utf-8")
    assert "walls (quick)" in results and "yes (quick)" in results


def test_only_missing_runs_are_performed(walls_records: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {"small": True, "seeds": 1, "processes": 0}
    walls = chosen(["walls"])
    one = reproduce(walls, tmp_path, part=Part(1, 2), **options)
    assert (one.performed, one.kept) == (2, 0)
    assert sorted(run.status for run in read(tmp_path / "walls").runs) == [
        "finished", "finished", "missing", "missing",
    ]  # fmt: skip
    rest = reproduce(walls, tmp_path, **options)
    assert (rest.performed, rest.kept) == (2, 2)
    again, all_at_once = read(tmp_path / "walls"), read(walls_records / "walls")
    for a, b in zip(again.runs, all_at_once.runs, strict=True):
        assert a.key == b.key and a.last_error == b.last_error
        assert a.errors[0].tolist() == b.errors[0].tolist()


def test_quick_and_full_records_do_not_mix(walls_records: Path) -> None:
    with pytest.raises(SettingError, match="has quick records"):
        reproduce(chosen(["walls"]), walls_records, small=False, processes=0)


def test_models_of_trees_are_learned_once(tmp_path: Path) -> None:
    config = experiment(FIGURES["trees"], small=True)
    assert config is not None
    config = replace(config, worlds=tuple(replace(e, steps=200) for e in config.worlds))
    messages: list[str] = []
    figures.reproduce.learn_models(config, tmp_path, messages.append)
    figures.reproduce.learn_models(config, tmp_path, messages.append)
    assert len(messages) == 3  # only the first call learns
    assert TreeThink.load(tmp_path / "maze.tt").observations == 200


def test_every_world_has_a_picture_in_the_papers_order(tmp_path: Path) -> None:
    figures.reproduce.draw_states(tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert len(names) == len(STATES) == 16
    assert names[0] == "00-walls.png" and names[-1] == "15-scale-8-8.png"
    assert all((tmp_path / name).read_bytes()[:4] == b"\x89PNG" for name in names)


def test_ctrl_c_says_that_the_same_command_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("treethink.repro.figures.reproduce.perform_all", interrupt)
    with pytest.raises(SystemExit) as exit_:
        cli.main(["reproduce", "walls", "--quick", "--out", str(tmp_path)])
    assert exit_.value.code == cli._output.INTERRUPTED
    assert "run the same command to resume" in capsys.readouterr().err


@pytest.mark.parametrize("imported", ["treethink", "treethink.cli"])
def test_the_reproduction_of_the_paper_is_imported_lazily(imported: str) -> None:
    lazy = [
        "bench",
        "report",
        "figures.reproduce",
        "runner.config",
        "runner.pool",
        "runner.records",
    ]
    program = (
        f"import sys, {imported}\n"
        f"print([each for each in {lazy!r} if f'treethink.repro.{{each}}' in sys.modules])\n"
        f"print({imported != 'treethink'} or 'treethink.repro' not in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.stdout == "[]\nTrue\n", result.stderr
