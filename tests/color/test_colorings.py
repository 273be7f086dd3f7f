"""Each coloring's value is that of plain complex arithmetic, and what it is given is checked."""

import cmath
import functools
import io
import itertools
import math
import random
from unittest import mock

import numpy as np
import pytest
from oracle import exact_cycles
from oracle import naive_colorings as naive
from support.drawings import opened
from support.scenes import formula_for, scene, slow_but

import fractals
from fractals import catalog
from fractals.backends import machine_code
from fractals.backends.cpu.backend import CpuBackend
from fractals.backends.python import PythonBackend
from fractals.color import palette
from fractals.color.colorings import averages
from fractals.kernels import elementary, escape, ranks
from fractals.kernels.orbit import Statistics
from fractals.rendering.shading import Painter
from fractals.rendering.tiles import Tile
from fractals.tools import verify

SIZE, LIMIT, RADIUS = (32, 18), 80, 64
JULIA = ["-0.4", "0.59"]
FEW = 25  # steps after which rounding has not grown yet


def drawn_scene(coloring, **keys):
    keys = {"size": SIZE, "max_iterations": LIMIT, "escape_radius": RADIUS, **keys}
    return scene(coloring=coloring, **keys)


def iterated(drawn, device="cpu"):
    """Return a scene, what it is drawn with, and the escape data of its whole picture."""
    drawing = opened(drawn, device, shading=False)
    if device == "cpu" and machine_code.FUSED:  # a plain loop is many times slower
        assert drawing.source.run.loop == "packs"
    return drawn, drawing, drawing.source.iterate(Tile(0, 0, *drawing.plan.size))


def values_in(drawn, drawing, raw, number=0):
    """Return the counts and a layer's values of a whole picture, NaN where it has none.

    In plain Python: each program of values would be compiled for one test.
    """
    width, height = drawing.plan.size
    values = np.empty((height, width))
    with mock.patch.object(Painter, "_compile"):  # its programs for colors are not needed
        painter = Painter(PythonBackend("float64"), drawing.plan, np.uint8)
    fill = painter.value_program(drawing.plan.layers.drawn[number])
    fill(values, raw, drawing.source.max_iterations, drawing.source.count_offset)
    return raw[0], values


def values_of(drawn, device="cpu"):
    """Return the counts and the coloring's values of a whole picture, NaN where it has none."""
    return values_in(*iterated(drawn, device))


# Colorings that watch orbits: one program watches all, as each takes seconds to compile.
CROSS = {"shape": "cross", "x": 0.2, "y": -0.1, "angle": 30, "radius": 0.4}
WATCHING = [
    ({"name": "stripe_average", "density": 4}, "escaped"),
    ("triangle_average", "escaped"),
    ("curvature_average", "escaped"),
    *(({"name": "orbit_trap", **CROSS}, mask) for mask in ("escaped", "inside", "all")),
    ({"name": "pickover_stalks", "thickness": 0.05}, "all"),
    ("atom_domains", "all"),
]


@functools.cache
def watched(power, julia, device):
    formula = "mandelbrot" if power == 2 else {"name": "multibrot", "power": power}
    layers = [{"coloring": own, "mask": mask, "opacity": 0.5} for own, mask in WATCHING]
    drawn = drawn_scene("count", formula=formula, julia=JULIA if julia else None, layers=layers)
    return iterated(drawn, device)


def places(drawn):
    """Yield row, column and place of each sample."""
    width, height = SIZE
    across = 4.2 if drawn.julia else float(drawn.make_formula().width)
    middle = 0 if drawn.julia else complex(*map(float, drawn.make_formula().center))
    for j in range(height):
        for i in range(width):
            x, y = (i + 0.5 - width / 2) / width, (height / 2 - j - 0.5) / width
            yield j, i, middle + across * complex(x, y)


