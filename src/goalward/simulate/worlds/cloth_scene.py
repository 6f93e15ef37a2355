"""The towel, the table and the gripper, in MuJoCo's own language."""

# The towel is a square grid of vertices; 9 x 9 folds like cloth at 60 control steps per second.
TOWEL_SIDE_M = 0.30
VERTICES_PER_SIDE = 9
NUM_VERTICES = VERTICES_PER_SIDE**2
TOWEL_DIAGONAL_M = TOWEL_SIDE_M * 2**0.5

# Corners by vertex. The mesh's triangles are cut along B-D: only along that line does it fold
# sharply, so A is folded onto C.
CORNER_A = VERTICES_PER_SIDE - 1
CORNER_B = 0
CORNER_C = VERTICES_PER_SIDE * (VERTICES_PER_SIDE - 1)
CORNER_D = NUM_VERTICES - 1

# A fold is complete when its corners are nearer than this to those of a perfect one.
FOLD_TOLERANCE_M = 0.03

PHYSICS_STEP_S = 0.01

# One weld point per vertex, off until the gripper pinches that vertex.
PINCH_NAMES = tuple(f"pinch_{vertex}" for vertex in range(NUM_VERTICES))

# Without self-collision both halves of a folded towel lie in the same place, and the pictures
# flicker there. With it, fewer than 30 iterations, less damping of the edges or a thinner towel
# make a finished fold creep and crumple by itself. CG needs a fifth of Newton's time, and
# a table that is a plane half of the time of one that is a box.
_SCENE = """
<mujoco model="towel">
  <option timestep="{step}" solver="CG" iterations="40" tolerance="1e-6" integrator="implicitfast"/>
  <size memory="128M"/>
  <visual>
    <headlight ambient=".45 .45 .45" diffuse=".45 .45 .45" specular="0 0 0"/>
    <global offwidth="640" offheight="640"/>
    <quality shadowsize="0" offsamples="0"/>
    <map znear=".02" zfar="20"/>
  </visual>
  <asset>
    <texture name="checks" type="2d" builtin="checker" rgb1=".15 .35 .70" rgb2=".92 .94 .97"
             width="256" height="256"/>
    <material name="towel" texture="checks" specular="0" shininess="0"/>
    <material name="wood" rgba=".62 .47 .32 1" specular="0" shininess="0"/>
    <material name="finger" rgba=".85 .25 .15 1" specular=".2"/>
    <material name="palm" rgba=".15 .15 .17 1" specular=".2"/>
    <material name="arm" rgba=".80 .80 .82 1" specular=".2"/>
  </asset>
  <worldbody>
    <light pos=".4 -.4 2" dir="-.2 .2 -1" diffuse=".4 .4 .4" specular="0 0 0" castshadow="false"/>
    <camera name="base" pos=".02 -.49 .54" xyaxes="1 0 0 0 .715 .699" fovy="44"/>
    <geom name="table" type="plane" size="4 4 .1" material="wood" friction="1 .01 .001"/>
    <body name="hand" mocap="true" pos="0 0 .2">
      <geom type="box" size=".030 .014 .014" pos="0 0 .074" material="palm"
            contype="0" conaffinity="0"/>
      <geom type="cylinder" size=".014 .07" pos="0 0 .158" material="arm"
            contype="0" conaffinity="0"/>
      <camera name="wrist" pos="0 -.075 .085" xyaxes="1 0 0 0 .75 .66" fovy="80"/>
    </body>
    <body name="left_finger" mocap="true" pos="0 0 .2">
      <geom type="box" size=".004 .009 .030" pos="0 0 .030" material="finger"
            contype="0" conaffinity="0"/>
    </body>
    <body name="right_finger" mocap="true" pos="0 0 .2">
      <geom type="box" size=".004 .009 .030" pos="0 0 .030" material="finger"
            contype="0" conaffinity="0"/>
    </body>
    <flexcomp name="towel" type="grid" dim="2" count="{side} {side} 1"
              spacing="{spacing} {spacing} {spacing}" pos="0 0 .006" radius=".004" mass=".08"
              material="towel">
      <edge equality="true" damping=".02"/>
      <contact selfcollide="sap" internal="false" condim="3" friction=".9 .01 .001"
               solref=".01 1"/>
      <elasticity young="1e4" poisson=".1" thickness="1e-3" elastic2d="bend"/>
    </flexcomp>
  </worldbody>
  <equality>
    {pinches}
  </equality>
</mujoco>
"""


def scene() -> str:
    """The scene as MJCF text.

    >>> scene().count("<connect")
    81
    """
    pinches = "\n    ".join(
        f'<connect name="{name}" body1="hand" body2="towel_{vertex}" anchor="0 0 0" '
        f'active="false" solref=".01 1"/>'
        for vertex, name in enumerate(PINCH_NAMES)
    )
    return _SCENE.format(
        step=PHYSICS_STEP_S,
        side=VERTICES_PER_SIDE,
        spacing=TOWEL_SIDE_M / (VERTICES_PER_SIDE - 1),
        pinches=pinches,
    )
