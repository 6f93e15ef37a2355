"""Models, an empty hub and an empty cache for the tests of embeddings."""

from collections.abc import Callable
from pathlib import Path

import pytest
from rollout_files.vision_models import write_model

from goalward.embeddings.embed import embed
from goalward.embeddings.embed_report import EmbedReport
from goalward.rollouts.dataset import Rollouts


@pytest.fixture(autouse=True)
def run_on_one_thread(one_thread):
    """For all tests of this folder."""


@pytest.fixture(autouse=True)
def empty_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a hub that is offline, instead of the real one."""
    from huggingface_hub import constants

    folder = tmp_path / "hub"
    folder.mkdir()
    # The library reads its environment when it is imported.
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(folder))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    return folder


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, the default of every call."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("GOALWARD_CACHE", str(folder))
    return folder


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A model of each kind, written once; not to be changed."""
    folders: dict[str, Path] = {}

    def folder_of(kind: str) -> Path:
        if kind not in folders:
            folders[kind] = write_model(tmp_path_factory.mktemp("models") / kind, kind)
        return folders[kind]

    return folder_of


@pytest.fixture
def embed_with_report() -> Callable[..., tuple[Rollouts, EmbedReport]]:
    """`embed` on the CPU, and what it says it did."""

    def run(rollouts: Rollouts, *arguments, **options) -> tuple[Rollouts, EmbedReport]:
        reports: list[EmbedReport] = []
        options = {"device": "cpu"} | options
        embedded = embed(rollouts, *arguments, on_finish=reports.append, **options)
        return embedded, reports[0]

    return run
