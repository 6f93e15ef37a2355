"""LIBERO's assets and what is said without them; then, where they are, its world to the bit."""

import importlib.util
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from goalward.errors import GoalwardError
from goalward.simulate.worlds.libero_assets import (
    ASSETS_VARIABLE,
    SCENE_FILES,
    find_assets,
    keep_libero_from_asking,
    missing_files,
    stand_ins,
)

if TYPE_CHECKING:
    from goalward.simulate.policies.libero_policy import LiberoScript
    from goalward.simulate.worlds.libero import LiberoWorld

REPOSITORY = Path(__file__).parents[3]
BOWL_FOLDER = "stable_scanned_objects/akita_black_bowl"


@pytest.fixture
def assets(tmp_path: Path) -> Path:
    """Folders and files as LIBERO has them, nothing real in them; two of the bowl's are missing."""
    folder = tmp_path / "assets"
    for name in SCENE_FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("<mujoco/>")
    (folder / BOWL_FOLDER / "akita_black_bowl.xml").write_text(
        "<mujoco><asset><texture file='texture.png'/>"
        "<mesh file='visual/akita_black_bowl_vis.msh'/></asset></mujoco>"
    )
    return folder


@pytest.fixture(scope="module")
def stand_in_meshes() -> ModuleType:
    path = REPOSITORY / "case_studies" / "libero" / "stand_in_meshes.py"
    if not path.exists():
        pytest.skip("case_studies is not part of what was installed")
    spec = importlib.util.spec_from_file_location("stand_in_meshes", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def world() -> "Iterator[LiberoWorld]":
    with warnings.catch_warnings():
        # robosuite 1.4 calls a logging method that Python is about to drop.
        warnings.simplefilter("ignore")
        try:
            from goalward.simulate.worlds.libero import LiberoWorld

            world = LiberoWorld()
        except GoalwardError as error:
            pytest.skip(f"LIBERO cannot run here: {error}")
    yield world
    world.close()


def script(world: "LiberoWorld", skill: str, seed: int) -> "LiberoScript":
    from goalward.simulate.policies.libero_policy import LIBERO_SKILLS, LiberoScript

    policy = LiberoScript(LIBERO_SKILLS[skill])
    policy.reset(world, np.random.default_rng(seed))
    return policy


# ---------------------------------------------------------------- assets, without LIBERO


def test_without_the_assets_the_error_says_how_to_get_them_and_where_to_name_them(tmp_path: Path):
    with pytest.raises(GoalwardError) as told:
        find_assets(tmp_path / "nowhere")
    text = str(told.value)
    assert text.startswith(f"{tmp_path / 'nowhere'}: no such folder")
    assert "hf download lerobot/libero-assets --repo-type dataset --local-dir FOLDER" in text
    assert f"export {ASSETS_VARIABLE}=FOLDER" in text


def test_a_mesh_that_a_scene_file_mentions_is_missed(assets: Path):
    (assets / BOWL_FOLDER / "texture.png").write_bytes(b"a picture")
    with pytest.raises(
        GoalwardError, match="it lacks .*/visual/akita_black_bowl_vis.msh. Get them"
    ):
        find_assets(assets)


def test_a_pointer_of_git_lfs_is_not_the_file(assets: Path):
    texture = assets / BOWL_FOLDER / "texture.png"
    texture.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n")
    assert f"{BOWL_FOLDER}/texture.png" in missing_files(assets)


def test_an_empty_folder_names_some_of_the_missing_files_and_counts_the_rest(tmp_path: Path):
    with pytest.raises(GoalwardError, match="libero_tabletop_base_style.xml, .* and 2 more"):
        find_assets(tmp_path)


def test_a_scene_file_that_is_no_xml_is_named(assets: Path):
    (assets / SCENE_FILES[0]).write_text("<mujoco>")
    with pytest.raises(GoalwardError, match="libero_tabletop_base_style.xml: not an XML file"):
        find_assets(assets)


def test_a_folder_given_goes_before_the_variable_and_the_variable_before_libero_s_own(
    assets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stand_in_meshes: ModuleType
):
    stand_in_meshes.make_stand_ins(assets)
    monkeypatch.setenv(ASSETS_VARIABLE, str(tmp_path / "nowhere"))
    assert find_assets(assets) == assets
    with pytest.raises(GoalwardError, match="nowhere: no such folder"):
        find_assets()
    monkeypatch.setenv(ASSETS_VARIABLE, str(assets))
    assert find_assets() == assets


def test_stand_ins_are_made_where_files_are_missing_never_over_a_file_and_are_listed(
    assets: Path, stand_in_meshes: ModuleType
):
    texture = assets / BOWL_FOLDER / "texture.png"
    texture.write_bytes(b"LIBERO's own")
    assert stand_in_meshes.make_stand_ins(assets) == [stand_in_meshes.BOWL_MESH]
    assert texture.read_bytes() == b"LIBERO's own"
    assert stand_ins(assets) == [stand_in_meshes.BOWL_MESH]
    assert missing_files(assets) == []
    assert stand_in_meshes.make_stand_ins(assets) == []
    assert stand_ins(assets) == [stand_in_meshes.BOWL_MESH]


def test_the_bowl_s_stand_in_is_closed_and_its_triangles_face_outwards(stand_in_meshes: ModuleType):
    vertices, triangles = stand_in_meshes.revolved(stand_in_meshes.BOWL_PROFILE, 48)
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    assert {(a, b) for a, b in edges} == {(b, a) for a, b in edges}
    first, second, third = (vertices[triangles[:, corner]] for corner in range(3))
    volume = (np.cross(first, second) * third).sum() / 6
    # A wall of about 2 mm over some 200 square centimetres.
    assert 2e-5 < volume < 8e-5


def test_libero_gets_its_settings_without_a_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    pretend_package(tmp_path, monkeypatch)
    monkeypatch.setenv("LIBERO_CONFIG_PATH", str(tmp_path / "nothing here"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert keep_libero_from_asking() == tmp_path / "libero" / "libero"
    settings = Path(os.environ["LIBERO_CONFIG_PATH"]) / "config.yaml"
    assert f'bddl_files: "{tmp_path}/libero/libero/bddl_files"' in settings.read_text()


def test_settings_that_the_user_has_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pretend_package(tmp_path, monkeypatch)
    (tmp_path / "config.yaml").write_text("assets: /mine\n")
    monkeypatch.setenv("LIBERO_CONFIG_PATH", str(tmp_path))
    keep_libero_from_asking()
    assert os.environ["LIBERO_CONFIG_PATH"] == str(tmp_path)
    assert (tmp_path / "config.yaml").read_text() == "assets: /mine\n"


def pretend_package(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_loader("libero", loader=None, is_package=True)
    assert spec is not None
    spec.submodule_search_locations = [str(folder / "libero")]
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)


# ---------------------------------------------------------------- the world


def test_a_reset_depends_on_its_generator_alone(world: "LiberoWorld"):
    world.reset(np.random.default_rng(3))
    first = world.snapshot()
    world.reset(np.random.default_rng(4))
    assert not np.array_equal(world.snapshot(), first)
    for _ in range(5):
        world.step(np.array([0.5, 0.5, -0.5, 0.1, 0.1, 0.1, 1.0]))
    world.reset(np.random.default_rng(3))
    np.testing.assert_array_equal(world.snapshot(), first)


def test_a_reset_leaves_numpy_s_common_generator_as_it_was(world: "LiberoWorld"):
    before = common_generator_state()
    world.reset(np.random.default_rng(3))
    assert common_generator_state() == before


def common_generator_state() -> list[Any]:
    _, key, *rest = np.random.get_state()  # noqa: NPY002
    return [list(key), *rest]


def test_a_restored_world_goes_on_to_the_bit_also_where_an_action_asks_for_no_rotation(
    world: "LiberoWorld",
):
    generator = np.random.default_rng(0)
    actions = np.clip(generator.normal(0.0, 0.6, (24, 7)), -1, 1)
    # The controller keeps to the last rotation it was asked for: a memory that a snapshot needs.
    actions[6:18, 3:6] = 0.0
    world.reset(np.random.default_rng(5))
    snapshots = []
    for action in actions:
        world.step(action)
        snapshots.append(world.snapshot())
    fixtures = world.model.body_pos.copy()
    world.reset(np.random.default_rng(6))
    assert not np.array_equal(world.model.body_pos, fixtures)
    world.restore(snapshots[9])
    np.testing.assert_array_equal(world.snapshot(), snapshots[9])
    np.testing.assert_array_equal(world.model.body_pos, fixtures)
    for step in range(10, len(actions)):
        world.step(actions[step])
        np.testing.assert_array_equal(world.snapshot(), snapshots[step])


def test_a_step_moves_the_world_as_libero_s_own_step_does(world: "LiberoWorld"):
    world.reset(np.random.default_rng(15))
    start = world.snapshot()
    actions = np.array(
        [[0.5, 0.5, -1.0, 0.1, -0.2, 0.3, 1.0], [0.2, -0.5, -1.0, 0.0, 0.0, 0.0, -1.0]]
    )
    for action in actions:
        world.step(action)
    ours = np.concatenate([world.proprioception(), world.state()])
    world.restore(start)
    before = np.concatenate([world.proprioception(), world.state()])
    for action in actions:
        world.env.step(action)
    world._settle()
    theirs = np.concatenate([world.proprioception(), world.state()])
    assert np.abs(theirs - before).max() > 0.01
    np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_the_script_goes_on_as_it_did_from_the_middle_of_an_episode(world: "LiberoWorld"):
    world.reset(np.random.default_rng(7))
    policy = script(world, "retry", seed=8)
    middle, end = 40, 70
    for _ in range(middle):
        world.step(policy.act(world))
    snapshot, memory = world.snapshot(), policy.remember()
    for _ in range(middle, end):
        world.step(policy.act(world))
    last_snapshot, last_memory = world.snapshot(), policy.remember()

    world.reset(np.random.default_rng(9))
    policy = script(world, "retry", seed=10)
    world.restore(snapshot)
    policy.recall(memory)
    for _ in range(middle, end):
        world.step(policy.act(world))
    np.testing.assert_array_equal(world.snapshot(), last_snapshot)
    assert policy.remember() == last_memory


def test_without_errors_the_script_succeeds_and_libero_agrees_at_every_step(world: "LiberoWorld"):
    world.reset(np.random.default_rng(11))
    policy = script(world, "clean", seed=0)
    held = 0
    for _ in range(150):
        world.step(policy.act(world))
        held += world.holds()
        assert world.at_goal() == world.env._check_success()
        if world.succeeded():
            break
    assert world.succeeded()
    assert policy.noted() == []
    assert held > 20


def test_proprioception_is_what_libero_observes(world: "LiberoWorld"):
    from robosuite.utils.transform_utils import quat2axisangle

    world.reset(np.random.default_rng(12))
    observed = type(world.env)._get_observations(world.env, force_update=True)
    expected = np.concatenate(
        [
            observed["robot0_eef_pos"],
            quat2axisangle(observed["robot0_eef_quat"]),
            observed["robot0_gripper_qpos"],
        ]
    )
    np.testing.assert_allclose(world.proprioception(), expected, atol=1e-9)
    assert len(world.proprioception_names) == len(expected) == 8
    assert len(world.state_names) == len(world.state())


def test_cameras_see_the_table_below_the_wall_and_the_same_after_a_restore(world: "LiberoWorld"):
    from goalward.simulate.worlds.cameras import Cameras

    world.reset(np.random.default_rng(13))
    snapshot = world.snapshot()
    try:
        cameras = Cameras(world, 64)
    except GoalwardError as error:
        pytest.skip(str(error))
    with cameras:
        before = {name: cameras.picture(name) for name in world.cameras}
        world.reset(np.random.default_rng(14))
        for name in world.cameras:
            assert not np.array_equal(cameras.picture(name), before[name])
        world.restore(snapshot)
        for name in world.cameras:
            np.testing.assert_array_equal(cameras.picture(name), before[name])
    # Wood is redder than the grey wall, and upright pictures have it at the bottom.
    redness = before["agentview"].astype(float) @ [1.0, 0.0, -1.0]
    assert redness[-16:].mean() > redness[:16].mean() + 10
