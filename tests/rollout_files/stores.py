"""Stores for tests: folders copied into fsspec's own file systems, and one that breaks on order."""

import shutil
from collections import Counter
from pathlib import Path
from typing import Any, ClassVar

import fsspec
from fsspec.implementations.local import LocalFileSystem


class PlantedFiles(LocalFileSystem):
    """A folder of this machine as `planted:///path`, which counts what is asked, breaks on order.

    `cut` names give half of what is asked, so many times; `after_block` is called after each.
    """

    protocol = "planted"
    cachable = False
    asked: ClassVar[Counter] = Counter()
    num_bytes = 0
    cut: ClassVar[dict[str, int]] = {}
    refused: ClassVar[dict[str, Exception]] = {}
    after_block: Any = None

    @classmethod
    def reset(cls) -> None:
        cls.asked, cls.num_bytes, cls.cut, cls.refused = Counter(), 0, {}, {}
        cls.after_block = None

    @classmethod
    def _strip_protocol(cls, path: Any) -> str:
        return LocalFileSystem._strip_protocol(str(path).replace("planted://", "file://"))

    def info(self, path: str, **kwargs: Any) -> dict[str, Any]:
        self._refuse(path)
        return super().info(path, **kwargs)

    def cat_file(self, path: str, start: int = 0, end: int | None = None, **_: Any) -> bytes:
        self._refuse(path)
        name = Path(path).name
        PlantedFiles.asked[name] += 1
        content = Path(path).read_bytes()[start:end]
        if self.cut.get(name, 0) > 0:
            PlantedFiles.cut[name] -= 1
            content = content[: len(content) // 2]
        PlantedFiles.num_bytes += len(content)
        if PlantedFiles.after_block is not None:
            PlantedFiles.after_block(path)
        return content

    def _refuse(self, path: str) -> None:
        for name, error in self.refused.items():
            if name in path:
                raise error


fsspec.register_implementation("planted", PlantedFiles, clobber=True)


def put(folder: Path, kind: str) -> str:
    """The address under which a folder or file is found in a store of this kind."""
    if kind == "memory":
        files = fsspec.filesystem("memory")
        files.store.clear()
        files.pseudo_dirs[:] = [""]
        name = f"/bucket/{folder.name}"
        if folder.is_file():
            files.makedirs("/bucket", exist_ok=True)
            files.put_file(str(folder), name)
        else:
            files.put(f"{folder}/", f"{name}/", recursive=True)
        return f"memory://bucket/{folder.name}"
    return f"{kind}://{folder}"


def forget_all(stores: Path) -> None:
    """As on another machine: nothing was fetched, and nobody was told anything."""
    from goalward.rollouts.video import reading
    from goalward.stores import fetching, objects

    shutil.rmtree(stores, ignore_errors=True)
    objects._noted.clear()
    reading._noted.clear()
    fetching._compared.clear()