def compare(coloring, expected, power=2, julia=False, device="cpu", mask="escaped"):
    """Hold a coloring's values against ``expected(points, c)``, None where it can't be said."""
    if (coloring, mask) in WATCHING:
        drawn, drawing, raw = watched(power, julia, device)
        counts, values = values_in(drawn, drawing, raw, 1 + WATCHING.index((coloring, mask)))
    else:
        formula = "mandelbrot" if power == 2 else {"name": "multibrot", "power": power}
        julia = JULIA if julia else None
        drawn = drawn_scene(coloring, formula=formula, julia=julia, mask=mask)
        counts, values = values_of(drawn, device)
    side = {"all": "both"}.get(mask, mask)
    seen = 0
    for j, i, place in places(drawn):
        c = complex(*map(float, JULIA)) if julia else place
        points = naive.orbit(power, place if julia else 0j, c, LIMIT, RADIUS)
        if len(points) - 1 != counts[j, i] or FEW < counts[j, i] < LIMIT:
            continue
        out = naive.escaped(points, LIMIT)
        if side != "both" and out != (side == "escaped"):
            assert math.isnan(values[j, i])
            continue
        wanted = expected(points, c)
        if wanted is not None:
            assert values[j, i] == pytest.approx(wanted, rel=1e-6, abs=1e-6), (j, i, points[-1])
            seen += 1
    assert seen > 30


kinds = pytest.mark.parametrize(
    ("power", "julia", "device"),
    slow_but(
        [(2, False, "cpu"), (2, True, "python"), (3, False, "python")],
        [
            (power, julia, device)
            for power, julia in [(2, False), (2, True), (3, False)]
            for device in ("cpu", "python")
        ],
    ),
)


@kinds
@pytest.mark.parametrize("density", slow_but([5], [1, 4, 5, 7]))
def test_stripe_average(density, power, julia, device):
    def expected(points, c):
        terms = naive.stripe_terms(points, c, density)
        return naive.smooth_mean(terms, naive.fraction(points, RADIUS, power))

    compare({"name": "stripe_average", "density": density}, expected, power, julia, device)


def test_the_darkest_stripe_is_dark():
    """Also where rounding makes the sine a little less than -1."""
    make = averages.make_stripe_average_statistic
    _, update = make(PythonBackend("float64").target, None, 0, 7)
    turns = (3 / 4 + np.arange(7)[:, None]) / 7 + np.arange(-50, 50) * 1e-11
    found = [
        update((0, 0), math.cos(each), math.sin(each), 0, 0, 0, 0, ())[1]
        for each in 2 * math.pi * turns.ravel()
    ]
    assert min(found) < 0  # else the test shows nothing
    assert max(found) < 1e-12


def test_a_point_beyond_the_largest_number_counts_as_half_a_stripe():
    """It has no direction: there were dark bands where the product of an exponential overflows."""
    data = fractals.compute("collatz", size=(24, 16), supersampling=1, device="cpu")
    beyond = data.beyond.samples[~np.isfinite(data.beyond.z)]
    last, total = (data.statistics[f"stripes,density=5.{part}"].ravel() for part in ("last", "sum"))
    assert 0 < len(beyond) < data.z.size
    assert (last[beyond] == 0.5).all()
    assert np.isfinite(total).all()
    assert np.isfinite(data.values("stripe_average").ravel()[beyond]).all()


@kinds
@pytest.mark.parametrize("name", slow_but(["curvature"], ["triangle", "curvature"]))
def test_other_averages(name, power, julia, device):
    def expected(points, c):
        terms = getattr(naive, f"{name}_terms")(points, c)
        return naive.smooth_mean(terms, naive.fraction(points, RADIUS, power))

    compare(f"{name}_average", expected, power, julia, device)


SHAPES = ("point", "line", "cross", "circle")


@pytest.mark.parametrize(
    ("shape", "mask"),
    slow_but(
        [("cross", "escaped"), ("cross", "inside"), *((shape, "all") for shape in SHAPES)],
        itertools.product(SHAPES, ["escaped", "all", "inside"]),
    ),
)
def test_orbit_trap(shape, mask):
    device = "cpu" if shape == "cross" else "python"
    own = {"name": "orbit_trap", **CROSS, "shape": shape}

    def expected(points, c):
        near = naive.trap_distance(points, shape, 0.2 - 0.1j, 30, 0.4)
        return 0.25 / (0.25 + near)

    compare(own, expected, device=device, mask=mask)


