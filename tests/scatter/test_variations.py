"""The variations of flames, beside flam3 and beside formulas in other words."""

import math
import os
import random
import shutil
import subprocess
import zlib

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from oracle.variations import WORDS
from support.opencl import OPENCL
from support.scenes import slow_but

import fractals
from fractals import catalog
from fractals.scatter.game import HIT
from fractals.scatter.variations import MAKERS, plugins

NAMES = catalog.names("variation")
OTHERS = [name for name in NAMES if MAKERS[name]().apply.__module__ == plugins.__name__]
NOT_IN_FLAM3 = ("hemisphere", "sineblur", *OTHERS)  # of Apophysis' plug-ins, and of JWildfire
OFTEN = ("julian", "radial_blur", "rings2", "waves")  # others: slow tests
FLAM3 = shutil.which("flam3-render")
WIDTH, HEIGHT, SCALE = 160, 120, 20.0
QUALITY = 300
WEIGHT = 0.8
BEGINNINGS = {"oscilloscope": "oscope"}  # of parameters, where the name of flam3 is another
COUNTS = {  # parameters that are whole numbers
    **dict.fromkeys(("julian_power", "juliascope_power", "cpow_power", "pie_slices"), 3),
    **dict.fromkeys(("wedge_julia_power", "super_shape_m"), 3),
    **dict.fromkeys(("wedge_count", "wedge_sph_count", "wedge_julia_count", "ngon_sides"), 4),
    **dict.fromkeys(("hypertile_p", "hypertile1_p", "hypertile2_p", "epispiral_n"), 4),
    **dict.fromkeys(("hypertile_q", "hypertile1_q", "hypertile2_q"), 5),
    **dict.fromkeys(("bcollide_num", "synth_mode"), 5),
    **{f"synth_{wave}_type": kind for kind, wave in enumerate("bcdef", 1)},
    **{f"synth_{wave}_layer": kind % 4 for kind, wave in enumerate("bcdef")},
    **dict.fromkeys(("synth_smooth", "axis_symmetry_wf_axis"), 1),
}
FIRST = 0.9, 0.4, 0.35, -0.3, 0.8, -0.2  # a, b, c, d, e, f
SECOND = 0.5, -0.4, -0.6, 0.3, 0.5, 0.4


def variation(name):
    return catalog.load("variation", name)()


def values_of(made):
    """Return values for the parameters of a variation, other for each."""
    dice = random.Random(zlib.crc32(made.name.encode()))
    usual = {key: round(dice.uniform(0.3, 1.2), 3) for key in made.parameters}
    return {key: COUNTS.get(f"{made.name}_{key}", usual[key]) for key in usual}


def apply_at(made, x, y, values, dice):
    """Return where a variation takes points, as a transform with FIRST and WEIGHT does."""
    numbers = [*values.values(), *(FIRST if made.affine else ())]
    numbers += [WEIGHT] if made.weighted else []
    p = [np.full_like(x, v) for v in numbers]
    u = [dice.random(len(x)) for _ in range(made.draws)]
    a, b = made.apply(x, y, u, p)
    return (a, b) if made.weighted else (WEIGHT * a, WEIGHT * b)


