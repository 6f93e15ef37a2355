"""Any vision model of `transformers`, from the files on disk to an encoder of pictures."""

# pyright: basic
# (transformers builds its classes at run time)

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from goalward.embeddings.models.image_net import ImageNet
from goalward.embeddings.models.model_files import ModelFiles
from goalward.embeddings.models.pooling import grid_of, pooled_over_grid
from goalward.embeddings.models.preprocessing import (
    Normalisation,
    Prepare,
    ProcessorResize,
    Resample,
    Resize,
    ResizeAndCrop,
)
from goalward.errors import GoalwardError

# Checkpoints with a text tower beside: only the tower that sees is loaded.
_VISION_CLASSES = {
    "siglip": "SiglipVisionModel",
    "siglip_vision_model": "SiglipVisionModel",
    "clip": "CLIPVisionModel",
    "clip_vision_model": "CLIPVisionModel",
}
_RESAMPLES: dict[int, Resample] = {
    0: "nearest",
    1: "lanczos",
    2: "bilinear",
    3: "bicubic",
    4: "box",
    5: "hamming",
}
# Code that lies beside a model is not run, and nobody is asked whether it may.
FROM_DISK: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
# Pictures of odd sizes on which our preprocessing must equal the model's own.
_PROBE_SIZES = ((97, 131), (160, 120), (128, 128))


def load_vision_model(files: ModelFiles, pool: str) -> ImageNet:
    """The model with its weights; what it cannot do for pictures is an error in words."""
    folder = files.folder()
    where = f"encoder {files.name}"
    processor = _processor(folder, where)
    try:
        prepare = _fast_prepare(processor)
        if prepare is None or not _equals_processor(prepare, processor):
            prepare = ProcessorResize(processor)
        normalisation = _normalisation(processor)
        is_all = _is_all_it_does(prepare, normalisation, processor)
    except Exception as error:  # its rules may be wrong in any way
        raise GoalwardError(
            f"{where}: its image processor does not take a picture ({_first_line(error)})"
        ) from error
    if not is_all:
        raise GoalwardError(
            f"{where}: its image processor does more than resize, crop and normalise; "
            "goalward cannot reproduce it"
        )
    model = _model(folder, where)
    net = _Encoded(model, grid_of(pool)).eval().requires_grad_(False)
    prepared = prepare(np.zeros((224, 224, 3), dtype=np.uint8))
    width = _checked_width(net, prepared.shape[:2], where)
    return ImageNet(net, width=width, resize=prepare, normalisation=normalisation)


def _model(folder: Path, where: str) -> nn.Module:
    import transformers

    try:
        config = transformers.AutoConfig.from_pretrained(folder, **FROM_DISK)
        name = _VISION_CLASSES.get(config.model_type)
        model_class = transformers.AutoModel if name is None else getattr(transformers, name)
        with QuietLoading():
            model, report = model_class.from_pretrained(
                folder, output_loading_info=True, dtype=torch.float32, **FROM_DISK
            )
    except Exception as error:  # transformers raises whatever its parts raise
        raise GoalwardError(f"{where}: cannot be loaded ({_first_line(error)})") from error
    missing = sorted(report["missing_keys"])
    if missing:
        raise GoalwardError(
            f"{where}: its file lacks {len(missing)} of the weights, among them {missing[0]}; "
            "they would be random"
        )
    return model


class QuietLoading:
    """Without the library's bars and its remarks on the tower that is left out."""

    def __enter__(self) -> None:
        from transformers.utils import logging

        self._logging = logging
        self._verbosity = logging.get_verbosity()
        self._had_bars = logging.is_progress_bar_enabled()
        logging.set_verbosity_error()
        logging.disable_progress_bar()

    def __exit__(self, *_: object) -> None:
        self._logging.set_verbosity(self._verbosity)
        if self._had_bars:
            self._logging.enable_progress_bar()


