"""Recipes: those of the paper as the paper has them, and what is wrong with others."""

import csv
import re
from dataclasses import replace

import pytest

import goalward
from goalward.errors import GoalwardError
from goalward.experiments.paper_comparison import (
    beside_the_paper,
    claims,
    read_paper_results,
)
from goalward.experiments.recipe import case_studies, find_recipe, read_recipe
from goalward.experiments.results import ResultRow, Results
from goalward.metrics.score import Score
from goalward.training.methods.presets import PRESETS
from goalward.training.methods.table import METHODS

OURS = {"Ours": "liveness", "Ours-NB": "liveness-nb", "TD(0)": "td", "MC": "mc", "MC-D": "mc-dist"}
# In the order of the paper's tables.
TASKS = ("libero", "square", "cloth")
METRICS = ("success", "failure", "composite")
NUMBER = re.compile(r"(\d\.\d{4}) \\pm (\d\.\d{4})")


def transcribed(name):
    """(encoder, size, method, metric) -> (mean, sd) as they are written."""
    with find_recipe(name).paper_results.open(newline="") as file:
        rows = list(csv.DictReader(file))
    found = {
        (row["encoder"], int(row["size"]), row["method"], row["metric"]): (row["mean"], row["sd"])
        for row in rows
    }
    assert len(found) == len(rows)
    return found


@pytest.fixture(scope="module")
def paper(pytestconfig):
    path = pytestconfig.rootpath.parent / "shared" / "paper.tex"
    if not path.is_file():
        pytest.skip("the paper's source is not there")
    return path.read_text()


def table(paper, label):
    """The lines of a table that hold numbers, as lists of cells."""
    before = paper[: paper.index(rf"\label{{{label}}}")]
    body = before[before.rindex(r"\begin{tabular}") :]
    lines = [line for line in body.splitlines() if r"\pm" in line]
    return [
        [cell.replace(r"\shade", "").strip(" \\") for cell in line.split("&")] for line in lines
    ]


def number(cell):
    return NUMBER.search(cell).groups()


