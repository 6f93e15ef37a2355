"""File names for episodes, whatever their ids are."""

import re


def episode_file_stem(episode_id: str, position: int) -> str:
    """A name made of harmless characters; an id that is not becomes the episode's position.

    >>> episode_file_stem("12", 3), episode_file_stem("../etc", 3)
    ('episode_12', 'episode_at_3')
    """
    if re.fullmatch(r"[A-Za-z0-9_-]{1,64}", episode_id):
        return f"episode_{episode_id}"
    return f"episode_at_{position}"