def test_pickover_stalks():
    def expected(points, c):
        return 0.05 / (0.05 + naive.trap_distance(points, "cross", 0, 0, 0))

    compare({"name": "pickover_stalks", "thickness": 0.05}, expected, mask="all")


def test_the_axis_that_comes_first():
    def expected(points, c):
        axis = None
        for z in points[1:]:
            if abs(z) >= 1.9 or axis is not None:
                continue
            if min(abs(abs(z.real) - 0.06), abs(abs(z.imag) - 0.06), abs(abs(z) - 1.9)) < 1e-5:
                return None
            axis = 0 if abs(z.real) < 0.06 else 0.5 if abs(z.imag) < 0.06 else None
        return axis

    own = {"name": "epsilon_cross", "reach": 0.06, "radius": 1.9}
    compare(own, expected, mask="all")
    compare(own, expected, julia=True, device="python", mask="all")


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_the_last_visit(device):
    def expected(points, c):
        near = [abs(z) ** 2 for z in points[1:] if abs(z) < 0.6]
        at_the_edge = any(abs(abs(z) - 0.6) < 1e-4 for z in points[1:])
        return near[-1] / 0.36 if near and not at_the_edge else None

    compare({"name": "last_visit", "reach": 0.6}, expected, device=device, mask="all")


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_samples_without_a_value_are_not_drawn(device):
    drawn = drawn_scene(
        {"name": "last_visit", "reach": 0.3},
        mask="escaped",
        palette={"stops": [[0, "#fff"], [0.5, "#fff"]]},
        inside="#f00",
    )
    counts, values = values_of(drawn, "python")
    pixels = fractals.render(drawn, device=device).pixels
    assert {True, False} == set(np.isnan(values[counts < LIMIT]))
    for value, pixel in zip(values.flat, pixels.reshape(-1, 3), strict=True):
        assert pixel.tolist() == ([255, 0, 0] if math.isnan(value) else [255, 255, 255])


def test_atom_domains():
    def expected(points, c):
        first, second = sorted(abs(z) for z in points[1:])[:2] if len(points) > 2 else (0, 1)
        if second - first < 1e-6:
            return None  # both are nearest
        return naive.nearest_step(points) * (3 - math.sqrt(5)) / 2

    compare("atom_domains", expected, mask="all")


def test_cycles():
    view = {"max_iterations": 4000, "size": (32, 18), "width": "2.2", "center": ["-0.6", "0"]}
    layers = [{"coloring": name, "mask": "inside"} for name in ("period", "multiplier")]
    whole = iterated(drawn_scene("count", layers=layers, **view))
    periods, stretches = (values_in(*whole, number)[1] for number in (1, 2))
    known = np.isfinite(periods) | np.isfinite(stretches)
    assert min(np.isfinite(values).sum() for values in (periods, stretches)) > 100
    seen, wrong = set(), 0
    for j, i in np.argwhere(known):
        c = complex(-0.6 + 2.2 * (i + 0.5 - 16) / 32, 2.2 * (9 - j - 0.5) / 32)
        settled = naive.orbit(2, 0j, c, 10_000, 2)[-1]
        period, stretch = naive.cycle(2, c, settled)
        golden = period * (3 - math.sqrt(5)) / 2
        for values, wanted in ((periods, golden), (stretches, stretch)):
            if np.isfinite(values[j, i]):
                wrong += values[j, i] != pytest.approx(wanted, abs=1e-4)
        seen.add(period)
    assert wrong == 0
    assert {1, 2, 4, 5} <= seen


def period_at(c, tolerance=1e-6, max_iterations=20_000, formula="mandelbrot", **keys):
    """Return the period that the statistic finds for one c, 0 where it is not certain."""
    center = repr(c.real), repr(c.imag)
    own = {"name": "period", "tolerance": tolerance}
    layers = [{"coloring": own, "mask": "inside"}, {"coloring": "multiplier", "mask": "inside"}]
    keys = {"width": "1e-3", "size": (1, 1), "max_iterations": max_iterations, **keys}
    raw = fractals.compute(
        scene(formula, center=center, coloring="count", layers=layers, **keys),
        device="cpu",
        on_message=str,
    )
    assert raw.count[0, 0] == max_iterations
    plane = next(p for name, p in raw.statistics.items() if ".period" in name)  # of `own`
    return int(plane[0, 0])


