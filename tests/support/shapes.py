"""Solids whose surface is known, and small scenes of solids."""

import numpy as np

import fractals
from fractals.backends.devices import choose, open_backend
from fractals.kernels.primitives import fma, number, select, sqrt
from fractals.space.plan import make_solid_plan
from fractals.space.solid import Solid
from fractals.space.trace import Tracing

SIZE = (9, 7)


def twice(x, y, z, d, a, b, c, options):
    """A step that magnifies by 2."""
    two = number(2, x)
    return x * two, y * two, z * two, d * two


def stay(x, y, z, d, a, b, c, options):
    """A step that does nothing."""
    return x, y, z, d


def torus_distance(x, y, z, d, options):
    """The distance of a ring of radius 1 about the z axis, as thick as the option says."""
    (thick,) = options
    far = sqrt(fma(x, x, y * y)) - number(1, x)
    return (sqrt(fma(far, far, z * z)) - thick) / d


def box_distance(x, y, z, d, options):
    """The distance of a cube from -1 to 1."""
    one, zero = number(1, x), number(0, x)
    x, y, z = abs(x) - one, abs(y) - one, abs(z) - one
    u, v, w = select(x > zero, x, zero), select(y > zero, y, zero), select(z > zero, z, zero)
    outside = sqrt(fma(u, u, fma(v, v, w * w)))
    inside = select(x > y, x, y)
    inside = select(inside > z, inside, z)
    return (outside + select(inside < zero, inside, zero)) / d


BALL = Solid("ball", "Ball", twice, distance="linear", body=8.0, steps=3, bail=1e6, bound=1.5)
TORUS = Solid("torus", "Torus", stay, distance=torus_distance, steps=1, options=(0.25,), bound=1.5)
BOX = Solid("box", "Box", stay, distance=box_distance, steps=1, bound=1.8)


def solid_scene(formula="mandelbulb", **keys):
    """Return a small scene of a solid."""
    changes = {"size": SIZE, "samples": 2, "bounces": 1, "formula": formula, **keys}
    return fractals.load_scene(**changes)


def tracing_of(scene, device="python", number=None, threads=None):
    """Return what traces a scene on a device."""
    plan = make_solid_plan(scene, device, threads or 1)
    backend = open_backend(choose(device).device, number or plan.precision, threads)
    return Tracing(plan, backend)


def sums_of(scene, device="python", first=0, last=2, threads=None):
    """Return the sums of some samples of a scene."""
    width, height = scene.image.size
    sums = np.zeros((height, width, 3), np.int64)
    tracing_of(scene, device, threads=threads).add(sums, range(height), first, last, None)
    return sums
