"""Room for the frames of Python's calls."""

from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


def with_room(call: Callable[[], Result]) -> Result:
    """Return what a function returns, with room for all frames of its calls in one piece of memory.

    Python takes memory for frames in pieces of 16 KiB, and gives a piece back when its first frame
    ends. Where calls go up and down across the end of a piece, as those of a compiler do, that
    takes up to half of their time. A frame larger than a piece begins a larger one, with room
    behind it: the frame of this function is. Threads have pieces of their own.

    `types.CodeType.replace` and what a frame takes; Python 3.11 to 3.14.
    """
    return call()


# Numbers of 8 bytes: the piece then has 1 MiB, of which only what is used is taken.
with_room.__code__ = with_room.__code__.replace(co_stacksize=70_000)