def beside_roots(far):
    """Yield c and its period, where the multiplier of a cycle is near a root of unity."""
    for q, turn in itertools.product(range(1, 13), (0, 1e-3, -1e-5)):
        multiplier = (1 - far) * cmath.exp(2j * math.pi * (1 / q + turn))
        yield multiplier / 2 - multiplier**2 / 4, 1
        yield -1 + multiplier / 4, 2


@pytest.mark.parametrize("keys", slow_but([{}], [{}, {"tolerance": 0.1}, {"width": "1e-20"}]))
def test_periods_are_never_multiples_or_divisors(keys):
    known = 0
    for far in (0.1, 1e-2, 1e-3, 1e-4, 1e-5):
        for c, period in beside_roots(far):
            found = period_at(c, **keys)
            assert found in (0, period), (c, found)
            known += found > 0
    assert known > 140


def test_periods_near_the_limit_of_period_doubling():
    """Where multiples were found, and c near -1.75 whose orbit escapes after the limit."""
    assert period_at(-1.400704031818829 + 0j, max_iterations=2000) in (0, 32)
    assert period_at(-1.400704031818829 + 0j) == 32
    assert period_at(-1.4010391518239131 + 0j, max_iterations=200_000) == 64
    assert period_at(-1.4011548104543252 + 0j, max_iterations=200_000) == 1024
    assert period_at(-1.1226205540762784 + 0.21302331898612617j, max_iterations=2000) in (0, 2)
    assert period_at(0.25 + 1e-7 + 0j, max_iterations=5000) == 0
    assert period_at(-1.75 + 1e-8 + 0j, max_iterations=5000) == 0


@pytest.mark.slow
def test_periods_near_the_limit_of_period_doubling_in_float32():
    assert period_at(-1.4005524601645594 + 0j, precision="float32") in (0, 32)


@pytest.mark.slow
@pytest.mark.parametrize("middle", [-1.401155, -0.13 + 0.75j, -1.31, -0.75, 0.25, -1.25, -1.75])
def test_periods_are_those_of_exact_cycles(middle):
    dice, known = random.Random(str(middle)), 0
    for _ in range(30):
        far = 10 ** dice.uniform(-5, -1)
        c = middle + far * cmath.exp(2j * math.pi * dice.random())
        period = exact_cycles.attracting_period(c)
        if period is None:
            continue
        found = period_at(c)
        assert found in (0, period), (c, found)
        known += found > 0
    assert known >= 4


@kinds
def test_slopes(power, julia, device):
    light = {"direction": 20, "height": 60, "strength": 2, "ambient": 0.3, "specular": 0.4}

    def expected(points, c):
        dz = naive.derivative(points, power, julia)
        return naive.relief(points[-1], dz, **light)

    compare({"name": "slopes", **light}, expected, power, julia, device)


@pytest.mark.parametrize("parts", [2, 5])
def test_angles(parts):
    def expected(points, c):
        place = naive.turns(points[-1])
        return None if min(place, 1 - place) < 1e-9 else place

    def stepped(points, c):
        place = expected(points, c)
        if place is None or abs(place * parts - round(place * parts)) < 1e-6:
            return None
        return math.floor(place * parts) / parts

    compare("final_angle", expected)
    compare({"name": "decomposition", "parts": parts}, stepped)


@kinds
def test_field_lines_and_the_grid_are_the_oracles(power, julia, device):
    def line(points, c):
        return naive.field_line(points, RADIUS, power, 3, 0.4)

    def net(points, c):
        own = naive.field_line(points, RADIUS, power, 3, 0.4)
        return min(own, naive.band_border(points, RADIUS, power, 3, 0.4))

    compare({"name": "field_lines", "lines": 3, "weight": 0.4}, line, power, julia, device)
    compare({"name": "exterior_grid", "lines": 3, "weight": 0.4}, net, power, julia, device)


