"""Vision models of transformers: the vectors are those of the library's own forward pass."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from rollout_files.lerobot import WrittenEpisode, decoded, distinct_pictures, write_lerobot
from rollout_files.small_encoder import noise, picture_rollouts
from rollout_files.vision_models import KINDS, plain_output, plain_vectors, write_model
from torch.nn.functional import cosine_similarity

import goalward
from goalward import Episode, GoalwardError, Outcome, Rollouts
from goalward.embeddings.embed import embed
from goalward.embeddings.encoders import find_encoder
from goalward.embeddings.models.pooling import pooled_over_grid
from goalward.embeddings.models.preprocessing import ProcessorResize, Resize, ResizeAndCrop
from goalward.rollouts.frames import ArrayFrames

ModelFolder = Callable[[str], Path]


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A LeRobot data set of three episodes, 128 x 96 pixels, one video file per episode."""
    episodes = [
        WrittenEpisode(
            pictures={"front": distinct_pictures(5 + 2 * number, 128, seed=number)[:, :96]},
            state=np.zeros((5 + 2 * number, 2), np.float32),
            columns={"next.success": [False] * (5 + 2 * number)},
        )
        for number in range(3)
    ]
    root = tmp_path_factory.mktemp("videos") / "rollouts"
    return write_lerobot(root, episodes, episodes_per_file=1)


def cosines(first: np.ndarray | torch.Tensor, second: np.ndarray | torch.Tensor) -> torch.Tensor:
    return cosine_similarity(torch.as_tensor(first).float(), torch.as_tensor(second).float())


def vectors(rollouts: Rollouts, folder: Path, **options) -> np.ndarray:
    features = embed(rollouts, str(folder), device="cpu", proprioception=False, **options).features
    assert features is not None
    return features


@pytest.mark.parametrize("kind", KINDS)
def test_embeddings_are_the_librarys_own(kind: str, model_folder: ModelFolder, videos: Path):
    frames = [frame for path in sorted(videos.rglob("*.mp4")) for frame in decoded(path)]
    assert len(frames) == 21
    wanted = plain_vectors(model_folder(kind), kind, frames)
    embedded = vectors(goalward.read(videos), model_folder(kind))
    assert embedded.dtype == np.float16
    assert cosines(embedded, wanted).min() > 0.9999
    np.testing.assert_allclose(embedded, wanted, rtol=2e-3, atol=2e-3 * float(wanted.abs().max()))
    assert cosines(wanted[1:], wanted[:-1]).median() < 0.99, "the weights tell frames apart"


@pytest.mark.parametrize("kind", KINDS)
def test_embeddings_do_not_depend_on_company(
    kind: str, model_folder: ModelFolder, videos: Path, tmp_path: Path
):
    rollouts, folder = goalward.read(videos), model_folder(kind)
    together = vectors(rollouts, folder)
    alone = [vectors(rollouts[i : i + 1], folder, cache=tmp_path / str(i)) for i in range(3)]
    backwards = vectors(rollouts.select([2, 1, 0]), folder, cache=tmp_path / "backwards")
    assert np.concatenate(alone).tobytes() == together.tobytes()
    ends = [0, *rollouts.select([2, 1, 0]).episode_ends]
    parts = [backwards[ends[i] : ends[i + 1]] for i in (2, 1, 0)]
    assert np.concatenate(parts).tobytes() == together.tobytes()
    for batch_size in (1, 20):
        other = vectors(rollouts, folder, cache=tmp_path / f"b{batch_size}", batch_size=batch_size)
        assert cosines(other, together).min() > 0.99999


# ---- sizes ---------------------------------------------------------------------------------------


def test_sizes_of_the_papers_features(tmp_path: Path):
    """SigLIP2 gives 768 numbers per image."""
    folder = write_model(
        tmp_path / "wide",
        "siglip",
        hidden_size=768,
        num_attention_heads=12,
        intermediate_size=16,
        num_hidden_layers=1,
    )
    cameras = ("front", "wrist")
    libero = picture_rollouts([2, 3], cameras=cameras, state_size=8)
    assert vectors(libero, folder).shape == (5, 2 * 768)
    with_state = embed(libero, str(folder), device="cpu")
    assert with_state.features is not None
    assert with_state.features.shape == (5, 1544)
    square = picture_rollouts([2, 3], cameras=cameras, state_size=9)
    stacked = embed(square, str(folder), device="cpu", n_obs_steps=2).features
    assert stacked is not None
    assert stacked.shape == (5, 3090)


