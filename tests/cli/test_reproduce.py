"""`goalward reproduce` from data sets to tables, figures and the page beside the paper."""

import numpy as np
import pytest
import torch
from cyclopts import App
from PIL import Image
from rollout_files.lerobot import WrittenEpisode, distinct_pictures, write_lerobot
from rollout_files.vision_models import write_model

import goalward
from goalward.cli.reproduce import reproduce_command
from goalward.executors.on_ray import RayExecutor
from goalward.experiments.recipe import find_recipe
from goalward.experiments.results import read_results
from goalward.metrics.scores.table import scores_by_seed
from ray_cluster import needs_ray, two_nodes

SMALL = [
    f"--set={text}"
    for text in ("width=8", "num_layers=2", "num_steps=40", "batch_size=32", "learning_rate=0.01")
]
RECIPE = """\
title = "Cups on *saucers*"
cameras = []
standard_horizon = 8
preset = "square"
methods = ["liveness", "mc"]
seeds = 2
sizes = [4, 8]

[data]
train = "train"
test = "test"
"""
PAPER = """\
encoder,size,method,metric,mean,sd
proprioception,4,liveness,success,0.6981,0.0085
proprioception,4,liveness,failure,0.8688,0.0013
proprioception,4,liveness,composite,0.7834,0.0037
proprioception,4,mc,success,0.4349,0.0059
proprioception,4,mc,failure,0.9268,0.0020
proprioception,4,mc,composite,0.6808,0.0032
"""