def test_sizes_are_transcribed_from_the_paper(paper):
    reported = {task: {} for task in TASKS}
    for metric in METRICS:
        lines = table(paper, f"tab:dataset_ablation_{metric}_metric")
        assert len(lines) == 15
        for index, (_, method, *cells) in enumerate(lines):
            for size, cell in zip((50, 100, 150, 200), cells, strict=True):
                if cell != "--":
                    key = ("siglip2", size, OURS[method], metric)
                    reported[TASKS[index // 5]][key] = number(cell)
    for task in TASKS:
        ours = {key: value for key, value in transcribed(task).items() if key[0] == "siglip2"}
        assert ours == reported[task]
    assert [len(reported[task]) for task in TASKS] == [60, 60, 45]


def test_full_data_sets_are_transcribed_from_the_paper(paper):
    lines = table(paper, "tab:metrics_results_full_dataset")
    assert len(lines) == 15
    for index, (_, method, *cells) in enumerate(lines):
        task = TASKS[index // 5]
        size = 150 if task == "cloth" else 200
        for metric, cell in zip(METRICS, cells, strict=True):
            assert transcribed(task)["siglip2", size, OURS[method], metric] == number(cell)


def test_encoders_are_transcribed_from_the_paper(paper):
    lines = table(paper, "tab:encoder_ablation_results")
    assert [line[0] for line in lines] == ["SigLIP2", "CLIP", "DINOv2"]
    for encoder, *cells in lines:
        for metric, cell in zip(METRICS, cells, strict=True):
            found = transcribed("cloth")[encoder.lower(), 150, "liveness", metric]
            assert found == number(cell)


@pytest.mark.parametrize(
    ("name", "horizon", "sizes", "n_obs_steps", "num_cameras"),
    [
        ("libero", 200, (50, 100, 150, 200), 1, 2),
        ("square", 100, (50, 100, 150, 200), 2, 2),
        ("cloth", 100, (50, 100, 150), 1, 1),
    ],
)
def test_case_studies_are_those_of_the_paper(name, horizon, sizes, n_obs_steps, num_cameras):
    recipe = find_recipe(name)
    assert recipe.name == recipe.preset == name
    assert recipe.standard_horizon == horizon
    assert recipe.sizes == sizes
    assert recipe.seeds == 5
    assert recipe.methods == tuple(OURS.values())
    assert recipe.n_obs_steps == n_obs_steps
    assert len(recipe.cameras) == num_cameras
    assert recipe.data.wanted == ("train", "test")
    assert recipe.preset in PRESETS
    assert set(recipe.methods) <= set(METHODS)
    reported = read_paper_results(recipe.paper_results)
    encoders = {encoder for encoder, _, _, _ in reported}
    assert encoders == set(recipe.encoders)
    assert {size for _, size, _, _ in reported} == set(sizes)
    some = reported["siglip2", sizes[-1], "liveness", "composite"]
    assert some.mean == {"libero": 0.9519, "square": 0.8096, "cloth": 0.7828}[name]


def test_case_studies_come_with_the_package():
    assert case_studies() == ("cloth", "libero", "square")


# ---- recipes of others ------------------------------------------------------------------------

GOOD = """\
title = "Cups"
standard_horizon = 40
sizes = [4, 8]

[data]
train = "a"
test = "b"
"""


def write(folder, text):
    path = folder / "recipe.toml"
    path.write_text(text)
    return path


def test_what_is_left_open_has_a_default(tmp_path):
    recipe = read_recipe(write(tmp_path, GOOD))
    assert recipe.name == tmp_path.name
    assert recipe.cameras is None
    assert recipe.encoders == ("siglip2",)
    assert recipe.methods == tuple(OURS.values())
    assert (recipe.pool, recipe.n_obs_steps, recipe.preset, recipe.seeds) == (
        "global",
        1,
        "default",
        5,
    )
    assert recipe.paper_results is None
    assert read_paper_results(recipe.paper_results) == {}
    assert find_recipe(str(tmp_path)) == find_recipe(str(tmp_path / "recipe.toml")) == recipe


def test_without_cameras_features_are_proprioception(tmp_path):
    recipe = read_recipe(write(tmp_path, "cameras = []\n" + GOOD))
    assert recipe.encoders == ("proprioception",)


def test_one_data_set_to_be_split(tmp_path):
    data = 'rollouts = "all"\ntest_fraction = 0.25\nsuccess_key = "won"\n'
    recipe = read_recipe(write(tmp_path, GOOD.partition("train")[0] + data))
    assert recipe.data.wanted == ("all",)
    assert recipe.data.test_fraction == 0.25
    assert recipe.data.success_key == "won"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("sizes", "size", "recipe.toml: unknown key 'size'; keys are title, data, cameras"),
        ("train", "training", r"recipe.toml, \[data\]: unknown key 'training'"),
        ('title = "Cups"', "", "recipe.toml: title is missing; it is a text"),
        ('"Cups"', "3", "title must be a text, got 3"),
        ("40", '"40"', "standard_horizon must be a whole number of at least 1, got '40'"),
        ("40", "true", "standard_horizon must be a whole number of at least 1, got True"),
        ("[4, 8]", "[4, 7]", "sizes must be a list of different even numbers"),
        ("[4, 8]", "[4, 4]", "sizes must be a list of different even numbers"),
        ("[4, 8]", "8", "sizes must be a list of different even numbers"),
        ("sizes", "methods = []\nsizes", "methods must be a list of one or more different texts"),
        ("sizes", 'cameras = "top"\nsizes', "cameras must be a list of different texts"),
        ("sizes", 'cameras = []\nencoders = ["clip"]\nsizes', "nothing for encoders to encode"),
        ("sizes", "data = 3\nsizes", "cannot be read as TOML"),
        ('test = "b"', "", "wants train and test, or rollouts and test_fraction; it has train"),
        ('test = "b"', "test_fraction = 0.5", "it has test_fraction, train"),
        ('"b"', '"a"', "training and test episodes are the same data set"),
        ("= 40", "40", "cannot be read as TOML"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, old, new, message):
    with pytest.raises(goalward.GoalwardError, match=message):
        read_recipe(write(tmp_path, GOOD.replace(old, new, 1)))


@pytest.mark.parametrize("share", ["0", "1.0", "true", '"half"'])
def test_a_share_lies_between_0_and_1(tmp_path, share):
    text = GOOD.partition("train")[0] + f'rollouts = "all"\ntest_fraction = {share}\n'
    with pytest.raises(goalward.GoalwardError, match="test_fraction must be a number between"):
        read_recipe(write(tmp_path, text))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("squre", "no case study 'squre'; there are cloth, libero, square"),
        ("nowhere/recipe.toml", "nowhere/recipe.toml: no such recipe"),
    ],
)
def test_recipes_that_are_not_there(name, message):
    with pytest.raises(goalward.GoalwardError, match=message):
        find_recipe(name)


def test_missing_data_say_what_is_wanted(tmp_path):
    (tmp_path / "train").mkdir()
    with pytest.raises(goalward.GoalwardError) as error:
        find_recipe("square").check_data(tmp_path)
    assert str(error.value) == (
        f"{tmp_path}/test: no such data set. Square peg and hole insertion wants in the data "
        f"folder {tmp_path}: train (at least 200 episodes, half of them successes) and test (other "
        "episodes of the same policy), in any format that `goalward inspect` reads, with cameras "
        "agentview, robot0_eye_in_hand"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("size,method\n", "its columns must be encoder, size, method, metric, mean, sd"),
        ("encoder,size,method,metric,mean,sd\na,x,td,success,1,1\n", "cannot be read as results"),
        ("encoder,size,method,metric,mean,sd\na,4,td\n", "cannot be read as results"),
        ("encoder,size,method,metric,mean,sd\n" + "a,4,td,success,1,1\n" * 2, "is there twice"),
    ],
)
def test_wrong_results_of_a_paper(tmp_path, text, message):
    path = tmp_path / "paper_results.csv"
    path.write_text(text)
    with pytest.raises(goalward.GoalwardError, match=message):
        read_paper_results(path)


