"""Networks side by side: how they start, what they say, how they descend."""

import torch
from torch import nn

from goalward.training.networks.adam import adam_step, adam_step_with_copy
from goalward.training.networks.value_net import NetShape, initial_weights, net_outputs


def module_of(weights, run):
    """The network of one run as torch's own modules."""
    layers = []
    for layer in range(3):
        num_in, num_out = weights[f"weight_{layer}"].shape[1:]
        linear = nn.Linear(num_in, num_out)
        linear.weight.data = weights[f"weight_{layer}"][run].T
        linear.bias.data = weights[f"bias_{layer}"][run, 0]
        layers.append(linear)
        if layer < 2:
            norm = nn.LayerNorm(num_out)
            norm.weight.data = weights[f"gain_{layer}"][run, 0]
            norm.bias.data = weights[f"shift_{layer}"][run, 0]
            layers += [norm, nn.GELU()]
    return nn.Sequential(*layers)


def test_networks_start_as_torch_starts_them():
    shape = NetShape(4, 3, width=8, num_layers=3)
    weights = initial_weights(shape, [torch.Generator().manual_seed(seed) for seed in (0, 1, 0)])
    shapes = {name: tuple(tensor.shape) for name, tensor in weights.items()}
    assert shapes == {
        "weight_0": (3, 4, 8),
        "bias_0": (3, 1, 8),
        "gain_0": (3, 1, 8),
        "shift_0": (3, 1, 8),
        "weight_1": (3, 8, 8),
        "bias_1": (3, 1, 8),
        "gain_1": (3, 1, 8),
        "shift_1": (3, 1, 8),
        "weight_2": (3, 8, 3),
        "bias_2": (3, 1, 3),
    }
    for layer, num_in in enumerate((4, 8, 8)):
        for name in (f"weight_{layer}", f"bias_{layer}"):
            tensor = weights[name]
            assert tensor.abs().max() <= num_in**-0.5
            assert tensor.min() < 0 < tensor.max()
            # A run starts by its own generator: the first and the third by the same.
            assert torch.equal(tensor[0], tensor[2])
            assert not torch.equal(tensor[0], tensor[1])
    for layer in (0, 1):
        assert (weights[f"gain_{layer}"] == 1).all()
        assert (weights[f"shift_{layer}"] == 0).all()


def test_networks_side_by_side_are_torchs_own():
    generators = [torch.Generator().manual_seed(seed) for seed in (1, 2)]
    weights = initial_weights(NetShape(4, 2, width=6, num_layers=3), generators)
    for name, tensor in weights.items():
        if name.startswith(("gain", "shift")):
            tensor.uniform_(-1, 1, generator=generators[0])
    inputs = torch.randn(2, 5, 4, generator=generators[0])
    outputs = net_outputs(weights, inputs)
    for run in range(2):
        alone = {name: tensor[run : run + 1] for name, tensor in weights.items()}
        torch.testing.assert_close(outputs[run], module_of(weights, run)(inputs[run]).detach())
        torch.testing.assert_close(net_outputs(alone, inputs[run : run + 1])[0], outputs[run])


def test_both_steps_of_adam_are_torchs():
    generator = torch.Generator().manual_seed(0)
    first = torch.randn(3, 4, generator=generator)
    leaf = first.clone().requires_grad_()
    adam = torch.optim.Adam([leaf], lr=0.01)
    plain, copied, copy = first.clone(), first.clone(), torch.zeros(3, 4)
    moments = [torch.zeros(3, 4) for _ in range(4)]
    for step in range(3):
        leaf.grad = torch.randn(3, 4, generator=generator)
        adam.step()
        rate = torch.tensor(0.01)
        count = torch.tensor(float(step))
        adam_step([plain], [leaf.grad], moments[:1], moments[1:2], [count], rate)
        adam_step_with_copy(
            copied, leaf.grad, moments[2], moments[3], torch.tensor(step + 1.0), rate, copy
        )
    torch.testing.assert_close(plain, leaf.detach())
    torch.testing.assert_close(copied, leaf.detach())
    assert torch.equal(copy, copied)
