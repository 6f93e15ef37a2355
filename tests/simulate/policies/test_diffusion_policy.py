"""The diffusion policy on a task whose right actions are known; no simulator is needed."""

import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from goalward.errors import GoalwardError
from goalward.simulate.policies.diffusion_net import (
    Denoiser,
    Sizes,
    add_noise,
    ddim_step,
    read_denoiser,
    write_denoiser,
)
from goalward.simulate.policies.diffusion_policy import DiffusionPolicy, one_thread
from goalward.simulate.worlds.world import World

TRAIN_POLICY = Path(__file__).parents[3] / "case_studies" / "train_policy.py"
SPEED = 0.05


class Corridor(World):
    """A point goes straight to its target; in every episode it keeps left or right all the way.

    The first action is the motion, the second the side, which nothing observed tells beforehand.
    """

    action_size = 2

    def reset(self, generator: np.random.Generator) -> None:
        self.position, self.target = generator.uniform(-1, 1, 2)
        self.side = 0.0

    def step(self, action: np.ndarray) -> None:
        self.position += SPEED * action[0]
        self.side = action[1]

    def succeeded(self) -> bool:
        return abs(self.position - self.target) < 0.2 * SPEED

    def holds(self) -> bool:
        return False

    def proprioception(self) -> np.ndarray:
        return np.array([self.position, self.side])

    def state(self) -> np.ndarray:
        # The second number never changes.
        return np.array([self.target, 7.0])

    def snapshot(self) -> np.ndarray:
        return np.array([self.position, self.target, self.side])

    def restore(self, snapshot: np.ndarray) -> None:
        self.position, self.target, self.side = snapshot


def right_motions(position: float, target: float, num_steps: int) -> list[float]:
    """At full speed to the target, then rest on it."""
    motions: list[float] = []
    for _ in range(num_steps):
        motions.append(float(np.clip((target - position) / SPEED, -1, 1)))
        position += SPEED * motions[-1]
    return motions


def write_demonstrations(path: Path, num_episodes: int, num_steps: int = 30) -> None:
    rng = np.random.default_rng(0)
    world = Corridor()
    observations, actions = [], []
    for _ in range(num_episodes):
        world.reset(rng)
        side = rng.choice([-1.0, 1.0])
        for motion in right_motions(world.position, world.target, num_steps):
            observations.append(np.concatenate([world.proprioception(), world.state()]))
            actions.append([motion, side])
            world.step(actions[-1])
    ends = np.arange(1, num_episodes + 1) * num_steps
    np.savez(path, observations=observations, actions=actions, episode_ends=ends)


def train(demonstrations: Path, out: Path, *options: str) -> None:
    main = runpy.run_path(str(TRAIN_POLICY))["main"]
    with one_thread():
        main([str(demonstrations), "--out", str(out), "--device", "cpu", *options])


@pytest.fixture(scope="module")
def demonstrations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demonstrations") / "demos.npz"
    write_demonstrations(path, num_episodes=200)
    return path


@pytest.fixture(scope="module")
def trained(demonstrations: Path) -> Path:
    path = demonstrations.with_name("policy.safetensors")
    options = ("--steps", "1000", "--batch", "128", "--width", "96", "--blocks", "2")
    train(demonstrations, path, *options, "--learning-rate", "3e-3")
    return path


@pytest.fixture
def untrained(tmp_path: Path) -> Path:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        denoiser = Denoiser(Sizes(4, 2, width=8, num_blocks=1))
    path = tmp_path / "untrained.safetensors"
    write_denoiser(path, denoiser)
    return path


# ---------------------------------------------------------------- noise


def test_a_ddim_step_agrees_with_a_computation_by_hand():
    # With 0.64 of the power left, 0.8 of the clean and 0.6 of the noise are in the sum: noisy 0.7
    # with clean 0.5 holds noise (0.7 - 0.8 * 0.5) / 0.6 = 0.5. With 0.9604 left it is
    # 0.98 * 0.5 + sqrt(0.0396) * 0.5 = 0.49 + 0.0994987.
    stepped = ddim_step(
        torch.tensor([0.7]), torch.tensor([0.5]), torch.tensor(0.64), torch.tensor(0.9604)
    )
    assert stepped.item() == pytest.approx(0.5894987, abs=1e-6)