def played(made, values):
    """Return a histogram of points and colors, by NumPy: nothing is compiled."""
    dice, steps, n = np.random.default_rng(3), 320, 20_000
    x, y, c = dice.uniform(-1, 1, n), dice.uniform(-1, 1, n), dice.random(n)
    sums = np.zeros((HEIGHT * WIDTH, 4))
    count = 0
    with np.errstate(all="ignore"):
        for step in range(steps):
            first = dice.random(n) < 0.5
            tx, ty = (FIRST[k] * x + FIRST[k + 1] * y + FIRST[k + 2] for k in (0, 3))
            fx, fy = apply_at(made, tx, ty, values, dice)
            sx, sy = (SECOND[k] * x + SECOND[k + 1] * y + SECOND[k + 2] for k in (0, 3))
            x, y = np.where(first, fx, sx), np.where(first, fy, sy)
            c = np.where(first, c / 2, c / 2 + 0.5)
            lost = ~((np.abs(x) < 1e10) & (np.abs(y) < 1e10))
            x[lost], y[lost] = dice.uniform(-1, 1, (2, lost.sum()))
            if step < 20:
                continue
            column, row = np.floor(x * SCALE + WIDTH / 2), np.floor(y * SCALE + HEIGHT / 2)
            seen = (column >= 0) & (column < WIDTH) & (row >= 0) & (row < HEIGHT) & ~lost
            place = (row[seen] * WIDTH + column[seen]).astype(int)
            shade = (c[seen] * 256).astype(int).clip(0, 255)
            count += n
            for channel, weight in enumerate((shade, 255 - shade, np.full(len(shade), 100))):
                sums[:, channel] += np.bincount(place, weight, len(sums))
            sums[:, 3] += np.bincount(place, minlength=len(sums))
    return sums.reshape(HEIGHT, WIDTH, 4), count / WIDTH / HEIGHT


def shown(sums, quality):
    """Return the picture: flam3's display with vibrancy 1 and no estimate."""
    n = HIT * sums[..., 3]
    k2 = 1 / (WIDTH * HEIGHT / SCALE**2 * HIT * quality)
    with np.errstate(all="ignore"):
        scale = np.where(n > 0, 4 * 268 * HIT / 256 * np.log1p(n * k2) / n, 0)
        density = n * scale / HIT
        part = np.minimum(density / 0.01, 1)
        alpha = (1 - part) * density * 0.01 ** (1 / 4 - 1) + part * density ** (1 / 4)
        light = np.where(density > 0, alpha / density, 0)
    return np.clip(HIT * sums[..., :3] * scale[..., None] / HIT * light[..., None], 0, 255)


