"""Juliabulb: the Julia sets of the Mandelbulb's power (Daniel White and Paul Nylander, 2009)."""

from fractals.formulas.solids import mandelbulb
from fractals.kernels.solid import Knob, Solid, from_afar, within

KNOBS = {
    **mandelbulb.KNOBS,
    **{f"c{axis}": Knob(-1.5, 1.5, f"{axis} of the constant that a step adds") for axis in "xyz"},
}


def radius_of(power, size):
    """Return the radius beyond which no orbit returns: r**power - size = r there."""
    least, most = 1.0, 4.0
    for _ in range(60):
        middle = (least + most) / 2
        least, most = (least, middle) if middle**power - size > middle else (middle, most)
    return most


def make(power=8, cx=0.35, cy=-0.65, cz=-0.25, theta=0.0, phi=0.0):
    """Return the solid."""
    given = within(KNOBS, power=power, cx=cx, cy=cy, cz=cz, theta=theta, phi=phi)
    return Solid(
        "juliabulb",
        f"Juliabulb, power {power}",
        mandelbulb.make_step(power, constant=True),
        degree=power,
        steps=mandelbulb.steps_of(power),
        bound=radius_of(power, (cx * cx + cy * cy + cz * cz) ** 0.5),
        constants=(cx, cy, cz),
        options=mandelbulb.phases(theta, phi),
        parameters=given,
        knobs=KNOBS,
        source="Daniel White and Paul Nylander, 2009",
        position=from_afar(1.12),
    )
