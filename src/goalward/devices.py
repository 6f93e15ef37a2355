"""Which device computes."""

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
    return chosen


def device_in_words(device: torch.device) -> str:
    """A device with the name of its card.

    >>> device_in_words(torch.device("cpu"))
    'cpu'
    """
    if device.type != "cuda":
        return str(device)
    place = device if device.index is not None else torch.device("cuda:0")
    return f"{place}, {torch.cuda.get_device_name(place)}"
