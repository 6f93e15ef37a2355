"""How much memory a process may still take: of the machine, and of the container it runs in."""

from pathlib import Path

# Where containers note what they allow and what is taken, of the two versions of cgroups.
_LIMITS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def free_bytes() -> int:
    """What is free, or can be made so without swapping."""
    import psutil

    free = int(psutil.virtual_memory().available)
    for limit, taken in _LIMITS:
        allowed, used = _number(Path(limit)), _number(Path(taken))
        if allowed is not None and used is not None:
            free = min(free, max(allowed - used, 0))
    return free


def _number(path: Path) -> int | None:
    try:
        text = path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return None
    return int(text) if text.isdigit() else None


def size_words(num_bytes: float) -> str:
    """
    >>> size_words(3.2e6), size_words(2.5e9)
    ('3 MB', '2.5 GB')
    """
    return f"{num_bytes / 1e9:.1f} GB" if num_bytes >= 1e9 else f"{num_bytes / 1e6:.0f} MB"