@pytest.mark.skipif(not FLAM3, reason="flam3-render is not installed (flam3-utils)")
@pytest.mark.parametrize("name", slow_but(OFTEN, [n for n in NAMES if n not in NOT_IN_FLAM3]))
def test_beside_flam3(name, tmp_path):
    import PIL.Image

    made = variation(name)
    values, begin = values_of(made), BEGINNINGS.get(name, name)
    own = " ".join(f'{begin}_{key}="{value}"' for key, value in values.items())
    colors = "".join(f'<color index="{k}" rgb="{k} {255 - k} 100"/>' for k in range(256))
    a, b, c, d, e, f = FIRST
    g, h, i, j, k, m = SECOND
    text = (
        f'<flame name="own" size="{WIDTH} {HEIGHT}" center="0 0" scale="{SCALE}" oversample="1" '
        f'filter="0.1" quality="{QUALITY}" background="0 0 0" brightness="4" gamma="4" '
        f'vibrancy="1" estimator_radius="0" temporal_samples="1" passes="1">'
        f'<xform weight="1" color="0" {name}="{WEIGHT}" {own} coefs="{a} {d} {b} {e} {c} {f}"/>'
        f'<xform weight="1" color="1" linear="1" coefs="{g} {j} {h} {k} {i} {m}"/>'
        f"{colors}</flame>"
    )
    env = {**os.environ, "prefix": str(tmp_path / "x"), "format": "png", "isaac_seed": "1"}
    subprocess.run([FLAM3], input=text.encode(), env=env, capture_output=True, check=True)
    theirs = np.asarray(PIL.Image.open(tmp_path / "x00000.png").convert("RGB"), float)
    ours = shown(*played(made, values))

    def means(picture):
        return picture.reshape(HEIGHT // 4, 4, WIDTH // 4, 4, 3).mean(axis=(1, 3))

    assert ours.max() > 20
    assert np.abs(means(ours) - means(theirs)).mean() < 2


# Here a number that keeps a divisor from 0 is added to the distance, and not in the oracle.
DIVIDED = "conic diamond flower hyperbolic lazysusan power rings rings2 spiral".split()  # noqa: SIM905
# Differences of numbers that are nearly equal, somewhere on their way.
CANCELLED = "bcollide bmod bswirl edisc elliptic foci glynnia julia".split()  # noqa: SIM905


@pytest.mark.parametrize("points", slow_but([25], [25, 1000]))
@pytest.mark.parametrize("name", NAMES)
def test_in_other_words(name, points):
    """float64 is within 16 units in the last place of what mpmath says, beside its terms.

    A term is the result, or the change of the result by a small part of x, y or a random number.
    """
    made, dice, words = variation(name), random.Random(name), WORDS[name]
    values, small = values_of(made), 1e-12
    p = [*values.values(), *(FIRST if made.affine else ()), *([WEIGHT] if made.weighted else ())]
    units = 128 if name in CANCELLED else 16
    with mpmath.workdps(40):
        exact_values = {key: mpf(v) for key, v in values.items()}
        others = exact_values, mpf(WEIGHT), [mpf(v) for v in FIRST]
        for _ in range(points):
            x, y = dice.uniform(-3, 3), dice.uniform(-3, 3)
            u = [dice.random() for _ in range(made.draws)]
            found = made.apply(x, y, u, p)
            found = found if made.weighted else [WEIGHT * v for v in found]
            given = [mpf(v) for v in (x, y, *u)]
            right = words(*given[:2], given[2:], *others)
            terms = sum(map(abs, right)) + (made.draws > 0)
            for k in range(len(given)):
                near = [v * (1 + small) if k == m else v for m, v in enumerate(given)]
                moved = words(*near[:2], near[2:], *others)
                terms += sum(abs(a - b) / small for a, b in zip(moved, right, strict=True))
            bound = units * 2.0**-52 + (name in DIVIDED) * 5e-10 / mpmath.hypot(x, y)
            for ours, theirs in zip(found, right, strict=True):
                assert abs(mpf(float(ours)) - theirs) <= bound * terms, (x, y, u)


@pytest.mark.parametrize("smooth", [0, 1])
@pytest.mark.parametrize("mode", range(20))
def test_modes_of_synth(mode, smooth):
    """Each mode agrees with the definition to 9 digits, with waves of each kind and layer."""
    made, dice = variation("synth"), random.Random(20 * smooth + mode)
    for count in range(30):
        values = {key: dice.uniform(0.3, 1.2) for key in made.parameters}
        values |= {"mode": mode, "smooth": smooth, "power": dice.choice((-1.3, 0.7, 2.0))}
        for wave in "bcdef":
            values[f"{wave}_type"], values[f"{wave}_layer"] = dice.randrange(9), dice.randrange(4)
            values[wave], values[f"{wave}_skew"] = dice.choice((0.0, 0.2)), dice.choice((0.0, 0.4))
        x, y, u = dice.uniform(-2, 2), dice.uniform(-2, 2), [dice.random() for _ in range(4)]
        found = made.apply(x, y, u, [float(v) for v in values.values()])
        exact = {key: mpf(v) for key, v in values.items()}
        right = WORDS["synth"](mpf(x), mpf(y), [mpf(v) for v in u], exact, mpf(1), None)
        for ours, theirs in zip(found, right, strict=True):
            assert abs(ours - theirs) <= 1e-6 * (1 + abs(theirs)), (count, values)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        *(("falloff2", {"type": kind, "invert": k}) for kind in (0, 1, 2) for k in (0, 1)),
        *(("crop", {"zero": k, "left": 0.9, "right": -0.2, "top": -0.5}) for k in (0, 1)),
        *(("axis_symmetry_wf", {"axis": k}) for k in (0, 1, 2)),
        *(("bmod", {"radius": k}) for k in (0.3, 2.0)),
        ("epispiral", {"thickness": 0.0}),
    ],
)
def test_kinds_of_variations(name, changes):
    made, dice = variation(name), random.Random(7)
    values = {**values_of(made), "scatter": 9.0, "mindist": 0.2, **changes}
    values = {key: float(values[key]) for key in made.parameters}
    for _ in range(40):
        x, y, u = dice.uniform(-1.5, 1.5), dice.uniform(-1.5, 1.5), [dice.random() for _ in "abc"]
        found = made.apply(x, y, u, [*values.values(), *([WEIGHT] if made.weighted else ())])
        found = found if made.weighted else [WEIGHT * v for v in found]
        exact = {key: mpf(v) for key, v in values.items()}
        if name == "epispiral":  # without thickness, leaves are lines
            exact["thickness"], u[0] = mpf(1), 1.0
        right = WORDS[name](mpf(x), mpf(y), [mpf(v) for v in u], exact, mpf(WEIGHT), None)
        for ours, theirs in zip(found, right, strict=True):
            assert abs(ours - theirs) <= 1e-9 * (1 + abs(theirs)), (x, y, u)


