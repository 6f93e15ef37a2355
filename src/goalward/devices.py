"""Which device computes."""

from contextlib import AbstractContextManager, nullcontext

import torch

from goalward.errors import GoalwardError


def chosen_device(device: torch.device | str | None) -> torch.device:
    """The device asked for, or CUDA where there is one."""
    if device is None:
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        chosen = torch.device(device)
    except RuntimeError as error:
        raise GoalwardError(f"no device {device!r}: cpu, cuda, cuda:1, ...") from error
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise GoalwardError("there is no CUDA device here, or torch was built without CUDA")
    if chosen.type not in ("cpu", "cuda") and not _computes(chosen):
        raise GoalwardError(f"no device {device!r} here: cpu, cuda, cuda:1, ...")
    if chosen.type == "cuda" and (chosen.index or 0) >= torch.cuda.device_count():
        raise GoalwardError(
            f"no device {device!r}: there are {torch.cuda.device_count()} CUDA devices here, "
            "numbered from 0"
        )
    return chosen


def _computes(device: torch.device) -> bool:
    """Whether numbers come back from it: torch knows devices by name that are not here."""
    try:
        return torch.ones(1, device=device).item() == 1
    except (RuntimeError, NotImplementedError, AssertionError):
        return False


def on_device(device: torch.device) -> AbstractContextManager[object]:
    """Inside, streams, graphs and kernels in Triton are of this device, as its tensors are.

    CUDA makes them on the device that is current, which is the first unless somebody says.
    """
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


def device_in_words(device: torch.device) -> str:
    """A device with the name of its card.

    >>> device_in_words(torch.device("cpu"))
    'cpu'
    """
    if device.type != "cuda":
        return str(device)
    place = device if device.index is not None else torch.device("cuda:0")
    return f"{place}, {torch.cuda.get_device_name(place)}"
