"""Versions that a run notes and that `goalward --version` says."""

import re
from importlib.metadata import PackageNotFoundError, version

import pytest
import torch

import goalward
from goalward import versions
from goalward.cli.app import app
from goalward.devices import device_in_words
from goalward.versions import package_versions


def test_what_is_always_needed_and_of_extras_what_makes_numbers(monkeypatch):
    def installed(name: str) -> str:
        known = {"onnxruntime": "1.30.0", "rerun-sdk": "0.41.0", "numpy": "2.4.0", "tomli-w": "1.2"}
        if name not in known:
            raise PackageNotFoundError(name)
        return known[name]

    monkeypatch.setattr(versions, "version", installed)
    lines = ["numpy>=1.26", "tomli-w>=1", 'rerun-sdk>=0.41; extra == "rerun"', "no-such-thing>=2"]
    monkeypatch.setattr(versions, "requires", lambda name: lines)
    assert package_versions() == {
        "no-such-thing": "missing",
        "numpy": "2.4.0",
        "onnxruntime": "1.30.0",
        "tomli-w": "1.2",
    }


def test_from_source_alone(monkeypatch):
    def nothing(name: str) -> list[str]:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(versions, "requires", nothing)
    assert package_versions() == {}


def test_the_command_names_torch_and_device(capsys):
    with pytest.raises(SystemExit) as ended:
        app(["--version"])
    assert ended.value.code == 0
    told = capsys.readouterr().out.strip()
    pattern = r"goalward \S+ \(Python 3\.\d+\.\d+, torch \S+, device (cpu|cuda:0, .+)\)"
    assert re.fullmatch(pattern, told)
    assert goalward.__version__ in told
    assert f"torch {version('torch')}," in told


def test_a_card_is_named(monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: f"H200 of {device}")
    assert device_in_words(torch.device("cpu")) == "cpu"
    assert device_in_words(torch.device("cuda:1")) == "cuda:1, H200 of cuda:1"