PARTS = {"real": 1.5, "imag": -0.5, "quotient": 0.25}


@pytest.mark.parametrize("whole", [0, 1])
def test_parts_of_the_last_point_that_are_added_to_the_count(whole):
    def expected(points, c):
        x, y = points[-1].real, points[-1].imag
        added = 1.5 * x - 0.5 * y + 0.25 * x / y
        if abs(y) < 1e-3 or (whole and abs(added - round(added)) < 1e-3):
            return None
        return len(points) - 1 + (math.trunc(added) if whole else added)

    compare({"name": "count_plus", **PARTS, "whole": whole}, expected)


def test_what_is_added_to_a_count_has_a_bound():
    """A point that overflowed, and one on the real axis, give a number."""
    value = catalog.load("coloring", "count_plus")().make_value(PythonBackend("float64").target)
    plus = (0.0, 0.0, 1.0, 1.0, 1.0, 1.0)
    assert value(7, 1e300, 1.0, 0.0, 0.0, plus) == 7 + 1e6
    assert value(7, -math.inf, 1.0, 0.0, 0.0, plus) == 7 - 1e6
    assert value(7, math.nan, 1.0, 0.0, 0.0, plus) == 7 + 1e6
    assert value(7, 2.5, 0.0, 0.0, 0.0, plus) == 9


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ({}, lambda z: abs(z) ** 2),
        ({"size": 0.0, "angle": 2.0}, lambda z: 2 * (cmath.phase(z) / math.tau % 1)),
        ({"size": 0.0, "quotient": 0.5}, lambda z: 0.5 * z.real / z.imag),
    ],
    ids=["size", "angle", "quotient"],
)
@pytest.mark.parametrize("device", ["cpu", "python"])
def test_the_point_after_the_last_step(own, expected, device):
    def value(points, c):
        z = points[-1]
        return None if abs(z.imag) < 1e-3 else expected(z)

    compare({"name": "last_point", **own}, value, device=device, mask="inside")


@pytest.mark.parametrize("less", [0, 1])
def test_the_logarithm_over_the_steps(less):
    def expected(points, c):
        steps = len(points) - 1 - less
        return math.sqrt(math.log(abs(points[-1]) ** 2) / max(steps, 1))

    compare({"name": "log_ratio", "less": less}, expected, device="cpu" if less else "python")


def waves(z, c):
    """Return what `last_wave` has of each kind, after XaoS."""
    x, y, product = z.real, z.imag, z.real * z.imag * c.real * c.imag
    mixed = (math.floor(abs(x) * 40) + math.floor(abs(y) * 40)) % 2
    return {
        "distance": abs(abs(c.imag) - abs(x)) + abs(c.imag - abs(y)),
        "product": math.cos(product) if int(10 * abs(z) ** 2) % 2 else math.sin(product),
        "radial": abs(z) ** 2 * math.cos(x * x),
        "saddle": math.sin(x * x - y * y),
        "angle": math.atan(product) / math.tau,
        "squares": (math.atan2(x, y) if mixed else math.atan2(y, x)) / math.tau,
    }


@pytest.mark.parametrize("mirror", [0, 1])
@pytest.mark.parametrize("wave", ["distance", "product", "radial", "saddle", "angle", "squares"])
def test_waves_of_the_point_after_the_last_step(wave, mirror):
    def value(points, c):
        z = points[-1].conjugate() if mirror else points[-1]
        edges = (40 * z.real, 40 * z.imag, 10 * abs(z) ** 2)
        if any(abs(edge - round(edge)) < 1e-3 for edge in edges):
            return None
        return waves(z, c.conjugate() if mirror else c)[wave]

    own = {"name": "last_wave", "wave": wave, "mirror": mirror}
    compare(own, value, julia=wave == "angle", device="cpu" if mirror else "python", mask="inside")


def test_biomorph():
    def expected(points, c):
        z = points[-1]
        return min(1, min(abs(z.real), abs(z.imag)) / RADIUS)

    compare("biomorph", expected)