def test_the_last_ddim_step_gives_the_clean_actions():
    clean = torch.tensor([-1.0, 0.25])
    last = ddim_step(torch.tensor([3.0, -2.0]), clean, torch.tensor(0.3), torch.tensor(1.0))
    assert last.tolist() == clean.tolist()


def test_noise_is_added_by_its_share_of_the_power():
    noisy = add_noise(torch.tensor([0.5]), torch.tensor([-1.5]), torch.tensor(0.64))
    assert noisy.item() == pytest.approx(0.8 * 0.5 - 0.6 * 1.5)


def test_ranges_become_minus_one_to_one_and_constants_zero():
    denoiser = Denoiser(Sizes(2, 1, width=8, num_blocks=1))
    denoiser.take_ranges(torch.tensor([[2.0, 7.0], [6.0, 7.0]]), torch.tensor([[0.0], [0.5]]))
    observed = denoiser.normalised_observations(torch.tensor([[2.0, 7.0], [4.0, 7.0], [60.0, 7.2]]))
    torch.testing.assert_close(observed, torch.tensor([[-1.0, 0.0], [0.0, 0.0], [1.5, 0.2]]))
    assert denoiser.normalised_actions(torch.tensor([0.5])).tolist() == [1.0]


# ---------------------------------------------------------------- what is learned


def test_sampled_actions_are_the_right_ones(trained: Path):
    denoiser = read_denoiser(trained)
    rng = np.random.default_rng(1)
    errors = []
    for _ in range(40):
        position, target = rng.uniform(-0.9, 0.9, 2)
        now = torch.tensor([[[position, 1.0, target, 7.0]] * 2], dtype=torch.float32)
        noise = torch.from_numpy(rng.standard_normal((1, 16, 2), dtype=np.float32))
        planned = denoiser.sample(now, noise)[0, 1:].numpy()
        right = right_motions(position, target, 15)
        errors.append(np.abs(planned[:, 0] - right).mean())
        # The side taken before is kept.
        assert planned[:, 1].mean() > 0.9
    assert np.mean(errors) < 0.15


def test_where_demonstrations_differ_either_way_is_taken_and_none_between(trained: Path):
    denoiser = read_denoiser(trained)
    first = torch.tensor([[[-0.5, 0.0, 0.5, 7.0]] * 2] * 64)
    noise = torch.from_numpy(np.random.default_rng(2).standard_normal((64, 16, 2), np.float32))
    sides = denoiser.sample(first, noise)[:, 1:, 1].mean(1).numpy()
    assert np.mean(np.abs(sides) > 0.9) > 0.9
    assert 0.2 < np.mean(sides > 0) < 0.8


def test_the_policy_reaches_its_targets(trained: Path):
    world, policy = Corridor(), DiffusionPolicy(trained)
    reached = 0
    for episode in range(10):
        world.reset(np.random.default_rng(episode))
        policy.reset(world, np.random.default_rng(episode))
        for _ in range(60):
            world.step(policy.act(world))
            if world.succeeded():
                reached += 1
                break
    assert reached >= 9


def test_the_same_seed_trains_the_same_weights_and_another_one_others(
    demonstrations: Path, tmp_path: Path
):
    for name, seed in (("first", "3"), ("again", "3"), ("other", "4")):
        options = ("--steps", "15", "--batch", "16", "--demos", "5", "--seed", seed)
        train(demonstrations, tmp_path / name, *options)
    first, again, other = (load_file(tmp_path / name) for name in ("first", "again", "other"))
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["enter.weight"], other["enter.weight"])


def test_demos_takes_the_first_demonstrations_only(demonstrations: Path, tmp_path: Path):
    train(demonstrations, tmp_path / "five", "--steps", "2", "--batch", "4", "--demos", "5")
    positions = np.load(demonstrations)["observations"][:150, 0]
    ranges = load_file(tmp_path / "five")
    assert ranges["observation_low"][0].item() == pytest.approx(positions.min())
    assert ranges["observation_high"][0].item() == pytest.approx(positions.max())


# ---------------------------------------------------------------- what is remembered


def run_steps(world: World, policy: DiffusionPolicy, num_steps: int) -> list[tuple[list, str]]:
    """Before every step: the snapshot of the world and what the policy remembers."""
    before = []
    for _ in range(num_steps):
        before.append((world.snapshot().tolist(), policy.remember()))
        world.step(policy.act(world))
    return before