# ---- beside the paper -------------------------------------------------------------------------


def results(**scores):
    """Success of each method by seed; failure is nearly the same for all, composite between."""
    rows = []
    for index, (method, values) in enumerate(scores.items()):
        for seed, value in enumerate(values):
            for metric, score in (
                ("success", value),
                ("failure", 0.9 + 0.001 * seed - 1e-5 * index),
                ("composite", (value + 0.9) / 2),
            ):
                rows.append(ResultRow("siglip2", 50, method, seed, metric, Score(score)))
    return Results(tuple(rows))


def test_ours_and_theirs_side_by_side():
    ours = results(liveness=[0.70, 0.71, 0.72], td=[0.50, 0.51, 0.52])
    paper = read_paper_results(find_recipe("square").paper_results)
    (beside,) = beside_the_paper(ours, paper)
    assert beside.heading == "siglip2, 50 training episodes"
    assert beside.table.markdown().splitlines()[:4] == [
        "| method | success, ours | success, paper | failure, ours | failure, paper "
        "| composite, ours | composite, paper |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        "| liveness | **0.710 ± 0.010** | **0.698 ± 0.009** | **0.901 ± 0.001** "
        "| **0.869 ± 0.001** | **0.805 ± 0.005** | **0.783 ± 0.004** |",
        "| td | 0.510 ± 0.010 \\* | 0.489 ± 0.009 | **0.901 ± 0.001** | 0.847 ± 0.091 "
        "| 0.705 ± 0.005 \\* | 0.668 ± 0.042 |",
    ]


def test_what_the_paper_does_not_report():
    ours = results(liveness=[0.70, 0.71], survival=[0.50, 0.51])
    paper = read_paper_results(find_recipe("square").paper_results)
    (beside,) = beside_the_paper(ours, paper)
    assert beside.paper.rows[1][1][0].plain() == "not reported"
    (alone,) = beside_the_paper(ours, {})
    assert alone.paper is None
    assert alone.table.columns == METRICS


def test_beside_another_encoder_stands_the_papers_first():
    ours = results(liveness=[0.70, 0.71], td=[0.50, 0.51])
    rows = tuple(replace(row, encoder="effnet-lite0") for row in ours.rows)
    paper = read_paper_results(find_recipe("square").paper_results)
    (beside,) = beside_the_paper(Results(rows), paper)
    assert beside.heading == "effnet-lite0, 50 training episodes (the paper's: siglip2)"
    assert beside.paper.rows[0][1][0].mean == 0.6981


def test_a_recipe_names_the_case_it_is_compared_with(tmp_path):
    recipe = tmp_path / "recipe.toml"
    text = 'title = "Mine"\nstandard_horizon = 9\nsizes = [2]\npaper = "{}"\n'
    data = '[data]\ntrain = "a"\ntest = "b"\n'
    recipe.write_text(text.format("cloth") + data)
    assert read_recipe(recipe).paper_results == find_recipe("cloth").paper_results
    recipe.write_text(text.format("towel") + data)
    with pytest.raises(GoalwardError, match="one of cloth, libero, square, got towel"):
        read_recipe(recipe)


def test_the_claim_is_asked_of_our_results():
    ours = results(liveness=[0.70, 0.71, 0.72], td=[0.50, 0.51, 0.52], mc=[0.90, 0.91, 0.92])
    success, composite = claims(ours)
    assert (success.metric, composite.metric) == ("success", "composite")
    assert success.not_above == ("mc",)
    assert success.in_words == "no: not clearly above mc"
    (better, _) = claims(results(liveness=[0.70, 0.71, 0.72], td=[0.50, 0.51, 0.52]))
    assert better.in_words == "yes"
    assert claims(results(td=[0.5, 0.6], mc=[0.4, 0.6])) == []
    assert claims(results(liveness=[0.5], mc=[0.6])) == []
