"""The frames of a zoom from a strip: the exponential map about the point that stands still.

A pixel keeps its angle, its size and its distance from the fixed point in all frames: a frame is
the strip, shifted. Levels of halved resolution (a mip pyramid) serve the pixels near the point.
"""

from collections.abc import Iterator, Sequence

from fractals.films.colored import ColoredGather
from fractals.films.gather import Frame, Gather
from fractals.films.strip_plan import StripPlan
from fractals.films.valued import ValuedGather


class Strip(StripPlan):
    """Frames of one part of a film."""

    _gather: Gather | None = None

    def frames(self, numbers: Sequence[int]) -> Iterator[Frame]:
        """Yield frames, in the order of their numbers.

        Ranges that are asked for from the deepest to the widest need the least memory. In the other
        order large strips keep their bands in files.
        """
        if not numbers:
            return
        gather = self.prepare()
        moments = [self.part.moment(number) for number in numbers]
        inwards = moments[-1].octaves > moments[0].octaves
        if inwards and len(moments) > self.segment and not self.whole:
            gather.files.open_temporary()
        for first in range(0, len(moments), self.segment):
            some = moments[first : first + self.segment]
            gather.hold(some)
            for moment in some:
                yield gather.frame(moment)

    def prepare(self) -> Gather:
        """Compile the programs, and return what makes the frames."""
        if not self._gather:
            self._gather = ValuedGather(self) if self.colors else ColoredGather(self)
        return self._gather

    def make(self, band: int) -> None:
        """Make all levels of a band, and hold them until frames are asked for.

        A band that is in a file already is made from it.
        """
        self.prepare().make(band)
