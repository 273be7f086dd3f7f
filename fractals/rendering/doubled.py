"""Direct iteration in double-double numbers, and where its samples lie."""

from fractals.kernels.doubled import escape
from fractals.kernels.doubled.orbit import own_size
from fractals.rendering.doubled_places import parts_of
from fractals.rendering.iteration import Direct


class Doubled(Direct):
    """Iterates each sample by itself, in double-double numbers.

    Raw numbers are the high parts.
    """

    bodies = escape

    def _point(self) -> list[float]:
        """Return c, the square of the escape radius, the constants, and the low parts of c."""
        texts = self.scene.julia or ("0", "0")
        (a, low_a), (b, low_b) = (parts_of(text) for text in texts)
        _, _, *others = super()._point()
        return [a, b, *others, low_a, low_b]

    def _kept(self) -> int:
        """Return how many numbers of an orbit under way are kept between launches."""
        return own_size(self.formula, self.derivative)
