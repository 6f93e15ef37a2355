"""The networks of a run as ONNX files: the encoder, and what looks at its vectors."""

# pyright: basic
# (torch's exporter and transformers are not typed)

import shutil
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from goalward.embeddings.cache.encoder_cache import EncoderCache
from goalward.embeddings.encoders import INT8, Encoder
from goalward.embeddings.models.image_net import PixelNet
from goalward.embeddings.models.preprocessing import Prepare
from goalward.embeddings.onnx.eight_bit_files import eight_bit_file, prepared_by
from goalward.embeddings.onnx.export import as_onnx
from goalward.errors import GoalwardError, argument
from goalward.files import written_whole
from goalward.monitor.folder import LensArrays
from goalward.training.frames.inputs import standardised
from goalward.training.frames.lens import Lens
from goalward.training.methods.table import Method
from goalward.training.networks.nets import Nets, nets_of
from goalward.training.networks.value_net import net_outputs
from goalward.values.fitted import Fitted

_WITH_CHANCES = ("hazard", "soft-hazard")


def watching_method(fitted: Fitted, name: str) -> Method:
    chosen = next((one for one in fitted.fitted_methods if one.name == name), None)
    if chosen is None:
        raise GoalwardError(
            f"{name}: a monitor needs networks, and there are those of {', '.join(fitted.methods)}"
        )
    if chosen.stages[-1].output.name not in _WITH_CHANCES or chosen.after is not None:
        raise GoalwardError(
            f"{name}: a monitor tells chances, which this method does not say; "
            f"{argument('method', 'lambda-returns')} or survival does, in a run that has it"
        )
    return chosen


def networks_of(fitted: Fitted, method: Method, task: str) -> Nets:
    """Of all subsets and seeds, the members of a seed one after the other."""
    groups: list[Nets] = []
    for subset in fitted.subsets:
        for seed in fitted.seeds:
            runs = fitted.answers[method.name, seed, task, subset]
            groups.append(nets_of(runs[0], fitted.nets).select(runs))
    first = groups[0]
    if any(_differ(first.lens, nets.lens) for nets in groups):
        raise GoalwardError("the networks see frames in different ways; export one fold's run")
    return Nets(
        runs=tuple(run for nets in groups for run in nets.runs),
        weights={
            name: torch.cat([nets.weights[name] for nets in groups]) for name in first.weights
        },
        mean=torch.cat([nets.mean for nets in groups]),
        scale=torch.cat([nets.scale for nets in groups]),
        lens=first.lens,
    )


def _differ(one: Lens | None, other: Lens | None) -> bool:
    if one is None or other is None:
        return one is not other
    pairs = ((one.mean, other.mean), (one.components, other.components))
    return one.lags != other.lags or not all(_are_equal(*pair) for pair in pairs)


def _are_equal(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)


def lens_arrays(nets: Nets) -> LensArrays:
    lens = nets.lens
    if lens is None:
        return LensArrays(nets.mean[0, 0].numpy())
    if lens.mean is None:
        size = lens.num_features(nets.input_size)
        centre = nets.mean[0, 0, :size].numpy()
    else:
        centre = lens.mean
    if lens.tasks is None:
        return LensArrays(centre, lens.mean, lens.components)
    return LensArrays(centre, lens.mean, lens.components, lens.tasks.tasks, lens.tasks.codes)


class _Heads(nn.Module):
    """What is seen of a frame (1, 1, inputs) -> what networks say (networks, 1, outputs)."""

    def __init__(self, nets: Nets) -> None:
        super().__init__()
        self._names = tuple(nets.weights)
        for name, tensor in nets.weights.items():
            self.register_buffer(name, tensor)
        self.register_buffer("input_mean", nets.mean)
        self.register_buffer("input_scale", nets.scale)
        self.input_mean: Tensor
        self.input_scale: Tensor

    def forward(self, inputs: Tensor) -> Tensor:
        seen = standardised(inputs, self.input_mean, self.input_scale, torch.float32)
        return net_outputs({name: getattr(self, name) for name in self._names}, seen)


def write_heads(nets: Nets, path: Path) -> None:
    """The networks of a task; they take what is seen of one frame."""
    with written_whole(path) as temporary:
        example = torch.zeros(1, 1, nets.input_size)
        temporary.write_bytes(as_onnx(_Heads(nets).eval(), example, "seen"))


def write_encoder(encoder: Encoder, num_cameras: int, path: Path, cache: str | None) -> Prepare:
    """The encoder; it takes a picture of each camera, or in 8 bits one at a time."""
    with written_whole(path) as temporary:
        if encoder.precision == INT8:
            made = eight_bit_file(encoder, EncoderCache.of(encoder, cache).folder)
            shutil.copyfile(made, temporary)
            return prepared_by(made)
        net = encoder.load()
        height, width = net.resize(np.zeros((224, 224, 3), dtype=np.uint8)).shape[:2]
        pixels = PixelNet(net.net, net.normalisation).eval()
        example = torch.zeros(num_cameras, height, width, 3, dtype=torch.uint8)
        temporary.write_bytes(as_onnx(pixels, example, "pixels"))
        return net.resize