@pytest.fixture(autouse=True)
def quiet_place(tmp_path, monkeypatch):
    """A narrow terminal, a cache of its own, one thread for small networks."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("GOALWARD_CACHE", str(tmp_path / "cache"))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def episodes(num_episodes, *, seed, cameras=()):
    """In turn successes, whose first number rises, and time-outs, where it does not."""
    written = []
    for index in range(num_episodes):
        rng = np.random.default_rng([seed, index])
        success = index % 2 == 0
        length = int(rng.integers(6, 10)) if success else 12
        rise = np.linspace(0, 1, length) if success else np.zeros(length)
        state = np.stack([rise, rng.normal(size=length)], axis=1)
        reached = [success and frame == length - 1 for frame in range(length)]
        pictures = {
            name: distinct_pictures(length, 32, seed=100 * seed + index) for name in cameras
        }
        written.append(
            WrittenEpisode(pictures, state.astype(np.float32), {"next.success": reached})
        )
    return written


@pytest.fixture
def study(tmp_path):
    """A recipe of states alone, with something from a paper beside it, and its data."""
    write_lerobot(tmp_path / "data" / "train", episodes(8, seed=0))
    write_lerobot(tmp_path / "data" / "test", episodes(6, seed=1))
    folder = tmp_path / "cups"
    folder.mkdir()
    (folder / "recipe.toml").write_text(RECIPE)
    (folder / "paper_results.csv").write_text(PAPER)
    return folder / "recipe.toml"


def reproduce(*arguments):
    app = App(result_action="return_value")
    app.command(reproduce_command, name="reproduce")
    app(["reproduce", *map(str, arguments), "--device=cpu"], exit_on_error=False)


def test_from_data_to_the_page_beside_the_paper(study, tmp_path, capsys):
    out = tmp_path / "out"
    reproduce(study, "--data", tmp_path / "data", "--out", out, *SMALL)
    printed = capsys.readouterr()
    results = read_results(out / "results.parquet")
    assert len(results.rows) == 2 * 2 * 2 * len(scores_by_seed())

    rows = [line.split() for line in printed.out.splitlines()]
    assert ["proprioception,", "4", "training", "episodes"] in rows
    assert ["method", "success", "failure", "composite"] in rows
    paper = ["paper", "0.698", "±", "0.009", "0.869", "±", "0.001", "0.783", "±", "0.004"]
    ours = results.cards("proprioception", 4)["liveness"]["success"].over_seeds
    assert rows[rows.index(paper) - 1][:4] == [
        "liveness",
        str(ours.mean),
        "±",
        str(ours.standard_deviation),
    ]
    assert all(len(line) <= 80 for line in printed.out.splitlines()[:8])
    assert "training: 8 episodes, 4 of them successes" in printed.err

    page = (out / "comparison_with_paper.md").read_text()
    assert page.startswith("# Cups on \\*saucers\\*: beside the paper\n\n2 seeds, preset square, ")
    assert "batch\\_size = 32" in page
    assert "| method | success, ours | success, paper |" in page
    # The paper has nothing on 8 episodes.
    eight = page[page.index("8 training episodes") :]
    assert "| method | success | failure | composite |" in eight
    assert "| proprioception | 8 | composite | " in page

    assert sorted(path.name for path in (out / "tables").glob("*.md")) == [
        "all_scores_proprioception_4.md",
        "all_scores_proprioception_8.md",
        "composite_by_size_proprioception.md",
        "failure_by_size_proprioception.md",
        "paper_metrics_proprioception_4.md",
        "paper_metrics_proprioception_8.md",
        "success_by_size_proprioception.md",
    ]
    assert len(list((out / "tables").glob("*.tex"))) == 7
    assert (
        (out / "tables" / "success_by_size_proprioception.md")
        .read_text()
        .startswith("| method | 4 | 8 |\n")
    )
    for name in ("paper_metrics_proprioception_8", "success_failure_proprioception"):
        with Image.open(out / "figures" / f"{name}.png") as picture:
            assert picture.size[0] >= 600
        assert (out / "figures" / f"{name}.svg").is_file()
    fitted = goalward.load(out / "networks" / "proprioception")
    assert fitted.subsets == ("4", "8")
    assert fitted.numbers.learning_rate == 0.01
    assert fitted.numbers.td_normaliser == 200


@pytest.mark.slow
@needs_ray
def test_the_machines_of_a_cluster_find_the_same(study, tmp_path, capsys, monkeypatch):
    """Networks of one stage are the same to the last bit."""
    begun = []
    enter = RayExecutor.__enter__
    monkeypatch.setattr(RayExecutor, "__enter__", lambda self: [begun.append(self), enter(self)][1])
    arguments = (study, "--data", tmp_path / "data", "--methods=mc", *SMALL)
    with two_nodes():
        reproduce(*arguments, "--out", tmp_path / "there", "--on=ray")
    assert len(begun) == 1
    printed = capsys.readouterr().out
    reproduce(*arguments, "--out", tmp_path / "here")
    assert printed.replace("there", "here") == capsys.readouterr().out
    assert "proprioception, 4 training episodes" in printed
    found, wanted = (read_results(tmp_path / at / "results.parquet") for at in ("there", "here"))
    assert found.rows == wanted.rows


def test_a_second_time_is_quick_and_the_same(study, tmp_path, capsys):
    out = tmp_path / "out"
    arguments = (study, "--data", tmp_path / "data", "--out", out, "--sizes=4", *SMALL)
    reproduce(*arguments)
    first = capsys.readouterr()
    files = {p: p.read_bytes() for p in out.rglob("*") if p.suffix not in (".safetensors", "")}
    reproduce(*arguments)
    second = capsys.readouterr()
    assert "proprioception: results are there already" in second.err
    assert second.out == first.out
    assert {path: path.read_bytes() for path in files} == files


def test_options_replace_what_the_recipe_says(study, tmp_path):
    out = tmp_path / "out"
    options = ("--seeds=1", "--sizes=6", "--methods=td,mc", "--set=time_out=open")
    (study.parent / "paper_results.csv").unlink()
    reproduce(study, "--data", tmp_path / "data", "--out", out, *options, *SMALL)
    results = read_results(out / "results.parquet")
    assert results.methods == ("td", "mc")
    assert results.sizes == (6,)
    assert {row.seed for row in results.rows} == {0}
    assert goalward.load(out / "networks" / "proprioception").numbers.time_out == "open"
    # Nothing of a paper, and one size: no page, no figure over sizes.
    assert not (out / "comparison_with_paper.md").exists()
    assert not list((out / "figures").glob("success_failure*"))


def test_pictures_by_two_encoders(tmp_path, capsys):
    write_lerobot(tmp_path / "data" / "all", episodes(6, seed=0, cameras=("top", "side")))
    models = [write_model(tmp_path / kind, kind) for kind in ("resnet", "clip")]
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        'title = "Pictures"\ncameras = ["top"]\nproprioception = []\nn_obs_steps = 2\n'
        f'encoders = ["{models[0]}", "{models[1]}"]\nstandard_horizon = 8\nseeds = 2\n'
        'methods = ["liveness"]\nsizes = [4]\n'
        '[data]\nrollouts = "all"\ntest_fraction = 0.34\n'
    )
    out = tmp_path / "out"
    reproduce(recipe, "--data", tmp_path / "data", "--out", out, *SMALL)
    results = read_results(out / "results.parquet")
    assert results.encoders == tuple(map(str, models))
    assert len(list((out / "figures").glob("encoders_liveness_4.*"))) == 2
    (folder,) = (out / "networks").glob("*clip*")
    assert goalward.load(folder).feature_layout.endswith("0 proprioceptive numbers; 2 observations")
    printed = capsys.readouterr()
    assert "encoders, liveness, 4 training episodes" in printed.out
    assert "test: 2 episodes, 1 of them successes" in printed.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sizes=4,five"], "--sizes wants whole numbers, got 4,five"),
        (["--sizes=3"], "3 is no even number"),
        (["--sizes=10"], "a balanced sample of 10 needs 5 successes, there are 4"),
        (["--seeds=0"], "--seeds must be at least 1"),
        (["--methods=live"], "no method 'live'"),
        (["--encoders=clip"], "has no cameras, so there is nothing to encode"),
        (["--set=widht=8"], "no hyper-parameter widht"),
        (["--set=width"], "--set wants name=value"),
    ],
)
def test_wrong_arguments_say_what_is_right(study, tmp_path, arguments, message):
    with pytest.raises(goalward.GoalwardError, match=message):
        reproduce(study, "--data", tmp_path / "data", "--out", tmp_path / "out", *arguments)
    assert not (tmp_path / "out" / "results.parquet").exists()


@pytest.mark.parametrize("name", ["square", "libero", "cloth"])
def test_without_the_data_it_says_what_is_wanted(name, tmp_path):
    most = max(find_recipe(name).sizes)
    with pytest.raises(goalward.GoalwardError, match=f"train .at least {most} episodes"):
        reproduce(name, "--data", tmp_path, "--out", tmp_path / "out")


def test_an_unknown_encoder_is_noticed_before_anything_is_read(tmp_path):
    for side in ("train", "test"):
        (tmp_path / side).mkdir()
    with pytest.raises(goalward.GoalwardError, match="no encoder 'clop'"):
        reproduce("cloth", "--data", tmp_path, "--out", tmp_path / "out", "--encoders=siglip2,clop")


def test_where_the_truth_is_known_all_methods_are_compared_with_it(study, tmp_path):
    from goalward.metrics.truth.frame_truth import FrameTruth
    from goalward.values.table import read_values

    out, data = tmp_path / "out", tmp_path / "data"
    reproduce(study, "--data", data, "--out", out, *SMALL)
    values = read_values(out / "values" / "proprioception_8.parquet")
    assert values.methods == ("liveness", "mc")
    assert len(values.episode_ids) == 6
    assert not (out / "truth.md").exists()

    # From frame 2 of every episode, two futures: 4 steps, and never.
    branches = {
        (str(episode), 2, branch): (4, None)[branch] for episode in range(6) for branch in range(2)
    }
    FrameTruth.from_branches(branches, cap=40).write(data / "test" / "truth.parquet")
    reproduce(study, "--data", data, "--out", out, *SMALL)
    page = (out / "truth.md").read_text()
    assert "into 6 frames of 6 held-out episodes" in page
    assert "the policy ran on from each 2 times, for up to 40 steps" in page
    assert "## proprioception, 8 training episodes" in page
    for size in (4, 8):
        assert (out / "tables" / f"truth_proprioception_{size}.csv").is_file()
    assert (out / "figures" / "truth_proprioception_8.png").is_file()
