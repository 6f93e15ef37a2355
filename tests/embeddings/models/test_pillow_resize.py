"""Resizing by matrix products is Pillow's, bit for bit."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from goalward.embeddings.models import pillow_resize
from goalward.embeddings.models.pillow_resize import PillowResize, can_resize

FILTERS = ("box", "bilinear", "bicubic", "lanczos")


def by_pillow(pictures: np.ndarray, after: tuple[int, int], resample: str) -> np.ndarray:
    method = Image.Resampling[resample.upper()]
    size = (after[1], after[0])
    return np.stack([np.asarray(Image.fromarray(p).resize(size, method)) for p in pictures])


def extremes(num_images: int, height: int, width: int, seed: int) -> np.ndarray:
    """Noise, and pictures of black and white alone, where rounding and clipping show most."""
    rng = np.random.default_rng(seed)
    pictures = rng.integers(0, 256, (num_images, height, width, 3), dtype=np.uint8)
    pictures[1::2] = np.where(pictures[1::2] < 128, 0, 255)
    return pictures


def check(before: tuple[int, int], after: tuple[int, int], resample: str, seed: int) -> None:
    pictures = extremes(2, *before, seed)
    ours = PillowResize(before, after, resample)(torch.from_numpy(pictures)).numpy()
    assert np.array_equal(ours, by_pillow(pictures, after, resample))


@pytest.mark.parametrize("resample", FILTERS)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((256, 256), (224, 224)),
        ((480, 640), (224, 224)),
        ((480, 640), (256, 341)),
        ((720, 1280), (224, 224)),
        ((84, 84), (224, 224)),
        ((97, 131), (224, 302)),
        ((224, 131), (224, 224)),
        ((131, 224), (224, 224)),
        ((640, 480), (224, 224)),
        ((640, 480), (341, 256)),
        ((300, 180), (224, 224)),
        ((300, 20), (224, 224)),
        ((224, 224), (224, 224)),
        ((1, 1), (5, 7)),
        ((50, 3), (1, 1)),
        ((1080, 1920), (32, 32)),
    ],
)
def test_sizes_of_cameras(before: tuple[int, int], after: tuple[int, int], resample: str):
    check(before, after, resample, seed=0)


def test_where_one_pixel_takes_from_thousands():
    """Sums no longer fit into float32."""
    resizer = PillowResize((4, 5000), (4, 2), "lanczos")
    assert resizer.rows is not None
    check((4, 5000), (4, 2), "lanczos", seed=0)


@given(
    before=st.tuples(st.integers(1, 90), st.integers(1, 90)),
    after=st.tuples(st.integers(1, 90), st.integers(1, 90)),
    resample=st.sampled_from(FILTERS),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=150, deadline=None)
def test_any_size(before: tuple[int, int], after: tuple[int, int], resample: str, seed: int):
    check(before, after, resample, seed)


def test_a_pillow_that_does_otherwise_is_noticed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pillow_resize, "_rounded", lambda high, low: torch.zeros_like(high))
    with pytest.warns(UserWarning, match="Pillow resizes in another way"):
        PillowResize((40, 50), (20, 30), "bicubic")


def test_filters_that_are_left_to_pillow():
    assert [name for name in (*FILTERS, "nearest", "hamming") if not can_resize(name)] == [
        "nearest",
        "hamming",
    ]
