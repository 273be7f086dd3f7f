"""Solids that mix the folds of other solids within a step, as hybrids of Mandelbulber do."""

import math
from dataclasses import replace

from fractals.kernels.primitives import clamp, fma, number, select
from fractals.kernels.space import folded, rotated, rotation, swapped
from fractals.space.solid import Knob, Solid, from_afar, rotation_knobs, within
from fractals.space.solids.powers import BULB_KNOBS, bulb_steps, mandelbulb

LEAST_SCALE = 1.1  # of a step that magnifies, whatever its sign
BALL_KNOBS = {
    "inner": Knob(0.01, 3.0, "radius of the ball that is magnified as a whole, at most `outer`"),
    "outer": Knob(0.1, 3.0, "radius of the sphere at which the space inside it is inverted"),
}
MENGER_BALL_KNOBS = {
    "scale": Knob(1.2, 4.0, "by which a step magnifies; 3 for the sponge"),
    **BALL_KNOBS,
    **rotation_knobs("a step"),
}


def check_ball(inner, outer):
    """Raise a `ValueError` for an inner ball that is larger than the outer one."""
    if inner > outer:
        raise ValueError(f"inner: {inner:g} is more than outer, {outer:g}")


def menger_ball_step(x, y, z, d, a, b, c, options):
    """Return the next point, and the bound of the derivative."""
    scale, move, inner, outer = options[:4]
    x, y = swapped(abs(x), abs(y))
    x, z = swapped(x, abs(z))
    y, z = swapped(y, z)
    f = scale * outer / clamp(fma(x, x, fma(y, y, z * z)), inner, outer)
    x, y, z = rotated(x, y, z, options[4:])
    w = f * z
    z = select(w > number(0.5, x) * move, fma(f, z, -move), w)
    return fma(f, x, -move), fma(f, y, -move), z, d * f


def menger_ball(scale=2.6, inner=0.6, outer=1.1, turn=0.0, tilt=0.0, roll=0.0):
    """Menger sponge with a ball that is inverted (after Knighty, and Tom Lowe, 2010)."""
    angles = {"turn": turn, "tilt": tilt, "roll": roll}
    given = within(MENGER_BALL_KNOBS, scale=scale, inner=inner, outer=outer, **angles)
    check_ball(inner, outer)
    # Beyond the corners and the ball a step is that of the sponge
    bound = max(math.sqrt(3), outer)
    return Solid(
        "menger_ball",
        "Menger sponge with a ball that is inverted",
        menger_ball_step,
        distance="linear",
        steps=math.ceil(math.log(2e6) / math.log(scale)),
        bail=1e4,
        bound=bound,
        options=(scale, scale - 1.0, inner * inner, outer * outer, *rotation(**angles)),
        parameters=given,
        knobs=MENGER_BALL_KNOBS,
        source="after Knighty and Tom Lowe, 2010; a hybrid of Mandelbulber",
        position=from_afar(bound),
    )


KALIBOX_KNOBS = {
    "scale": Knob(-4.0, 4.0, f"by which a step magnifies; not between {-LEAST_SCALE} and 1.1"),
    **{f"move_{axis}": Knob(-3.0, 3.0, f"added to the absolute value of {axis}") for axis in "xyz"},
    **BALL_KNOBS,
    **rotation_knobs("a step"),
    **{f"c{axis}": Knob(-3.0, 3.0, f"{axis} of the constant that a step adds") for axis in "xyz"},
}


def kalibox_step(x, y, z, d, a, b, c, options):
    """Return the next point, and the bound of the derivative."""
    scale, right, back, up, inner, outer = options[:6]
    x, y, z = rotated(x, y, z, options[6:])
    x, y, z = abs(x) + right, abs(y) + back, abs(z) + up
    f = scale / clamp(fma(x, x, fma(y, y, z * z)), inner, outer)
    return fma(x, f, a), fma(y, f, b), fma(z, f, c), d * abs(f)


