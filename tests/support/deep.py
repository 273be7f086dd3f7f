"""Deep scenes, and perturbation with skipping disabled."""

import contextlib
import functools
import random
from unittest import mock

import mpmath
import numpy as np
from mpmath import mpf
from support.scenes import name_and_power, scene

import fractals
from fractals.kernels import bla
from fractals.rendering import perturb

RADIUS = 64
SIZE = (12, 8)


@functools.cache
def deep_view(name, power, is_julia, depth):
    """Return the c of a Julia set or None, and a center with detail down to a width of 10**-depth.

    The search zooms in by a factor of 30 at a time, to the escaping sample with the largest count.
    """
    dice = random.Random(f"{name} {power} {is_julia}")
    formula = {"name": name, "power": power} if name == "multibrot" else name
    julia = {"julia": ["-0.4", "0.59"]} if is_julia else {}
    x, y, width, limit = mpf(0), mpf(0), mpf(4), 40
    with mpmath.workdps(depth + 20):
        while width > mpf(10) ** -depth:
            drawn = scene(
                formula,
                center=[mpmath.nstr(x, depth + 15), mpmath.nstr(y, depth + 15)],
                width=mpmath.nstr(width, 10),
                size=(16, 16),
                max_iterations=limit,
                escape_radius=RADIUS,
                **julia,
            )
            count = fractals.compute(drawn, device="cpu").count
            found = np.argwhere(count == count[count < limit].max())
            j, i = found[dice.randrange(len(found))]
            x += (i + mpf("0.5") - 8) * width / 16
            y -= (j + mpf("0.5") - 8) * width / 16
            width /= 30
            limit += 20
        center = [mpmath.nstr(part, depth + 15) for part in (x, y)]
    return julia, center


def deep_scene(formula, is_julia, depth, **keys):
    name, power = name_and_power(formula)
    julia, center = deep_view(name, power, is_julia, depth)
    changes = {
        "max_iterations": 1000,
        "escape_radius": RADIUS,
        "size": SIZE,
        "width": f"1e-{depth}",
    }
    return scene(formula, center=center, **{**changes, **julia, **keys})


@contextlib.contextmanager
def nothing_skipped():
    with (
        mock.patch.object(bla, "level_sizes", return_value=[]),
        mock.patch.object(bla, "MAX_STAGES", 0),
        mock.patch.object(perturb, "last_tables", []),
    ):
        yield


@functools.cache
def antenna_nucleus(period, digits):
    """Return the nucleus nearest to -2 of this period, as decimal text."""
    with mpmath.workdps(digits):
        c = -2 + 3 * mpmath.pi**2 / 2 / mpf(4) ** period
        for _ in range(12):
            z, d = mpf(0), mpf(0)
            for _ in range(period):
                z, d = z * z + c, 2 * z * d + 1
            c -= z / d
        return mpmath.nstr(c, digits - 5)


def on_a_minibrot(period, **keys):
    """Return a scene of a minibrot, whose reference orbit returns to 0 and whose z stays small."""
    digits = int(2.5 * period)
    width = mpmath.nstr(mpf(200) * mpf(16) ** -period, 8)
    return scene(
        center=[antenna_nucleus(period, digits), "1e-" + str(2 * period)],
        width=width,
        escape_radius=RADIUS,
        **{"size": (16, 12), "max_iterations": 20 * period, **keys},
    )