@pytest.mark.parametrize("name", NAMES)
def test_no_point_ends_the_game(name):
    """Where a variation has no value it returns one that is not finite, and raises nothing."""
    made = variation(name)
    p = [*values_of(made).values(), *(FIRST if made.affine else ())]
    p += [WEIGHT] if made.weighted else []
    u = (0.25, 0.5, 0.75, 0.125, 0.0, 0.5)[: made.draws]
    with np.errstate(all="ignore"):
        for kind in (float, np.float32):
            for x in (0.0, 1e-30, -1.0, 3.0, 1e10):
                for y in (0.0, -1e-30, 1.0, -1e10):
                    found = made.apply(kind(x), kind(y), tuple(map(kind, u)), [kind(v) for v in p])
                    assert [type(v) for v in found] == [kind, kind]
        values = made.apply(0.7, -0.4, u, p)
        assert all(math.isfinite(v) for v in values)


def test_random_numbers_make_a_gaussian_blur():
    """The radius has the mean 0 and the variance 1/3 of the sum of four uniform numbers, less 2."""
    dice, made = np.random.default_rng(1), variation("gaussian_blur")
    x = np.zeros(200_000)
    a, b = made.apply(x, x, [dice.random(len(x)) for _ in range(5)], ())
    assert abs((a**2 + b**2).mean() - 1 / 3) < 0.005
    assert abs(a.mean()) < 0.005


def sums_of(names, device):
    """Return the sums of a flame of some variations: few points, so that plain Python is quick."""
    table = {}
    for name in names:
        stage = "post_" if name == "axis_symmetry_wf" else ""
        values = {f"{stage}{name}_{key}": v for key, v in values_of(variation(name)).items()}
        table |= {f"{stage}{name}": WEIGHT, **values}
    transforms = [
        {"affine": list(FIRST), "variations": table},
        {"affine": list(SECOND), "color": 1.0},
    ]
    scene = fractals.load_scene(
        formula={"name": "flame", "transforms": transforms},
        **{"size": (12, 8), "width": "9", "fuse": 4, "steps": 4},
    )
    hits = fractals.compute(scene, device=device, quality=2.0, supersampling=1)
    assert hits.hits > 100
    return hits.sums


@pytest.mark.parametrize("name", OTHERS)
def test_the_cpu_has_the_bits_of_plain_python(name):
    assert np.array_equal(sums_of([name], "cpu"), sums_of([name], "python"))


GROUPS = (["synth"], ["axis_symmetry_wf", "bwraps7", "hypertile1"], OTHERS[3:9], OTHERS[9:])


@pytest.mark.slow
@pytest.mark.parametrize("device", ["simulator", OPENCL])
@pytest.mark.parametrize("names", GROUPS, ids=lambda names: names[0])
def test_gpus_have_the_bits_of_the_cpu(names, device):
    assert np.array_equal(sums_of(names, device), sums_of(names, "cpu"))
