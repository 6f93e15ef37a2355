"""`goalward settings`: the numbers that a training depends on, and what `--set` may change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from goalward.cli.console import output_console, plain

if TYPE_CHECKING:
    from goalward.training.methods.numbers_explained import Setting


def settings_command(name: str | None = None, /) -> None:
    """List the hyper-parameters: what each means, and its default.

    Of `goalward evaluate`, `fit` and `reproduce`, `--set width=64` sets a number for all methods,
    `--set lambda-returns.width=64` for one. Commas separate several, also where a value is a list
    itself, as in `--set width=64,lags=5,20,num_steps=500`. What is given wins over the effort,
    which wins over what a method has of its own, which wins over the preset.

    For example:

    ```bash
    goalward settings  # all of them
    goalward settings width  # one of them, with every value it has anywhere
    goalward evaluate my_rollouts --out run --set num_steps=1000,width=256
    ```

    Parameters
    ----------
    name
        One hyper-parameter. Default: all.
    """
    from goalward.training.methods.numbers_explained import find_setting

    console = output_console()
    if name is None:
        _print_all(console)
    else:
        _print_one(find_setting(name), console)


def _print_all(console: Console) -> None:
    from goalward.training.methods.efforts import EFFORTS
    from goalward.training.methods.numbers_explained import settings

    known = settings().values()
    methods = dict.fromkeys(method for setting in known for method in setting.own)
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for heading in ("name", "default", *methods):
        table.add_column(heading, no_wrap=True)
    table.add_column("meaning")
    for setting in known:
        own = (in_words(setting.own[m]) if m in setting.own else "" for m in methods)
        table.add_row(setting.name, in_words(setting.default), *own, plain(setting.meaning))
    console.print(table)
    console.print()
    for effort, found in EFFORTS.items():
        text = f"--effort {effort}: {_listed({'seeds': found.seeds, **found.numbers})}"
        console.print(plain(text), soft_wrap=True)


def _print_one(setting: Setting, console: Console) -> None:
    console.print(plain(setting.name), style="bold")
    console.print(plain(setting.meaning))
    told = {"default": in_words(setting.default)}
    told |= {f"--preset {preset}": in_words(value) for preset, value in setting.presets.items()}
    told |= {f"{method}'s own": in_words(value) for method, value in setting.own.items()}
    told |= {f"--effort {effort}": _listed(given) for effort, given in setting.efforts.items()}
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for what, value in told.items():
        table.add_row(plain(what), plain(value))
    console.print(table)


def _listed(numbers: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={in_words(value)}" for name, value in numbers.items())


def in_words(value: Any) -> str:
    """A value as `--set` takes it.

    >>> in_words((5, 20)), in_words(True), in_words(None), in_words(0.0001), in_words("open")
    ('5,20', 'true', 'none', '0.0001', 'open')
    """
    if value is None:
        return "none"
    if isinstance(value, tuple):
        return ",".join(map(in_words, value)) or "[]"
    return value if isinstance(value, str) else json.dumps(value)
