"""Which versions are at work: of goalward, of Python, of every package that goalward asks for."""

import re
import sys
from importlib.metadata import PackageNotFoundError, requires, version

import goalward

_NAME = re.compile(r"[A-Za-z0-9._-]+")


def package_versions() -> dict[str, str]:
    """The installed version of every package that goalward always needs, by its name.

    Those of extras are not among them. Empty where goalward runs from its source alone, as then
    nobody wrote down what it needs.

    >>> package_versions()["numpy"].count(".")
    2
    """
    found: dict[str, str] = {}
    for name in _required():
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "missing"
    return found


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


def _required() -> list[str]:
    try:
        lines = requires("goalward") or []
    except PackageNotFoundError:
        return []
    names = [_NAME.match(line) for line in lines if "extra ==" not in line]
    return sorted(name.group() for name in names if name is not None)
