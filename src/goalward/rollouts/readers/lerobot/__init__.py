"""LeRobot data sets, version 3.0 and 2.x, with video or image features."""

from goalward.rollouts.readers.lerobot.reader import find, recognises

__all__ = ["find", "recognises"]
