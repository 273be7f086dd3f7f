"""Frames: where the frames of a client lie."""

from collections import OrderedDict

from fractals.errors import OptionError
from fractals.explorer.views import Place

MAX_FRAMES = 256  # of a client


class Frames:
    """The places of a client's last frames, by their numbers.

    Attributes
    ----------
    newest : int
        Number of the frame that is shown; 0 before the first.
    """

    def __init__(self) -> None:
        self.newest = 0
        self._places: OrderedDict[int, Place] = OrderedDict()

    def place(self, frame: int) -> Place:
        """Return the place of a frame, or raise an `OptionError`."""
        if frame not in self._places:
            raise OptionError(f"the frame {frame} is not kept: open its scene")
        return self._places[frame]

    def size(self) -> tuple[int, int] | None:
        """Return the size of the newest frame; None before the first."""
        newest = self._places.get(self.newest)
        return newest.size if newest else None

    def check_new(self, frame: int) -> None:
        """Raise an `OptionError` if a number is not greater than that of the newest frame."""
        if frame <= self.newest:
            raise OptionError(f"the frame {frame} is not greater than {self.newest}")

    def add(self, frame: int, place: Place) -> None:
        """Keep the place of a new frame, and forget the oldest."""
        self._places[frame] = place
        while len(self._places) > MAX_FRAMES:
            self._places.popitem(last=False)
        self.newest = frame
