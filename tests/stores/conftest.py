"""A folder of its own for what is fetched."""

import pytest
from rollout_files.stores import PlantedFiles, forget_all


@pytest.fixture(autouse=True)
def stores(tmp_path, monkeypatch):
    folder = tmp_path / "fetched"
    monkeypatch.setenv("GOALWARD_STORES", str(folder))
    PlantedFiles.reset()
    forget_all(folder)
    return folder
