"""Where LIBERO's meshes and pictures lie, what is missing of them, and how to get them.

The package hf-libero comes without them; they are a data set of their own on the Hugging Face hub.
LIBERO would fetch them by itself in the middle of making a world, and at its first import it asks
on the terminal where its data sets are: here neither happens.
"""

import hashlib
import importlib.util
import json
import os
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import platformdirs

from goalward.errors import GoalwardError
from goalward.files import written_whole

ASSETS_VARIABLE = "GOALWARD_LIBERO_ASSETS"
ASSETS_REPOSITORY = "lerobot/libero-assets"
# Lists, in a folder of assets, the files in it that are not LIBERO's own but look alike.
STAND_INS_FILE = "goalward_stand_ins.txt"

# What the scene of LIBERO-Spatial is made of; each file names its meshes and textures.
SCENE_FILES = (
    "scenes/libero_tabletop_base_style.xml",
    "stable_scanned_objects/akita_black_bowl/akita_black_bowl.xml",
    "stable_scanned_objects/plate/plate.xml",
    "stable_scanned_objects/glazed_rim_porcelain_ramekin/glazed_rim_porcelain_ramekin.xml",
    "stable_hope_objects/cookies/cookies.xml",
    "articulated_objects/wooden_cabinet.xml",
    "articulated_objects/flat_stove.xml",
)
_NUM_NAMED = 5
_LFS_POINTER = b"version https://git-lfs"


def find_assets(folder: Path | None = None) -> Path:
    """The folder of assets: the one given, else the variable's, else where LIBERO puts it.

    The first folder that is named or there must be complete; no later one stands in for it.
    """
    assets = _chosen_folder(folder)
    missing = missing_files(assets) if assets.is_dir() else []
    if assets.is_dir() and not missing:
        return assets
    if missing:
        named = ", ".join(missing[:_NUM_NAMED])
        more = f" and {len(missing) - _NUM_NAMED} more" if len(missing) > _NUM_NAMED else ""
        what = f"{assets}: LIBERO's assets are not complete, it lacks {named}{more}"
    else:
        what = f"{assets}: no such folder, and LIBERO's assets should be there"
    raise GoalwardError(
        f"{what}. Get them with\n"
        f"  hf download {ASSETS_REPOSITORY} --repo-type dataset --local-dir FOLDER\n"
        f"and say where they are: export {ASSETS_VARIABLE}=FOLDER"
    )


def missing_files(assets: Path) -> list[str]:
    """Files that the scene needs and the folder lacks, relative to the folder."""
    missing: list[str] = []
    for name in SCENE_FILES:
        scene_file = assets / name
        if not _is_there(scene_file):
            missing.append(name)
            continue
        for mentioned in _mentioned_files(scene_file):
            needed = Path(os.path.normpath(scene_file.parent / mentioned))
            relative = os.path.relpath(needed, assets)
            if not _is_there(needed) and relative not in missing:
                missing.append(relative)
    return missing


def stand_ins(assets: Path) -> list[str]:
    """The files of this folder that only look like LIBERO's: part of what a result rests on."""
    listed = assets / STAND_INS_FILE
    return listed.read_text(encoding="utf-8").split("\n")[:-1] if listed.exists() else []


def keep_libero_from_asking() -> Path | None:
    """Give LIBERO the settings it would ask for; returns its package folder, None if not installed.

    Settings that the user has are left alone. Ours lie in the user's cache, one folder per
    installation. To be called before LIBERO is first imported.
    """
    found = importlib.util.find_spec("libero")
    if found is None or not found.submodule_search_locations:
        return None
    package = Path(found.submodule_search_locations[0]).resolve() / "libero"
    users_own = Path(os.environ.get("LIBERO_CONFIG_PATH", Path.home() / ".libero"))
    if not (users_own / "config.yaml").exists():
        digest = hashlib.sha256(str(package).encode()).hexdigest()[:12]
        cache = Path(platformdirs.user_cache_dir("goalward", appauthor=False))
        settings = cache / "libero" / digest / "config.yaml"
        folders = {
            "benchmark_root": package,
            "bddl_files": package / "bddl_files",
            "init_states": package / "init_files",
            "datasets": package.parent / "datasets",
            "assets": package / "assets",
        }
        lines = [f"{name}: {json.dumps(str(folder))}\n" for name, folder in folders.items()]
        with written_whole(settings) as temporary:
            temporary.write_text("".join(lines), encoding="utf-8")
        os.environ["LIBERO_CONFIG_PATH"] = str(settings.parent)
    return package


def _chosen_folder(folder: Path | None) -> Path:
    if folder is not None:
        return folder
    if os.environ.get(ASSETS_VARIABLE):
        return Path(os.environ[ASSETS_VARIABLE])
    # Where LIBERO looks, in its order: beside its code, and where it puts what it fetches.
    found = importlib.util.find_spec("libero")
    locations = (found.submodule_search_locations if found else None) or []
    beside_the_code = [Path(location) / "libero" / "assets" for location in locations]
    fetched = Path.home() / ".cache" / "libero" / "assets"
    return next((folder for folder in beside_the_code if folder.is_dir()), fetched)


def _is_there(path: Path) -> bool:
    """Whether it is a file with something in it: a clone without git-lfs has pointers instead."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        start = file.read(len(_LFS_POINTER))
    return start not in (b"", _LFS_POINTER)


def _mentioned_files(scene_file: Path) -> list[str]:
    try:
        root = ElementTree.parse(scene_file).getroot()
    except ElementTree.ParseError as error:
        raise GoalwardError(f"{scene_file}: not an XML file ({error})") from error
    return [name for element in root.iter() if (name := element.get("file"))]