def kalibox(
    scale=1.6,
    move_x=-1.2,
    move_y=-0.6,
    move_z=-1.0,
    inner=0.4,
    outer=1.0,
    turn=30.0,
    tilt=20.0,
    roll=0.0,
    cx=-0.3,
    cy=-0.5,
    cz=0.2,
):
    """Kalibox: a Mandelbox with absolute values for its cube, as a Julia set (Kali, 2011)."""
    angles = {"turn": turn, "tilt": tilt, "roll": roll}
    moves, constants = (move_x, move_y, move_z), (cx, cy, cz)
    given = {"scale": scale, **{f"move_{k}": v for k, v in zip("xyz", moves, strict=True)}}
    given |= {"inner": inner, "outer": outer, **angles, "cx": cx, "cy": cy, "cz": cz}
    given = within(KALIBOX_KNOBS, **given)
    check_ball(inner, outer)
    if abs(scale) < LEAST_SCALE:
        raise ValueError(f"scale: {scale:g} is between {-LEAST_SCALE} and {LEAST_SCALE}")
    # What is farther away, and outside of the ball after the move, goes farther in each step
    most = abs(scale)
    bound = (most * math.hypot(*moves) + math.hypot(*constants)) / (most - 1)
    bound = max(bound, outer + math.hypot(*moves))
    return Solid(
        "kalibox",
        "Kalibox: a Mandelbox with absolute values for its cube",
        kalibox_step,
        distance="linear",
        steps=max(14, math.ceil(14 / math.log(most))),
        bail=1e4,
        bound=bound,
        constants=constants,
        options=(scale * outer * outer, *moves, inner * inner, outer * outer, *rotation(**angles)),
        parameters=given,
        knobs=KALIBOX_KNOBS,
        source="Kali, 2011",
        position=from_afar(0.7 * bound),
    )


BOXBULB_KNOBS = {
    "power": Knob(2, 8, BULB_KNOBS["power"].meaning),
    "scale": Knob(0.5, 2.0, "by which a step magnifies before the power"),
    "fold": Knob(0.1, 2.0, "half the side of the cube at whose faces coordinates are folded"),
    "inner": Knob(0.1, 1.5, BALL_KNOBS["inner"].meaning),
    "outer": Knob(0.1, 1.5, BALL_KNOBS["outer"].meaning),
    "theta": BULB_KNOBS["theta"],
    "phi": BULB_KNOBS["phi"],
}


def box_ball_step(x, y, z, d, a, b, c, options):
    """Return the next point, and the bound of the derivative: nothing is added."""
    fold, scale, inner, outer = options
    x, y, z = folded(x, fold), folded(y, fold), folded(z, fold)
    f = scale / clamp(fma(x, x, fma(y, y, z * z)), inner, outer)
    return x * f, y * f, z * f, d * f


def boxbulb(power=8, scale=1.0, fold=1.0, inner=0.5, outer=1.0, theta=0.0, phi=0.0):
    """Boxbulb: the folds of a Mandelbox before the power of a Mandelbulb (Krzysztof Marczak, 2010).

    Unlike the hybrid of both solids, a step adds its point once. Mandelbulber's first one, now "Box
    Fold Bulb Pow 2", has power 2, scale 2, theta 90 and phi 180, and is hardly more than dust.
    """
    sizes = {"scale": scale, "fold": fold, "inner": inner, "outer": outer}
    given = within(BOXBULB_KNOBS, power=power, **sizes, theta=theta, phi=phi)
    check_ball(inner, outer)
    folds = fold, scale * outer * outer, inner * inner, outer * outer
    bulb = mandelbulb(power, theta, phi)
    box = replace(bulb, step=box_ball_step, general=None, options=folds)
    # Beyond this r the power is more than 2 r, and the point that is added is r at most
    reach = least = 2 * math.sqrt(3) * fold
    while (scale * (reach - least)) ** power < 2 * reach:
        reach += 0.01 * fold
    return Solid(
        "boxbulb",
        f"Boxbulb: folds of a Mandelbox before a power, {power}",
        box_ball_step,
        sequence=(box, bulb),
        degree=power,
        short=1.5,
        steps=bulb_steps(power),
        bail=min(1e4, 10 ** (28 / power)),
        bound=reach,
        options=(*folds, *bulb.options),
        parameters=given,
        knobs=BOXBULB_KNOBS,
        source="FoldingIntPow of Mandelbulb 3D and Mandelbulber (Krzysztof Marczak), 2010",
        position=from_afar(0.8 * reach),
    )