@pytest.mark.unwatched("dz is infinite or NaN there")
def test_a_derivative_beyond_the_largest_number_means_no_distance():
    """Infinities and NaN were values, of which files of raw numbers and heights were made."""
    data = fractals.compute(
        "collatz", size=(24, 16), supersampling=1, coloring="distance", device="cpu"
    )
    escaped = data.count < data.max_iterations
    beyond = escaped & ~np.isfinite(data.dz)
    values = data.values("distance")
    assert beyond.any()
    assert (escaped & ~beyond).any()
    assert (values[beyond] == 0).all()
    assert np.isfinite(values[escaped]).all()


def test_distance_line():
    def expected(points, c):
        size = abs(points[-1])
        far = 2 * size * math.log(size) / abs(naive.derivative(points, 2, False))
        return naive.smoothstep(1000 * far / width / 30)

    width = float(drawn_scene("distance_line").make_formula().width)
    compare({"name": "distance_line", "weight": 30}, expected)


# Those that must see the whole picture


def test_rank_and_histogram():
    smooth_counts, smooth = values_of(drawn_scene("smooth", size=(64, 36)))
    out = smooth_counts < LIMIT
    drawn = {}
    for name in ("rank", "histogram"):
        grey = {"stops": ["#000", "#fff"], "cyclic": False}
        wanted = drawn_scene(name, size=(64, 36), palette=grey, bits=16, inside="#000")
        picture = fractals.render(wanted, device="cpu").pixels[..., 0]
        light = palette.linear_from_srgb(picture / 65535)
        drawn[name] = np.cbrt(light)  # grey is even in OKLab, whose lightness is a cube root
    order = np.argsort(np.argsort(smooth[out])) / (out.sum() - 1)
    seen = order > 0.05  # 16 bits can't tell darker ones apart
    assert np.abs(drawn["rank"][out] - order)[seen].max() < 4e-3  # within a cell it is even
    counts = smooth_counts[out]
    below = np.array([(counts < n).mean() for n in counts])
    up_to = np.array([(counts <= n).mean() for n in counts])
    part = smooth[out] - counts
    shares = below + part.clip(0, 1) * (up_to - below)
    seen = shares > 0.05
    assert np.abs(drawn["histogram"][out] - shares)[seen].max() < 2e-3


def test_ranked_pictures_in_files(tmp_path):
    drawn = drawn_scene("rank")
    wanted = fractals.render(drawn, device="cpu")
    fractals.render_to(tmp_path / "a.png", drawn, device="cpu")
    file = io.BytesIO()
    fractals.render_to(file, drawn, device="cpu")
    assert (tmp_path / "a.png").read_bytes() == file.getvalue() == wanted.encode()
    with pytest.raises(fractals.SceneError, match="depend on all others"):
        verify.verify(tmp_path / "a.png")


@pytest.mark.parametrize("name", ["rank", "histogram"])
def test_ranks_of_nothing_and_of_much(name):
    inside = scene(coloring=name, center=["-0.1", "0"], width="0.01")
    assert not fractals.render(inside, device="cpu").pixels.any()
    make_table = {
        "rank": ranks.make_rank_table,
        "histogram": ranks.make_histogram_table,
    }[name]
    for values in (
        np.random.default_rng(1).uniform(1, 1e6, 10**5),
        np.random.default_rng(2).exponential(3, 10**5) + 12_000_000,
        np.array([5e6, 1.5, 3e9]),
    ):
        lowest, *shares = make_table(values)
        assert len(shares) == ranks.EDGE_COUNT
        assert (np.diff(shares) >= 0).all()
        assert lowest <= values.min()
        assert (shares[0], shares[-1]) == (0, 1)
        for value in np.quantile(values, [0.01, 0.4, 0.9]):
            share = np.interp(value, ranks.edges(lowest), shares)
            assert share == pytest.approx(
                (values < value).mean(), abs=0.34 if len(values) == 3 else 0.02
            )


# Loops

PLAIN = {"picture_trap"}  # its `update` reads a table at an index of each sample
STATISTICS = [n for n in catalog.names("coloring") if catalog.load("coloring", n)().statistic]