class _Encoded(nn.Module):
    """Pixels -> one vector per picture: the model's pooled output, or means over a grid."""

    def __init__(self, model: nn.Module, grid: int | None) -> None:
        super().__init__()
        self.model = model
        self.grid = grid

    def forward(self, pixels: Tensor) -> Tensor:
        try:
            output: Any = self.model(pixel_values=pixels)
        except ValueError as error:  # how the library refuses a size
            height, width = pixels.shape[2:]
            raise GoalwardError(
                f"this encoder does not take pictures of {width} x {height}, which is what its "
                f"image processor makes of yours ({_first_line(error)})"
            ) from error
        last = output.last_hidden_state
        if self.grid is not None:
            return pooled_over_grid(_feature_map(last, *pixels.shape[2:]), self.grid)
        pooled = getattr(output, "pooler_output", None)
        if pooled is not None:
            return pooled.flatten(1)
        # A model without a pooled output of its own: the mean over the picture.
        return last.mean(dim=1) if last.ndim == 3 else last.mean(dim=(2, 3))


def _feature_map(last_hidden_state: Tensor, height: int, width: int) -> Tensor:
    """(images, size, rows, columns), without class and register tokens, which come first."""
    if last_hidden_state.ndim == 4:
        return last_hidden_state
    images, num_tokens, size = last_hidden_state.shape
    # The smallest patches, in pixels, of which the picture has no more than there are tokens.
    patch = 1
    while (height // patch) * (width // patch) > num_tokens:
        patch += 1
    rows, columns = height // patch, width // patch
    patches = last_hidden_state[:, num_tokens - rows * columns :]
    return patches.transpose(1, 2).reshape(images, size, rows, columns)


def _checked_width(net: nn.Module, size: tuple[int, ...], where: str) -> int:
    """The length of a vector, found out on one picture."""
    try:
        with torch.inference_mode():
            vector = net(torch.zeros(1, 3, *size))
    except Exception as error:
        raise GoalwardError(
            f"{where}: does not take a picture alone ({_first_line(error)})"
        ) from error
    return vector.shape[1]


def _processor(folder: Path, where: str) -> Any:
    import transformers

    try:
        # The other backend needs torchvision and resizes a little differently.
        return transformers.AutoImageProcessor.from_pretrained(folder, backend="pil", **FROM_DISK)
    except Exception as error:
        raise GoalwardError(
            f"{where}: its image processor cannot be loaded ({_first_line(error)})"
        ) from error


def _fast_prepare(processor: Any) -> Prepare | None:
    """The processor's resizing in our own words; None where it does something we do not know."""
    rules = processor.to_dict()
    size = rules.get("size") or {}
    resample = _RESAMPLES.get(rules.get("resample", -1))
    if not rules.get("do_resize") or resample is None or rules.get("do_pad"):
        return None
    if size.get("shortest_edge") and rules.get("do_center_crop"):
        crop = rules["crop_size"]
        return ResizeAndCrop(size["shortest_edge"], crop["height"], crop["width"], resample)
    if size.get("height") and size.get("width") and not rules.get("do_center_crop"):
        return Resize(size["height"], size["width"], resample)
    return None


def _probes() -> list[np.ndarray]:
    generator = np.random.default_rng(0)
    return [generator.integers(0, 256, (*size, 3), dtype=np.uint8) for size in _PROBE_SIZES]


def _equals_processor(prepare: Prepare, processor: Any) -> bool:
    slow = ProcessorResize(processor)
    return all(np.array_equal(prepare(probe), slow(probe)) for probe in _probes())


def _normalisation(processor: Any) -> Normalisation:
    rules = processor.to_dict()
    scale = rules["rescale_factor"] if rules.get("do_rescale") else 1.0
    if not rules.get("do_normalize"):
        return Normalisation(scale, (0.0,) * 3, (1.0,) * 3)
    return Normalisation(scale, tuple(rules["image_mean"]), tuple(rules["image_std"]))


def _is_all_it_does(prepare: Prepare, normalisation: Normalisation, processor: Any) -> bool:
    """Whether our way from a picture to numbers ends where the processor's own does."""
    mean, std = (np.reshape(part, (3, 1, 1)) for part in (normalisation.mean, normalisation.std))
    for probe in _probes():
        wanted = np.asarray(processor(probe)["pixel_values"][0], dtype=np.float32)
        pixels = np.moveaxis(prepare(probe), -1, 0).astype(np.float32)
        ours = (pixels * normalisation.scale - mean) / std
        if wanted.shape != ours.shape or not np.allclose(wanted, ours, atol=1e-5):
            return False
    return True


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
