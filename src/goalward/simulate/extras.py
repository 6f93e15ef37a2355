"""What to say where an optional package is missing."""

from goalward.errors import GoalwardError

MUJOCO = "pip install 'goalward[sim]'"
# robosuite asks for mink, which asks for an old numpy; nothing here needs mink.
ROBOSUITE = "pip install 'goalward[sim]' && pip install --no-deps robosuite==1.5.2"
# metaworld asks for mujoco 3.3.0 exactly and runs with those after it as well.
METAWORLD = "pip install 'goalward[metaworld]' && pip install --no-deps metaworld==3.1.1"


def missing_extra(package: str, how: str, error: ImportError) -> GoalwardError:
    """
    >>> print(missing_extra("mujoco", "pip install 'goalward[sim]'", ImportError("not found")))
    mujoco cannot be imported (not found): pip install 'goalward[sim]'
    """
    return GoalwardError(f"{package} cannot be imported ({error}): {how}")
