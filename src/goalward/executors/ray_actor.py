"""What runs on the machines of a Ray cluster; it travels there by value.

So nothing of goalward is imported before the versions have been compared: a machine without
goalward, or with another one, can say so.
"""

import os
import pickle
import platform
import sys
from typing import Any


class RayWorker:
    """A process of a cluster that builds something heavy once, then does piece after piece."""

    def __init__(self, here: str, folders: list[str]) -> None:
        # As for processes that Python starts: modules beside a script are found there too, and
        # paths mean the same.
        sys.path += [folder for folder in folders if folder not in sys.path]
        if os.path.isdir(here):  # noqa: PTH112 (as below)
            os.chdir(here)
        self._station: Any = None

    def prepare(
        self, versions: dict[str, str], must_see: list[str], told: bytes
    ) -> tuple[str | None, str]:
        """Build what pieces need; the problem if there is one, in a sentence, and the node."""
        return self._prepared(versions, must_see, told), _node()

    def _prepared(self, versions: dict[str, str], must_see: list[str], told: bytes) -> str | None:
        here = platform.node()
        try:
            from goalward import __version__
            from goalward.code_version import whole_code_digest

            found = {"version": __version__, "code": whole_code_digest()}
        except ImportError as error:
            return f"the worker on {here} has no goalward {versions['version']} ({error})"
        if found["version"] != versions["version"]:
            return (
                f"the worker on {here} has goalward {found['version']}, this process "
                f"{versions['version']}: install the same one on all machines"
            )
        if found["code"] != versions["code"]:
            return (
                f"the worker on {here} has another code of goalward {found['version']} than this "
                "process: install the same one on all machines"
            )
        for path in must_see:
            if not os.path.exists(path):  # noqa: PTH110 (nothing but what every machine has)
                return (
                    f"the worker on {here} cannot see {path}: use a folder that all machines share"
                )
        return self._built(told)

    def _built(self, told: bytes) -> str | None:
        from goalward.errors import speaking_of_flags
        from goalward.executors.piece import in_words

        try:
            # From the process that started this one, over Ray's own connection.
            build, flags = pickle.loads(told)  # noqa: S301
            self._flags = flags
            with speaking_of_flags(flags):
                self._station = build()
        except Exception as error:
            return in_words(error)
        return None

    def do(self, told: bytes) -> Any:
        """The answer to a piece; where a machine has trouble it is named."""
        from dataclasses import replace

        from goalward.errors import speaking_of_flags
        from goalward.executors.piece import answer_to

        with speaking_of_flags(self._flags):
            answer = answer_to(told, self._station)
        if answer.is_passing:
            return replace(answer, machine=platform.node())
        return answer


def _node() -> str:
    """What Ray calls this machine; several nodes may have one name."""
    ray = sys.modules.get("ray")
    # To ask Ray anything where it is not at work is to start it.
    if ray is None or not ray.is_initialized():
        return ""
    return ray.get_runtime_context().get_node_id()
