"""Writes vision models with their own classes, small enough for tests, and the hub's cache."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import nn

# Writing a file of 100 kB needs no progress bar.
transformers.utils.logging.disable_progress_bar()

# The files of the real checkpoints, word for word; CLIP's and ResNet's are of an old layout.
PREPROCESSORS: dict[str, dict[str, Any]] = {
    "siglip": {  # google/siglip2-base-patch16-224
        "do_convert_rgb": None,
        "do_normalize": True,
        "do_rescale": True,
        "do_resize": True,
        "image_mean": [0.5, 0.5, 0.5],
        "image_processor_type": "SiglipImageProcessor",
        "image_std": [0.5, 0.5, 0.5],
        "processor_class": "SiglipProcessor",
        "resample": 2,
        "rescale_factor": 0.00392156862745098,
        "size": {"height": 224, "width": 224},
    },
    "clip": {  # openai/clip-vit-base-patch32
        "crop_size": 224,
        "do_center_crop": True,
        "do_normalize": True,
        "do_resize": True,
        "feature_extractor_type": "CLIPFeatureExtractor",
        "image_mean": [0.48145466, 0.4578275, 0.40821073],
        "image_std": [0.26862954, 0.26130258, 0.27577711],
        "resample": 3,
        "size": 224,
    },
    "dinov2": {  # facebook/dinov2-base
        "crop_size": {"height": 224, "width": 224},
        "do_center_crop": True,
        "do_convert_rgb": True,
        "do_normalize": True,
        "do_rescale": True,
        "do_resize": True,
        "image_mean": [0.485, 0.456, 0.406],
        "image_processor_type": "BitImageProcessor",
        "image_std": [0.229, 0.224, 0.225],
        "resample": 3,
        "rescale_factor": 0.00392156862745098,
        "size": {"shortest_edge": 256},
    },
    "resnet": {  # microsoft/resnet-50
        "crop_pct": 0.875,
        "do_normalize": True,
        "do_resize": True,
        "feature_extractor_type": "ConvNextFeatureExtractor",
        "image_mean": [0.485, 0.456, 0.406],
        "image_std": [0.229, 0.224, 0.225],
        "resample": 3,
        "size": 224,
    },
}

_TOWER = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2}
_TEXT = _TOWER | {
    "num_attention_heads": 2,
    "vocab_size": 20,
    "max_position_embeddings": 8,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}


def _siglip(**vision: Any) -> nn.Module:
    """A text tower beside, as the hub has it."""
    config = {"num_attention_heads": 2, "image_size": 224, "patch_size": 32} | _TOWER | vision
    text = _TEXT | {"projection_size": config["hidden_size"]}
    return transformers.SiglipModel(
        transformers.SiglipConfig(vision_config=config, text_config=text)
    )


def _clip(**vision: Any) -> nn.Module:
    """A text tower beside, as the hub has it."""
    config = {"num_attention_heads": 2, "image_size": 224, "patch_size": 32} | _TOWER | vision
    both = {"projection_dim": 8}
    return transformers.CLIPModel(
        transformers.CLIPConfig(vision_config=config | both, text_config=_TEXT | both, **both)
    )


def _dinov2(**vision: Any) -> nn.Module:
    config = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "mlp_ratio": 2}
    config |= {"image_size": 224, "patch_size": 14} | vision
    return transformers.Dinov2Model(transformers.Dinov2Config(**config))


def _dinov2_with_registers(**vision: Any) -> nn.Module:
    config = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "mlp_ratio": 2}
    config |= {"image_size": 224, "patch_size": 14, "num_register_tokens": 4} | vision
    return transformers.Dinov2WithRegistersModel(transformers.Dinov2WithRegistersConfig(**config))


def _resnet(**vision: Any) -> nn.Module:
    config = {"embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 1]} | vision
    return transformers.ResNetModel(transformers.ResNetConfig(**config))


_MAKERS: dict[str, Callable[..., nn.Module]] = {
    "siglip": _siglip,
    "clip": _clip,
    "dinov2": _dinov2,
    "dinov2 with registers": _dinov2_with_registers,
    "resnet": _resnet,
}
KINDS = tuple(_MAKERS)


def write_model(
    folder: Path,
    kind: str,
    *,
    preprocessor: dict[str, Any] | None = None,
    max_shard_size: str = "1GB",
    as_bin: bool = False,
    **vision: Any,
) -> Path:
    """A model with random weights that tell pictures apart; `preprocessor` overrides entries."""
    torch.manual_seed(0)
    model: Any = _MAKERS[kind](**vision)
    for parameter in model.parameters():
        if parameter.ndim > 1:
            # As drawn by the library, the vectors of all pictures are nearly the same.
            nn.init.normal_(parameter, std=2.0 * parameter[0].numel() ** -0.5)
    model.save_pretrained(folder, max_shard_size=max_shard_size)
    if as_bin:
        (folder / "model.safetensors").unlink()
        torch.save(model.state_dict(), folder / "pytorch_model.bin")
    rules = PREPROCESSORS[kind.removesuffix(" with registers")] | (preprocessor or {})
    (folder / "preprocessor_config.json").write_text(json.dumps(rules, indent=2))
    return folder


def plain_vectors(folder: Path, kind: str, pictures: Any) -> torch.Tensor:
    """The pooled output of the library alone: its processor and the whole model."""
    processor = transformers.AutoImageProcessor.from_pretrained(folder, backend="pil")
    pixels = torch.stack([torch.tensor(p) for p in processor(list(pictures))["pixel_values"]])
    with torch.inference_mode():
        return plain_output(folder, kind, pixels).pooler_output.flatten(1)


def plain_output(folder: Path, kind: str, pixels: torch.Tensor) -> Any:
    """What the library's own class gives for prepared pixels; towers are loaded with the text."""
    name = {"siglip": "SiglipModel", "clip": "CLIPModel"}.get(kind, "AutoModel")
    model = getattr(transformers, name).from_pretrained(folder).eval()
    return getattr(model, "vision_model", model)(pixel_values=pixels)


def put_into_hub_cache(
    cache: Path, hub_id: str, folder: Path, commit: str, *, branch: str = "main"
) -> Path:
    """The files of a folder in the layout of the hub's own cache; gives the snapshot."""
    repository = cache / f"models--{hub_id.replace('/', '--')}"
    snapshot = repository / "snapshots" / commit
    for name in ("refs", "blobs"):
        (repository / name).mkdir(parents=True, exist_ok=True)
    snapshot.mkdir(parents=True)
    (repository / "refs" / branch).write_text(commit)
    for path in sorted(folder.iterdir()):
        blob = repository / "blobs" / hashlib.sha256(path.read_bytes()).hexdigest()
        shutil.copyfile(path, blob)
        (snapshot / path.name).symlink_to(Path("..", "..", "blobs", blob.name))
    return snapshot
