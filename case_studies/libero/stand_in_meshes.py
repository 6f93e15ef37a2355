"""Stand-ins for three files of LIBERO's assets, where only part of the assets can be had.

    python case_studies/libero/stand_in_meshes.py ASSETS

A copy of LIBERO's assets without its largest files lacks three that the task "pick up the black
bowl next to the ramekin" needs: the bowl's visible mesh, its texture and the plate's texture. Who
has the whole data set lerobot/libero-assets needs nothing of this. Where one of the three is
missing, it is made here; a file that is there is never replaced.

What differs from LIBERO then:
- The bowl is a plain, dark solid of revolution along the boxes with which LIBERO's bowl collides,
  and the plate has one colour. A picture shows where they are and how they lie, not how they
  really look.
- What the gripper touches is LIBERO's own: collision shapes are in its XML files and stay.
- The bowl's mass differs a little, as LIBERO gives its visible mesh a density too.

The files made are listed in ASSETS/goalward_stand_ins.txt; results that used them should say so.
"""

import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from goalward.errors import GoalwardError
from goalward.files import written_whole
from goalward.simulate.worlds.libero_assets import STAND_INS_FILE, missing_files, stand_ins

FloatArray = npt.NDArray[np.float64]

BOWL_MESH = "stable_scanned_objects/akita_black_bowl/visual/akita_black_bowl_vis.msh"
# Plain textures: near black, and off-white.
TEXTURES = {
    "stable_scanned_objects/akita_black_bowl/texture.png": (28, 28, 30),
    "stable_scanned_objects/plate/texture.png": (232, 228, 222),
}
# The bowl's XML file draws the mesh this much smaller.
BOWL_SCALE = 0.7
# Radius and height in metres, from the middle of the bottom outwards, over the rim, and back inside
# to the middle: read off the collision boxes, whose walls are 1.5 to 2.5 mm thick.
BOWL_PROFILE = np.array(
    [
        *[(0.0, 0.0), (0.024, 0.0), (0.034, 0.0098), (0.042, 0.022), (0.0475, 0.0337)],
        *[(0.052, 0.045), (0.0538, 0.0522), (0.052, 0.0522), (0.05, 0.045), (0.0455, 0.0337)],
        *[(0.04, 0.022), (0.032, 0.011), (0.022, 0.005), (0.0, 0.004)],
    ]
)
NUM_SECTORS = 48


def revolved(profile: FloatArray, num_sectors: int) -> tuple[FloatArray, npt.NDArray[np.int32]]:
    """Vertices and triangles of the solid swept by a profile that begins and ends on the axis.

    Triangles turn counter-clockwise seen from outside, as mujoco takes the volume from them.
    """
    first, rings, last = profile[0], profile[1:-1], profile[-1]
    angles = 2 * np.pi * np.arange(num_sectors) / num_sectors
    around = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    ring_vertices = np.concatenate(
        [
            np.column_stack([radius * around, np.full(num_sectors, height)])
            for radius, height in rings
        ]
    )
    vertices = np.concatenate([ring_vertices, [[0.0, 0.0, first[1]], [0.0, 0.0, last[1]]]])
    bottom, top = len(vertices) - 2, len(vertices) - 1
    here = np.arange(num_sectors)
    following = (here + 1) % num_sectors
    triangles = [np.column_stack([np.full(num_sectors, bottom), following, here])]
    for ring in range(len(rings) - 1):
        inner, outer = ring * num_sectors, (ring + 1) * num_sectors
        triangles.append(np.column_stack([inner + here, inner + following, outer + here]))
        triangles.append(np.column_stack([inner + following, outer + following, outer + here]))
    final = (len(rings) - 1) * num_sectors
    triangles.append(np.column_stack([final + here, final + following, np.full(num_sectors, top)]))
    return vertices, np.concatenate(triangles).astype(np.int32)


def write_msh(path: Path, vertices: FloatArray, triangles: npt.NDArray[np.int32]) -> None:
    """mujoco's own binary mesh: counts, vertices, normals, texture coordinates, triangles.

    No normals (mujoco makes them); every texture coordinate is the middle of a plain texture.
    """
    counts = np.array([len(vertices), 0, len(vertices), len(triangles)], dtype="<i4")
    middle = np.full((len(vertices), 2), 0.5)
    with written_whole(path) as temporary, temporary.open("wb") as file:
        for part in (counts, vertices.astype("<f4"), middle.astype("<f4"), triangles):
            file.write(np.ascontiguousarray(part).tobytes())


def make_stand_ins(assets: Path) -> list[str]:
    """Make what is missing of the three files, and list it; returns what was made."""
    missing = missing_files(assets)
    made = [name for name in (BOWL_MESH, *TEXTURES) if name in missing]
    if made:
        # Listed first: a stand-in that nobody knows of would be worse than a name too many.
        listed = sorted({*stand_ins(assets), *made})
        with written_whole(assets / STAND_INS_FILE) as temporary:
            temporary.write_text("".join(f"{name}\n" for name in listed), encoding="utf-8")
    for name in made:
        if name == BOWL_MESH:
            write_msh(assets / name, *revolved(BOWL_PROFILE / BOWL_SCALE, NUM_SECTORS))
        else:
            with written_whole(assets / name) as temporary:
                Image.new("RGB", (64, 64), TEXTURES[name]).save(temporary)
    still_missing = missing_files(assets)
    if still_missing:
        raise GoalwardError(f"{assets}: still lacks {', '.join(still_missing)}")
    return made


def main() -> None:
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit(f"usage: python {sys.argv[0]} ASSETS\n  ASSETS: the folder with LIBERO's assets")
    try:
        made = make_stand_ins(Path(sys.argv[1]))
    except GoalwardError as error:
        sys.exit(str(error))
    print("\n".join(f"made a stand-in: {name}" for name in made) or "nothing was missing")


if __name__ == "__main__":
    main()
