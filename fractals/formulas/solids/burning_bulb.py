"""Burning bulb: the power of the Mandelbulb, of absolute values, as the burning ship's."""

from fractals.formulas.solids import mandelbulb
from fractals.kernels.solid import Solid, from_afar, within


def make(power=2, theta=0.0, phi=0.0):
    """Return the solid."""
    given = within(mandelbulb.KNOBS, power=power, theta=theta, phi=phi)
    return Solid(
        "burning_bulb",
        f"Burning bulb, power {power} of absolute values",
        mandelbulb.make_step(power, folds=True),
        degree=power,
        steps=mandelbulb.steps_of(power),
        bound=2 ** (1 / (power - 1)),
        options=mandelbulb.phases(theta, phi),
        parameters=given,
        knobs=mandelbulb.KNOBS,
        source="after the burning ship of Michael Michelitsch and Otto Rössler, 1992",
        position=from_afar(1.6 if power == 2 else 1.12),
    )
