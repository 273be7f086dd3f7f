"""Counts of Fractint's orbits, in plain complex numbers, and what compares ours with them."""

import fractals
from fractals.io.foreign import par
from fractals.io.load import load_scene

SIZE = (13, 10)  # places that are no round numbers: no orbit meets the radius exactly
LIMIT = 20
# Formulas whose orbits begin at 0, or a critical point, one step before those of Fractint.
EARLIER = ("mandelbrot", "multibrot", "burning_ship", "phoenix")


def norm(z):
    return z.real**2 + z.imag**2


def mod(limit):
    return lambda z, *more: norm(z) >= limit


def run(pixel, step, ends, start=None, more=()):
    """Return the steps until an orbit ends. `step` and `ends` take z and other variables."""
    state = (pixel if start is None else complex(start), *more)
    n = 1
    try:
        for n in range(1, LIMIT):
            found = step(*state)
            state = found if isinstance(found, tuple) else (found,)
            if ends(*state) or state[0] != state[0]:
                return n
    except (OverflowError, ZeroDivisionError, ValueError):
        return n
    return LIMIT


def read(text, before=""):
    """Return the scene of a type with its keys, and what is lost; `before` stands before it."""
    imported = par.read_par(f"{before}\na {{ maxiter={LIMIT} type={text} }}".encode(), "a")
    return load_scene(imported.table), imported.lost


def pixels(scene):
    """Yield row, column and place of every sample."""
    width = float(scene.view.width)
    spacing, center = width / SIZE[0], complex(*map(float, scene.view.center))
    for j in range(SIZE[1]):
        for i in range(SIZE[0]):
            move = complex(i + 0.5 - SIZE[0] / 2, SIZE[1] / 2 - j - 0.5)
            yield j, i, center + spacing * (move.conjugate() if scene.view.mirror else move)


def differing(scene, count):
    """Return at how many pixels our count differs from a stable one, of how many pixels.

    Pixels at which counts differ are left out where Fractint's is not stable.
    """
    scene = scene.replace(size=SIZE, supersampling=1)
    raw = fractals.compute(scene, device="python")
    formula = scene.make_formula()
    earlier = scene.julia is None and formula.name in EARLIER
    compared = different = 0
    for j, i, pixel in pixels(scene):
        at = pixel.conjugate() if scene.view.mirror else pixel
        found = int(raw.count[j, i])
        wanted = {min(count(at) + earlier, LIMIT)}
        if earlier and abs(pixel) > scene.iteration.escape_radius:
            wanted = {1}  # where theirs begins is not tested there
        elif found not in wanted:  # where it is, it does not matter whether it is stable
            wanted |= {min(count(at + move) + earlier, LIMIT) for move in (1e-7, -1e-7, 1e-7j)}
        compared += len(wanted) == 1
        different += len(wanted) == 1 and found not in wanted
    return different, compared