@pytest.mark.skipif(not machine_code.FUSED, reason="this CPU has no packs")
@pytest.mark.parametrize("name", slow_but(["picture_trap"], STATISTICS))
def test_the_loop_that_a_statistic_gets_on_the_cpu(name):
    """A statistic that packs cannot compile falls back to a loop many times slower."""
    coloring = catalog.load("coloring", name)().choose({})
    formula = scene(formula_for(name)).make_formula()
    statistics = Statistics.of((coloring,), inside=True).compiled()
    options = escape.EscapeOptions(formula, statistics=statistics, interior_shortcuts=False)
    run = CpuBackend("float64", 1).compile(escape.make_body, options)
    assert bool(getattr(run, "program", None)) == (name not in PLAIN)


# Functions


@pytest.mark.parametrize("precision", [float, np.float32])
def test_angle_in_turns(precision):
    rng = np.random.default_rng(5)
    points = [*rng.normal(size=(2000, 2)), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1)]
    points += [
        (1e-30, 1),
        (1, 1e-30),
        (-1, -1e-30),
        (1e150, -1e150) if precision is float else (3, 4),
    ]
    error = 2e-11 if precision is float else 2e-7
    for x, y in points:
        wanted = (math.atan2(y, x) / (2 * math.pi)) % 1
        found = elementary.angle_in_turns(precision(x), precision(y))
        assert type(found) is precision
        assert abs((float(found) - wanted + 0.5) % 1 - 0.5) < error
    assert elementary.angle_in_turns(precision(0), precision(0)) == 0


# Options, and what says that they are wrong


@pytest.mark.parametrize("name", catalog.names("coloring"))
def test_options_are_declared(name):
    coloring = catalog.load("coloring", name)().choose({})
    assert set(coloring.settings) == set(coloring.options)
    for key, option in coloring.options.items():
        assert option.meaning
        assert "," not in str(option.default)
        if not isinstance(option.default, str):
            assert option.least <= option.default <= option.most
            for value in (option.least, option.most):
                coloring.choose({key: type(option.default)(value)})
            with pytest.raises(ValueError, match=f"{key} is from"):
                coloring.choose({key: type(option.default)(option.most) + 1})
        with pytest.raises(ValueError, match=f"{name}: {key} is"):
            coloring.choose({key: None})


@pytest.mark.parametrize(
    ("coloring", "message"),
    [
        ("stripe", "unknown coloring 'stripe'; did you mean"),
        ({"name": "stripe_average", "densty": 3}, "no option 'densty'; did you mean 'density'"),
        ({"name": "smooth", "density": 3}, "no option 'density'; it has none"),
        ({"name": "slopes", "gloss": 3}, "it has direction, height"),
        ({"name": "stripe_average", "density": 2.5}, "density is a whole number, not 2.5"),
        ({"name": "stripe_average", "density": True}, "density is a whole number, not True"),
        ({"name": "orbit_trap", "x": math.nan}, "x is from -10 to 10, not nan"),
        ({"name": "orbit_trap", "shape": "star"}, "shape is one of point, line"),
        (7, "7 is neither a name nor a table"),
    ],
)
def test_wrong_options(coloring, message):
    with pytest.raises(fractals.FractalsError, match=message):
        fractals.load_scene({"color": {"coloring": coloring}})


def test_scenes_with_options_come_back():
    own = {"name": "orbit_trap", "shape": "circle", "radius": 0.3}
    layers = [{"coloring": "slopes", "opacity": 0.5}, {"coloring": "period", "mask": "inside"}]
    given = fractals.load_scene({"color": {"coloring": own, "layers": layers, "range": [0, 1]}})
    assert fractals.load_scene(given.to_table()) == given
    assert given.color.coloring.make().settings["radius"] == 0.3
    plain = fractals.Scene().to_table()["color"]
    assert set(plain) == {"coloring", "palette", "transfer", "density", "offset", "inside"}
    assert plain["coloring"] == "smooth"


def test_palettes_of_colorings():
    ink = fractals.Scene().replace(coloring="slopes")
    assert ink.color.make_palette() == palette.load("ink")
    assert ink.replace(palette="moss").color.make_palette() == palette.load("moss")
    assert fractals.Scene().color.make_palette() == palette.load("lagoon")
