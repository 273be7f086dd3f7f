"""Room for the frames of calls."""

import pytest

from fractals.backends.call_frames import with_room


def test_calls_have_room_for_their_frames():
    """Results and errors come through, in nested calls too."""

    def deep(count):
        return count and 1 + with_room(lambda: deep(count - 1))

    assert deep(50) == 50
    with pytest.raises(ZeroDivisionError):
        with_room(lambda: 1 / 0)
    assert with_room.__code__.co_stacksize * 8 > 2**19  # of a piece of 1 MiB
