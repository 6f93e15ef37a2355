"""What to say where an optional package is missing."""

from goalward.errors import GoalwardError

MUJOCO = "pip install 'goalward[sim]'"
# robosuite asks for mink, which asks for an old numpy; nothing here needs mink.
ROBOSUITE = "pip install 'goalward[sim]' && pip install --no-deps robosuite==1.5.2"


def missing_extra(package: str, how: str, error: ImportError) -> GoalwardError:
    """
    >>> print(missing_extra("mujoco", "pip install 'goalward[sim]'", ImportError("not found")))
    mujoco cannot be imported (not found): pip install 'goalward[sim]'
    """
    return GoalwardError(f"{package} cannot be imported ({error}): {how}")
