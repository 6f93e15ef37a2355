"""Networks and runs on disk, name by name, and what makes a stored training another one."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

import goalward
from goalward.training.frames.training_frames import training_frames
from goalward.training.methods.stages import BOOTSTRAP, MC, SPARSE, STAGES
from goalward.training.networks.nets import LossLog, Nets
from goalward.training.runs import NetRun
from goalward.training.stored.checkpoint import (
    Checkpoint,
    nets_path,
    read_nets,
    runs_as_json,
    runs_from_json,
    write_nets,
)
from goalward.training.stored.origin import fingerprint
from goalward.training.stored.tensor_file import read_tensors, write_tensors

ANCHOR = NetRun(SPARSE, seed=1, episodes=(0, 2), held_out=(1,), name="lift", fold=0)
RUN = NetRun(BOOTSTRAP, seed=1, episodes=(0, 2, 3), held_out=(1,), name="lift", anchors=(ANCHOR,))
OTHER = NetRun(MC, seed=2, episodes=(4,))
SPARSE_AS_JSON = {
    "stage_name": "sparse",
    "seed": 1,
    "episodes": (0, 2),
    "held_out": (1,),
    "name": "lift",
    "fold": 0,
}
BOOTSTRAP_AS_JSON = {
    "stage_name": "bootstrap",
    "seed": 1,
    "episodes": (0, 2, 3),
    "held_out": (1,),
    "name": "lift",
    "fold": -1,
}
LOG = LossLog(torch.tensor([5, 10]), torch.rand(2, 2), torch.rand(2, 2))
NETS = Nets(
    runs=(RUN, OTHER),
    weights={"weight_0": torch.rand(2, 3, 1), "bias_0": torch.rand(2, 1, 1)},
    mean=torch.rand(2, 1, 3),
    scale=torch.rand(2, 1, 3),
    log=LOG,
    after={"mine/too": [{"slope": torch.tensor(2.0)}, {}]},
    fingerprint="of this training",
)


def test_runs_as_json_and_back():
    """What a run builds on comes before it, and each is written once."""
    assert runs_as_json((RUN, ANCHOR)) == {
        "runs": [1, 0],
        "known": [
            {**SPARSE_AS_JSON, "anchors": []},
            {**BOOTSTRAP_AS_JSON, "anchors": [0]},
        ],
    }
    assert runs_from_json(runs_as_json((RUN, OTHER)), STAGES) == (RUN, OTHER)
    assert runs_from_json(runs_as_json((OTHER, ANCHOR, RUN)), STAGES) == (OTHER, ANCHOR, RUN)


def test_runs_of_version_0_1_0_hold_their_anchors_inside():
    stored = [{**BOOTSTRAP_AS_JSON, "anchors": [{**SPARSE_AS_JSON, "anchors": []}]}]
    assert runs_from_json(stored, STAGES) == (RUN,)


def test_rounds_of_folds_are_written_once_each():
    """Written inside one another, ten rounds of five folds would be ten million runs."""
    runs = ()
    for _ in range(11):
        runs = tuple(NetRun(MC, 0, (0,), fold=fold, anchors=runs) for fold in range(5))
    stored = runs_as_json(runs)
    assert len(stored["known"]) == 55
    assert stored["runs"] == [50, 51, 52, 53, 54]
    (again, *_) = runs_from_json(stored, STAGES)
    assert (again.wave, hash(again)) == (10, hash(runs[0]))


def test_a_stage_that_nobody_knows():
    with pytest.raises(
        goalward.GoalwardError,
        match="^networks of stage 'bootstrap' are stored here, but no method that is known has it$",
    ):
        runs_from_json(runs_as_json((RUN,)), {"sparse": SPARSE})


def test_tensors_and_texts_survive_the_disk(tmp_path):
    path = tmp_path / "some.safetensors"
    learned = torch.rand(2, 3, requires_grad=True)
    write_tensors(path, {"a/b": learned.T}, {"what": "ünder way"})
    tensors, facts = read_tensors(path)
    assert list(tensors) == ["a/b"]
    assert torch.equal(tensors["a/b"], learned.detach().T)
    assert facts == {"what": "ünder way"}
    save_file({"a": torch.zeros(1)}, path)
    assert read_tensors(path)[1] == {}


def test_networks_survive_the_disk(tmp_path):
    path = nets_path(tmp_path, 3)
    assert path == tmp_path / "nets-3.safetensors"
    write_nets(path, NETS)
    tensors, _ = read_tensors(path)
    assert sorted(tensors) == [
        "after/mine/too/0/slope",
        "log/held_out_loss",
        "log/loss",
        "log/steps",
        "mean",
        "scale",
        "weights/bias_0",
        "weights/weight_0",
    ]
    again = read_nets(path, STAGES)
    assert again.runs == NETS.runs
    assert again.fingerprint == "of this training"
    for name, tensor in NETS.weights.items():
        assert torch.equal(again.weights[name], tensor)
    assert again.weights.keys() == NETS.weights.keys()
    assert torch.equal(again.mean, NETS.mean)
    assert torch.equal(again.scale, NETS.scale)
    for name, tensor in vars(LOG).items():
        assert torch.equal(getattr(again.log, name), tensor)
    assert again.after == {"mine/too": [{"slope": torch.tensor(2.0)}, {}]}
    assert again.learned("mine/too") == again.after["mine/too"]
    assert again.learned("other") == [{}, {}]


def test_networks_without_a_log(tmp_path):
    write_nets(tmp_path / "nets", replace(NETS, log=None, after={}))
    again = read_nets(tmp_path / "nets", STAGES)
    assert again.log is None
    assert again.after == {}


# ---- the folder of a training ------------------------------------------------------------------


@pytest.fixture
def checkpoint(tmp_path):
    return Checkpoint(tmp_path, "of this training", STAGES)


def test_finished_groups_are_those_of_this_training(checkpoint):
    assert checkpoint.finished(0) is None
    checkpoint.finish(0, NETS)
    found = checkpoint.finished(0)
    assert found.runs == NETS.runs
    assert found.log is not None
    # What a step after training learned is learned anew.
    assert found.after == {}
    assert checkpoint.finished(1) is None
    assert replace(checkpoint, fingerprint="of another").finished(0) is None


def test_progress_is_that_of_this_training_and_group(checkpoint):
    assert checkpoint.progress(1) is None
    checkpoint.save_progress(1, {"batch": torch.tensor(7)})
    assert checkpoint.progress(1) == {"batch": torch.tensor(7)}
    assert checkpoint.progress(0) is None
    assert replace(checkpoint, fingerprint="of another").progress(1) is None
    # A finished group leaves none.
    checkpoint.finish(1, NETS)
    assert checkpoint.progress(1) is None
    assert [path.name for path in checkpoint.folder.iterdir()] == ["nets-1.safetensors"]
    checkpoint.finish(2, NETS)


# ---- what a training is made from --------------------------------------------------------------

LENGTHS = [900, 1200]


def made(change=None, outcomes=("success", "time_out"), goal_frames=(899, None)):
    features = [np.zeros((length, 2), dtype=np.float32) for length in LENGTHS]
    if change is not None:
        features[change[0]][change[1]] = 1.0
    rollouts = goalward.from_arrays(features, outcomes=list(outcomes), goal_frames=goal_frames)
    return training_frames(rollouts)


@pytest.fixture
def origin(numbers):
    return fingerprint(made(), numbers, [(RUN,)])


def test_a_fingerprint_is_32_digits_and_a_checksum(origin, numbers):
    digest, checksum = origin.split("-")
    assert (len(digest), len(checksum)) == (32, 8)
    assert int(digest, 16) >= 0
    assert fingerprint(made(), numbers, [(RUN,)]) == origin


@pytest.mark.parametrize("change", [(0, 0), (1, 1199)])
def test_the_first_and_the_last_frame_are_always_looked_at(origin, numbers, change):
    assert fingerprint(made(change), numbers, [(RUN,)]) != origin


def test_every_frame_counts(origin, numbers):
    changed = [fingerprint(made((0, frame)), numbers, [(RUN,)]) for frame in range(0, 60)]
    assert all(one != origin for one in changed)
    # Of version 0.1.0, which looked at 997 of these 2100 frames, networks are still read.
    known = [one.split("-")[0] != origin.split("-")[0] for one in changed]
    assert sum(known) == pytest.approx(60 * 997 / 2100, abs=1)


def test_networks_without_a_checksum_of_all_features_are_read(tmp_path, origin):
    for noted, is_read in (
        (origin, True),
        (origin.split("-")[0], True),
        (f"{origin[:-1]}x", False),
        ("", False),
    ):
        write_nets(nets_path(tmp_path, 0), replace(NETS, fingerprint=noted))
        checkpoint = Checkpoint(tmp_path, origin, STAGES)
        assert (checkpoint.finished(0) is not None) == is_read
        replace(checkpoint, fingerprint=noted).save_progress(0, {"step": torch.ones(1)})
        assert (checkpoint.progress(0) is not None) == is_read
        assert checkpoint.progress(1) is None


def test_a_fit_of_other_frames_trains_again(tmp_path, origin):
    """Into the folder of one whose features differ in a single frame of 1200."""
    ramp, still = np.linspace(0, 1, 600)[:, None], np.zeros((600, 1))
    moved = ramp.copy()
    moved[401] = 9.0
    rollouts = [
        goalward.from_arrays([success, still], success=[True, False]) for success in (ramp, moved)
    ]
    numbers = {"seeds": 1, "width": 4, "num_layers": 2, "num_steps": 4, "batch_size": 8}
    first, other = [
        goalward.fit(one, "mc", checkpoint=tmp_path, device="cpu", **numbers) for one in rollouts
    ]
    digests = [fitted.nets[0].fingerprint.split("-")[0] for fitted in (first, other)]
    assert digests[0] == digests[1], "version 0.1.0 did not look at this frame"
    assert not torch.equal(first.nets[0].mean, other.nets[0].mean)


@pytest.mark.parametrize(
    "other",
    [
        {"outcomes": ("success", "failure")},
        {"goal_frames": (898, None)},
    ],
)
def test_other_outcomes_and_goals_are_another_training(origin, numbers, other):
    assert fingerprint(made(**other), numbers, [(RUN,)]) != origin


def test_other_runs_and_numbers_are_another_training(origin, numbers):
    found = {
        fingerprint(made(), numbers, groups)
        for groups in ([(RUN,)], [(OTHER,)], [(RUN, OTHER)], [(RUN,), (OTHER,)])
    }
    assert len(found) == 4
    assert fingerprint(made(), replace(numbers, width=9), [(RUN,)]) not in found
