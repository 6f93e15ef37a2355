"""The encoders goalward knows by name, and how any other is named.

| name | what it is | numbers per image |
|---|---|---|
| `siglip2` | SigLIP 2, base, 16 px patches, 224 px: the paper's, and the default | 768 |
| `clip` | CLIP, ViT-B, 32 px patches, 224 px | 768 |
| `dinov2` | DINOv2, base, 14 px patches, 224 px | 768 |
| `effnet-lite0` | EfficientNet-Lite0, ImageNet: its weights install with pip, no model hub | 1280 |
| `org/model`, `org/model@revision` | any vision model of `transformers` on the hub | the model's |
| `./folder` | the same, saved in a folder | the model's |
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from goalward.embeddings.models import effnet_lite0_weights
from goalward.embeddings.models.model_files import ModelFiles, hub_model, local_model
from goalward.embeddings.models.pooling import grid_of
from goalward.errors import GoalwardError, argument

if TYPE_CHECKING:
    from goalward.embeddings.models.image_net import ImageNet

# Part of every key: raise it when the same frames would give other numbers.
_RECIPE = "1"


Precision = Literal["float", "int8"]
FLOAT, INT8 = "float", "int8"


@dataclass(frozen=True)
class HubEncoder:
    """A model of the hub at one commit, so that a name means the same numbers for ever."""

    hub_id: str
    revision: str


ENCODERS = {
    "siglip2": HubEncoder(
        "google/siglip2-base-patch16-224", "75de2d55ec2d0b4efc50b3e9ad70dba96a7b2fa2"
    ),
    "clip": HubEncoder("openai/clip-vit-base-patch32", "3d74acf9a28c67741b2f4f2ea7635f0aaf6f0268"),
    "dinov2": HubEncoder("facebook/dinov2-base", "f9e44c814b77203eaa57a6bdbbd535f21ede1415"),
    "effnet-lite0": effnet_lite0_weights.WEIGHTS,
}
DEFAULT_ENCODER = "siglip2"


@dataclass(frozen=True)
class Encoder:
    """One way from a picture to a vector, named so exactly that equal names mean equal vectors.

    Nothing is loaded before `load`: embeddings that lie in the cache need no model at all.
    """

    name: str
    id: str
    revision: str
    pool: str
    load_net: "Callable[[str], ImageNet]"
    # Of a model of transformers, which may be able to read as well.
    files: ModelFiles | None = None
    precision: Precision = FLOAT

    @property
    def key(self) -> str:
        """What the cache files embeddings under."""
        exact = f"{self.id}@{self.revision}, pool {self.pool}, recipe {_RECIPE}{self._bits}"
        return hashlib.blake2b(exact.encode(), digest_size=8).hexdigest()

    @property
    def label(self) -> str:
        return f"{self.id}@{self.revision[:12]}, pool {self.pool}{self._bits}"

    @property
    def _bits(self) -> str:
        """What 8 bits make of it is another encoder; float32 and bfloat16 are one."""
        return "" if self.precision == FLOAT else f", {self.precision}"

    def load(self) -> "ImageNet":
        """The network, with its weights, on the CPU, in float32 whatever the precision."""
        return self.load_net(self.pool)


def find_encoder(
    name: str = DEFAULT_ENCODER, *, pool: str = "global", precision: str = FLOAT
) -> Encoder:
    """The encoder meant by a name of the table, a hub id, or a folder.

    >>> find_encoder("siglip2", pool="grid2").label
    'google/siglip2-base-patch16-224@75de2d55ec2d, pool grid2'
    >>> find_encoder("siglip2", precision="int8").label
    'google/siglip2-base-patch16-224@75de2d55ec2d, pool global, int8'
    >>> find_encoder("resnet")
    Traceback (most recent call last):
    ...
    goalward.errors.GoalwardError: no encoder 'resnet'; there are siglip2, clip, dinov2, ...
    """
    if precision not in get_args(Precision):
        raise GoalwardError(
            f"{argument('precision', precision)}: there are {', '.join(get_args(Precision))}"
        )
    found = _in_float(name, pool)
    return found if precision == FLOAT else replace(found, precision=INT8)


def _in_float(name: str, pool: str) -> Encoder:
    grid_of(pool)
    known = ENCODERS.get(name)
    if isinstance(known, effnet_lite0_weights.Weights):
        return Encoder(name, name, known.sha256, pool, _effnet_lite0)
    if known is not None:
        return _transformers_encoder(name, hub_model(known.hub_id, known.revision), pool)
    if name and Path(name).expanduser().is_dir():
        return _transformers_encoder(name, local_model(Path(name).expanduser()), pool)
    if name.startswith((".", "/", "~")) or name.endswith("/"):
        raise GoalwardError(f"encoder {name}: there is no such folder")
    hub_id, _, revision = name.partition("@")
    if hub_id.count("/") == 1:
        return _transformers_encoder(name, hub_model(hub_id, revision or None), pool)
    raise GoalwardError(
        f"no encoder {name!r}; there are {', '.join(ENCODERS)}, and any vision model of "
        "transformers by its hub id (org/model) or its folder (./model)"
    )


def _transformers_encoder(name: str, files: ModelFiles, pool: str) -> Encoder:
    def load_net(pool: str) -> "ImageNet":
        from goalward.embeddings.models.vision_model import load_vision_model

        return load_vision_model(files, pool)

    return Encoder(name, files.id, files.revision, pool, load_net, files)


def _effnet_lite0(pool: str) -> "ImageNet":
    from goalward.embeddings.models.effnet_lite0 import load_effnet_lite0

    return load_effnet_lite0(pool)