# ---- pooling -------------------------------------------------------------------------------------


def test_cells_of_a_grid_in_reading_order():
    feature_map = torch.arange(1.0, 10).reshape(1, 1, 3, 3)
    assert pooled_over_grid(feature_map, 2).tolist() == [[3, 4, 6, 7]]
    assert pooled_over_grid(feature_map, 1).tolist() == [[5]]
    two = torch.cat([feature_map, 10 * feature_map], dim=1)
    assert pooled_over_grid(two, 3)[0, :4].tolist() == pytest.approx([1, 10, 2, 20])


def cell_means(patches: np.ndarray, grid: int) -> np.ndarray:
    """(images, rows, columns, size) -> (images, grid * grid * size), cell by cell."""
    rows, columns = patches.shape[1:3]
    cells = [
        patches[
            :,
            r * rows // grid : -(-(r + 1) * rows // grid),
            c * columns // grid : -(-(c + 1) * columns // grid),
        ].mean(axis=(1, 2))
        for r in range(grid)
        for c in range(grid)
    ]
    return np.concatenate(cells, axis=1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("grid", [1, 2, 3])
def test_a_grid_pools_patches_and_nothing_else(kind: str, grid: int, model_folder: ModelFolder):
    net = find_encoder(str(model_folder(kind)), pool=f"grid{grid}").load()
    torch.manual_seed(0)
    pixels = torch.randn(2, 3, 224, 224)
    with torch.inference_mode():
        last = plain_output(model_folder(kind), kind, pixels).last_hidden_state
        pooled = net.net(pixels)
    if kind == "resnet":
        patches = last.permute(0, 2, 3, 1)
    else:
        edge = {"siglip": 7, "clip": 7}.get(kind, 16)
        num_others = {"siglip": 0, "dinov2 with registers": 5}.get(kind, 1)
        assert last.shape[1] == num_others + edge * edge
        patches = last[:, num_others:].reshape(2, edge, edge, -1)
    wanted = cell_means(patches.numpy(), grid)
    assert net.width == wanted.shape[1] == grid * grid * 16
    np.testing.assert_allclose(pooled, wanted, rtol=1e-4, atol=1e-5)


def test_a_grid_over_pictures_that_are_not_square(tmp_path: Path):
    size = {"size": {"height": 42, "width": 70}, "do_center_crop": False}
    folder = write_model(tmp_path / "wide", "dinov2", preprocessor=size)
    net = find_encoder(str(folder), pool="grid2").load()
    assert net.resize(noise(1, seed=0)[0]).shape == (42, 70, 3)
    pixels = torch.randn(2, 3, 42, 70)
    with torch.inference_mode():
        last = plain_output(folder, "dinov2", pixels).last_hidden_state
        pooled = net.net(pixels)
    assert last.shape[1] == 1 + 3 * 5
    np.testing.assert_allclose(
        pooled, cell_means(last[:, 1:].reshape(2, 3, 5, 16).numpy(), 2), rtol=1e-4, atol=1e-5
    )


# ---- preprocessing -------------------------------------------------------------------------------

SIZES = [(97, 131), (131, 97), (480, 640), (224, 224), (225, 224), (256, 341), (33, 500), (17, 23)]


def own_processor(folder: Path) -> Callable[..., dict[str, list[np.ndarray]]]:
    return transformers.AutoImageProcessor.from_pretrained(folder, backend="pil")


@pytest.mark.parametrize("kind", KINDS)
def test_pictures_of_odd_sizes_become_the_processors_bytes(kind: str, model_folder: ModelFolder):
    net = find_encoder(str(model_folder(kind))).load()
    expected = {"siglip": Resize, "resnet": ProcessorResize}.get(kind, ResizeAndCrop)
    assert isinstance(net.resize, expected)
    processor = own_processor(model_folder(kind))
    for height, width in SIZES:
        picture = noise(1, seed=height)[0]
        picture = np.tile(picture, (-(-height // 20), -(-width // 20), 1))[:height, :width]
        wanted = processor(picture, do_rescale=False, do_normalize=False)["pixel_values"][0]
        assert np.array_equal(np.moveaxis(net.resize(picture), -1, 0), wanted)


@pytest.mark.parametrize(
    "rules",
    [
        *({"resample": number} for number in range(6)),
        {"do_rescale": False},
        {"do_normalize": False},
        {"do_rescale": False, "do_normalize": False},
        {"rescale_factor": 1 / 127.5},
        {"image_mean": [0.1, 0.5, 0.9], "image_std": [0.2, 0.5, 1.5]},
    ],
    ids=str,
)
def test_whatever_a_processor_does_is_done(rules: dict, tmp_path: Path):
    folder = write_model(tmp_path / "model", "siglip", preprocessor=rules)
    rollouts = picture_rollouts([3])
    wanted = plain_vectors(folder, "siglip", list(rollouts[0].frames("front")))
    assert cosines(vectors(rollouts, folder), wanted).min() > 0.9999


@pytest.mark.parametrize(
    "rules",
    [
        {"crop_size": {"height": 256, "width": 256}, "size": {"shortest_edge": 200}},
        {"do_center_crop": False},
        {"do_resize": False},
        {"crop_size": {"height": 200, "width": 150}},
    ],
    ids=str,
)
def test_crops_and_sizes_that_follow_the_picture(rules: dict, tmp_path: Path):
    """A convolutional network takes pictures of any size, in one run too."""
    folder = write_model(
        tmp_path / "model",
        "resnet",
        preprocessor={
            "image_processor_type": "BitImageProcessor",
            "feature_extractor_type": None,
            "size": {"shortest_edge": 224},
            "crop_size": {"height": 224, "width": 224},
            "do_center_crop": True,
            **rules,
        },
    )
    sources = [noise(3, seed=0, size=260), noise(2, seed=1, size=230)[:, :, :210]]
    rollouts = Rollouts(
        [
            Episode(str(index), len(source), Outcome.TIME_OUT, cameras={"a": ArrayFrames(source)})
            for index, source in enumerate(sources)
        ]
    )
    wanted = torch.cat([plain_vectors(folder, "resnet", list(source)) for source in sources])
    assert cosines(vectors(rollouts, folder), wanted).min() > 0.9999


OFFSET_AFTER_SCALING = {
    "image_processor_type": "EfficientNetImageProcessor",
    "rescale_factor": 1 / 127.5,
    "rescale_offset": True,
    "include_top": False,
}


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"resample": None}, "does not take a picture .*`resample` must be specified"),
        ({"image_mean": [0.5]}, "does not take a picture"),
        (OFFSET_AFTER_SCALING, "does more than resize, crop and normalise"),
    ],
)
def test_processors_that_cannot_be_followed(rules: dict, message: str, tmp_path: Path):
    folder = write_model(tmp_path / "model", "siglip", preprocessor=rules)
    with pytest.raises(GoalwardError, match=f"model: its image processor {message}"):
        find_encoder(str(folder)).load()


def test_pictures_of_a_shape_that_the_model_does_not_take(tmp_path: Path):
    rules = {"do_center_crop": False, "size": {"shortest_edge": 224}}
    folder = write_model(tmp_path / "model", "clip", preprocessor=rules)
    assert vectors(picture_rollouts([2]), folder).shape == (2, 16), "square ones are fine"
    wide = ArrayFrames(noise(2, seed=0, size=60)[:, :40])
    rollouts = Rollouts([Episode("0", 2, Outcome.TIME_OUT, cameras={"a": wide})])
    with pytest.raises(GoalwardError, match="does not take pictures of 336 x 224, which is what"):
        vectors(rollouts, folder)


def test_a_model_that_needs_text_is_refused(tmp_path: Path):
    folder = tmp_path / "text"
    config = transformers.BertConfig(
        hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2
    )
    transformers.BertModel(config).save_pretrained(folder)
    write_model(tmp_path / "eyes", "siglip")
    (folder / "preprocessor_config.json").write_bytes(
        (tmp_path / "eyes" / "preprocessor_config.json").read_bytes()
    )
    with pytest.raises(GoalwardError, match="text: does not take a picture alone"):
        find_encoder(str(folder)).load()