@pytest.mark.parametrize("middle", [0, 1, 5, 8, 23])
def test_a_restored_episode_goes_on_exactly(untrained: Path, middle: int):
    world, policy = Corridor(), DiffusionPolicy(untrained)
    world.reset(np.random.default_rng(0))
    policy.reset(world, np.random.default_rng(1))
    recorded = run_steps(world, policy, 40)

    other_world, other_policy = Corridor(), DiffusionPolicy(untrained)
    snapshot, memory = recorded[middle]
    other_world.restore(np.array(snapshot))
    other_policy.recall(memory)
    assert run_steps(other_world, other_policy, 40 - middle) == recorded[middle:]


def test_with_another_generator_the_plan_is_finished_and_the_next_one_differs(untrained: Path):
    world, policy = Corridor(), DiffusionPolicy(untrained)
    world.reset(np.random.default_rng(0))
    policy.reset(world, np.random.default_rng(1))
    recorded = [snapshot for snapshot, _ in run_steps(world, policy, 5)]
    middle, memory = world.snapshot(), policy.remember()
    recorded += [snapshot for snapshot, _ in run_steps(world, policy, 6)]

    world.restore(middle)
    policy.recall(memory, np.random.default_rng(2))
    anew = [snapshot for snapshot, _ in run_steps(world, policy, 6)]
    # 8 actions of the first plan lead to the first 9 snapshots.
    assert anew[:4] == recorded[5:9]
    assert anew[4] != recorded[9]


def test_the_same_seed_acts_the_same_and_another_one_otherwise(untrained: Path):
    world, policy = Corridor(), DiffusionPolicy(untrained)
    world.reset(np.random.default_rng(0))
    chosen = []
    for seed in (5, 5, 6):
        policy.reset(world, np.random.default_rng(seed))
        chosen.append(policy.act(world).tolist())
    assert chosen[0] == chosen[1] != chosen[2]


def test_only_every_eighth_step_plans(untrained: Path):
    world, policy = Corridor(), DiffusionPolicy(untrained)
    world.reset(np.random.default_rng(0))
    policy.reset(world, np.random.default_rng(1))
    generators = []
    for _ in range(17):
        generators.append(policy.generator.bit_generator.state["state"]["state"])
        world.step(policy.act(world))
    planned = [step for step in range(16) if generators[step] != generators[step + 1]]
    assert planned == [0, 8]


def test_the_number_of_threads_is_as_it_was(untrained: Path):
    before = torch.get_num_threads()
    with one_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before


# ---------------------------------------------------------------- files


def test_a_file_with_a_wrong_shape_is_refused(untrained: Path):
    tensors = load_file(untrained)
    header = {"sizes": '{"observation": 5, "action": 2, "width": 8, "num_blocks": 1}'}
    save_file(tensors, untrained, metadata=header)
    with pytest.raises(GoalwardError, match=r"untrained.safetensors: observation_high has shape"):
        DiffusionPolicy(untrained)


def test_a_file_without_sizes_or_tensors_is_refused(untrained: Path):
    tensors = load_file(untrained)
    save_file(tensors, untrained)
    with pytest.raises(GoalwardError, match="no diffusion policy"):
        read_denoiser(untrained)
    untrained.write_bytes(b"nothing")
    with pytest.raises(GoalwardError, match="cannot be read"):
        read_denoiser(untrained)
    with pytest.raises(GoalwardError, match="cannot be read"):
        read_denoiser(untrained.with_name("absent"))


def test_a_policy_for_another_world_is_refused(tmp_path: Path):
    path = tmp_path / "other.safetensors"
    sizes = Sizes(4, 2, width=8, num_blocks=1)
    world = Corridor()
    world.reset(np.random.default_rng(0))
    for wrong in (replace(sizes, observation=9), replace(sizes, action=7)):
        write_denoiser(path, Denoiser(wrong))
        with pytest.raises(GoalwardError, match="Corridor has 4 and 2"):
            DiffusionPolicy(path).reset(world, np.random.default_rng(0))


def test_more_actions_than_are_planned_are_refused(untrained: Path):
    DiffusionPolicy(untrained, num_executed=15)
    with pytest.raises(GoalwardError, match="1 to 15 actions ahead, not 16"):
        DiffusionPolicy(untrained, num_executed=16)
