"""Plans: tiles, coordinates, depth, limits."""

import dataclasses
import itertools
import math
import subprocess
import sys
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from oracle import naive
from support.deadline import deadline
from support.scenes import scene

import fractals
from fractals.backends.devices import LIMITS
from fractals.errors import OptionError
from fractals.io.png import strip_rows
from fractals.rendering import plan, precision, sampling, tiles
from fractals.rendering.plan import make_plan
from fractals.rendering.sampling import coordinates
from fractals.scene.model import MAX_ITERATIONS

KINDS = ("cpu", "cuda", "simulator", "python")
sides = st.integers(1, 700)


@settings(max_examples=60)
@given(
    width=sides,
    height=sides,
    n=st.integers(1, 16),
    max_iterations=st.integers(1, 10**6),
    device=st.sampled_from(KINDS),
    deep=st.booleans(),
)
def test_tiles_cover_each_pixel_once(width, height, n, max_iterations, device, deep):
    drawn = scene(size=(width, height), supersampling=n, max_iterations=max_iterations)
    planned = list(tiles.make_tiles(drawn, device, max_iterations, deep=deep))
    if len(planned) > 5000:
        planned = planned[:5000]  # more would take long to paint
        height = max(tile.y for tile in planned)  # the rows that are whole
    covered = np.zeros((700, 700), int)
    samples = []
    for tile in planned:
        assert tile.width > 0
        assert tile.height > 0
        assert tile.x >= 0
        assert tile.y >= 0
        assert tile.x + tile.width <= width
        covered[tile.y : tile.y + tile.height, tile.x : tile.x + tile.width] += 1
        samples.append(tile.width * tile.height * n * n)
    assert (covered[:height, :width] == 1).all()
    assert not covered[:, width:].any()
    if device in ("cpu", "python"):
        assert max(samples) <= max(LIMITS[device].samples_per_tile, n * n)


decimals = st.decimals(-2, 2, allow_nan=False, allow_infinity=False, places=9).map(str)
# Narrower views may be drawn by perturbation, with coordinates from the orbit on.
widths = st.floats(1e-6, 9).map(lambda v: f"{v:.6g}")


@settings(max_examples=60)
@given(
    x=decimals,
    y=decimals,
    width=widths,
    size=st.tuples(st.integers(1, 40), st.integers(1, 40)),
    n=st.integers(1, 3),
)
def test_coordinates_are_rounded_once(x, y, width, size, n):
    planned = make_plan(scene(center=[x, y], width=width, size=size, supersampling=n))
    columns, rows = coordinates(planned)
    spacing = Fraction(width) / (size[0] * n)
    for i in range(size[0] * n):
        exact = Fraction(x) + (i + Fraction(1, 2) - Fraction(size[0] * n, 2)) * spacing
        assert columns[0, i] == float(exact)
    for j in range(size[1] * n):
        exact = Fraction(y) + (Fraction(size[1] * n, 2) - j - Fraction(1, 2)) * spacing
        assert rows[1, j] == float(exact)
    assert not columns[1].any()
    assert not rows[0].any()
    assert planned.pixel == Fraction(width) / size[0]


positive = st.integers(1, 2**200)


@given(
    half=st.tuples(positive, positive, st.integers(-300, 300)),
    middle=st.sampled_from(["0", "in the grid", "near a sample", "a tie", "far", "near"]),
    some=positive,
    count=st.sampled_from([1, 2, 7, 64]),
)
@example(half=(1, 10**60, -265), middle="0", some=35, count=64)  # they underflow
@settings(max_examples=200)
def test_positions_of_any_numbers_are_rounded_once(half, middle, some, count):
    """Where float64 holds them: 0, exact halves of its last place, and what two numbers leave."""
    above, below, power = half
    part = Fraction(some, 2**200)
    unit = Fraction(above, below) * Fraction(10) ** power
    if middle == "a tie":
        unit = Fraction(2 * above % 2**54 + 1) * Fraction(2) ** (power - 54)
    place = {
        "in the grid": -(count - 1) * unit,
        "near a sample": unit * (some % count) + unit * part / 10**20,
        "far": unit * some,
        "near": unit * part,
    }.get(middle, Fraction(0))
    exact = [place + (2 * k - count + 1) * unit for k in range(count)]
    assume(all(abs(number) < Fraction(10) ** 300 for number in exact))
    found = sampling._rounded(place, unit, count)
    assert found.tolist() == [float(number) for number in exact]
    assert not np.signbit(found[found == 0]).any()
    mirrored = sampling._rounded(place, -unit, count)
    assert not np.signbit(mirrored[mirrored == 0]).any()


@settings(max_examples=60)
@given(x=decimals, y=decimals, width=widths, rotation=st.floats(-360, 360))
def test_rotation_is_counter_clockwise(x, y, width, rotation):
    size = 7, 5
    planned = make_plan(scene(center=[x, y], width=width, size=size, rotation=rotation))
    columns, rows = coordinates(planned)
    for i, j in [(0, 0), (6, 0), (3, 2), (1, 4)]:
        point = naive.position(i, j, size, (x, y), width, rotation)
        drawn = columns[:, i] + rows[:, j]
        assert drawn == pytest.approx([float(point.real), float(point.imag)], abs=1e-14)


@given(
    width=widths,
    size=st.tuples(st.integers(1, 50), st.integers(1, 50)),
    rotation=st.sampled_from([0, 17.5, -90, 180]),
)
@settings(max_examples=40)
def test_coordinates_about_zero_are_mirrored_to_the_bit(width, size, rotation):
    planned = make_plan(scene(center=["0", "0"], width=width, size=size, rotation=rotation))
    for offsets in coordinates(planned):
        assert (offsets == -offsets[:, ::-1]).all()


@pytest.mark.parametrize(("precision", "deepest"), [("float64", 2e-10), ("float32", 1e-4)])
def test_method_by_depth(precision, deepest):
    keys = {"center": ["-0.75", "0.1"], "size": (160, 90), "precision": precision}
    above = make_plan(scene(width=f"{100 * deepest}", **keys))
    assert (above.method, above.bits, above.exponent) == ("direct", 0, 0)
    below = scene(width=f"{deepest / 100}", **keys)
    if precision == "float32":
        with pytest.raises(OptionError, match=r"too deep for float32, .* precision='float64'"):
            make_plan(below)
        return
    planned = make_plan(below)
    assert (planned.method, planned.precision, planned.exponent) == ("perturbation", precision, 0)
    assert planned.bits >= 64 + 45


@pytest.mark.parametrize("c", [["0.25", "0"], ["-0.1", "0.2"], ["-0.39054", "-0.58679"]])
def test_the_inside_of_a_julia_set_is_iterated_directly(c):
    """However near its orbits come to each other: nothing of that is seen."""
    inside = make_plan(scene(julia=c, center=["0.1", "0.1"], width="1e-6", size=(160, 90)))
    assert inside.method == "direct"


def test_an_orbit_whose_real_part_vanishes_is_followed():
    """It comes to the cycle of 0 and i: its real part falls to 1e-46354."""
    script = (
        "import fractals\n"
        "print(fractals.plan(formula={'name': 'multibrot', 'power': 7}, julia=('0', '1'),"
        "    center=('0.6256761811488574424248', '0.5998611500178579906027'), width='6.628454e-6',"
        "    size=(64, 36), supersampling=1, max_iterations=903, device='cpu').method)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout) == (0, "direct\n")


def orbits_followed(monkeypatch):
    """Return a list to which each orbit of a Julia set is added that is followed from now on."""
    followed, follow = [], precision._follow
    monkeypatch.setattr(precision, "_follow", lambda *args: followed.append(args) or follow(*args))
    precision._julia_bits.cache_clear()
    precision._log2_sizes.cache_clear()
    return followed


def test_steps_of_a_zoom_into_a_julia_set_share_the_orbits_that_tell_their_bits(monkeypatch):
    """Following them takes 27 ms a view."""
    followed = orbits_followed(monkeypatch)
    heirloom = fractals.load_scene("heirloom")
    bits = [make_plan(heirloom.replace(width=f"{5 * 0.97**k}e-41")).bits for k in range(22)]
    assert len(followed) == 16  # eight points of two views: the widths pass a power of two
    assert bits == sorted(bits)


def test_pictures_of_other_sizes_share_the_orbits_that_tell_their_bits(monkeypatch):
    """A small picture fits a new coloring; its orbits are also those of the picture itself."""
    followed = orbits_followed(monkeypatch)
    heirloom = fractals.load_scene("heirloom")
    small, large = (make_plan(heirloom.replace(size=size)) for size in ((96, 54), (640, 360)))
    assert len(followed) == 8
    assert small.bits < large.bits  # each size has bits of its own
    alone = orbits_followed(monkeypatch)
    assert make_plan(heirloom.replace(size=(640, 360))).bits == large.bits
    assert len(alone) == 8


@pytest.mark.parametrize(
    "c", [("-1.75487766624604635", "0"), ("0.2499999999", "0"), ("0.3", "0.5")]
)
def test_orbits_are_not_followed_where_samples_are_far_apart(monkeypatch, c):
    """They need few bits: a preview of a Julia set is planned without them."""
    followed = orbits_followed(monkeypatch)
    whole = scene(julia=c, size=(256, 256))
    assert make_plan(whole).method == "direct"
    assert not followed
    monkeypatch.setattr(precision, "MIN_JULIA_BITS", 0)
    width, center = Fraction("4.2"), (Fraction(0), Fraction(0))
    drawn = precision.SampledView(whole.make_formula(), c, center, width, -5.9)
    bits = precision.needed_orbit_bits(drawn)
    assert len(followed) == 8
    assert 0 < bits.counts == bits.stable < 13


@pytest.mark.parametrize("width", ["3e-5", "3e-6", "3e-7", "3e-8", "1e-8", "1e-9"])
def test_the_method_depends_on_the_scene_alone(width):
    """Direct iteration and perturbation differ in chaotic counts, and all devices have equal bits.

    At 1e-8 the orbits that are looked at are less steep than at 3e-8.
    """
    center = "-0.743643887037151", "0.131825904205330"
    drawn = scene(center=center, width=width, size=(1024, 1024), max_iterations=5000)
    found = {
        (planned.method, planned.precision, planned.exponent, planned.bits)
        for planned in (make_plan(drawn, kind, threads=t) for kind in LIMITS for t in (1, 16))
    }
    assert len(found) == 1
    assert found.pop()[0] == ("direct" if width in ("3e-5", "3e-6", "1e-8") else "perturbation")


def test_roundings_along_an_orbit_are_added_up():
    """log2 of the sum of |z| over the neighbors' distance, which the derivative multiplies."""
    sizes, distance, total = [-0.25, -1.5, 0.5, -20.0, 0.0, -0.125, 1.0, 3.0], Fraction(1, 2**30), 0
    for size in sizes:
        total += Fraction(2.0**size) / distance
        distance *= 2 * Fraction(2.0**size)
    formula = fractals.load_scene().make_formula()
    last = distance / (2 * Fraction(2.0 ** sizes[-1]))
    found = precision._orbit_bits(formula, iter(sizes), -30.0)
    assert found == pytest.approx(math.log2(total) + math.log2(last), abs=1e-12)
    assert precision._orbit_bits(formula, iter([*sizes[:3], None]), -30.0) == 0


def test_an_interrupted_orbit_is_followed_anew(monkeypatch):
    heirloom = fractals.load_scene("heirloom", size=(640, 360))
    orbits_followed(monkeypatch)
    expected = make_plan(heirloom).bits
    orbits_followed(monkeypatch)
    follow = precision._follow

    def interrupted(*args):
        yield from itertools.islice(follow(*args), 100)
        raise KeyboardInterrupt

    monkeypatch.setattr(precision, "_follow", interrupted)
    with pytest.raises(KeyboardInterrupt):
        make_plan(heirloom)
    followed = []
    monkeypatch.setattr(precision, "_follow", lambda *args: followed.append(args) or follow(*args))
    assert make_plan(heirloom).bits == expected
    assert len(followed) == 8


def test_exponent_where_float64_has_none():
    for width, extended in (("1e-260", False), ("1e-280", True), ("1e-5000", True)):
        planned = make_plan(scene(center=["-0.75", "0.1"], width=width))
        assert planned.extended == extended
        columns, rows = coordinates(planned)
        assert (np.diff(columns[0]) > 0).all()
        assert (np.diff(rows[1]) < 0).all()
        mantissa = planned.width / Fraction(2) ** planned.exponent
        assert columns[0, -1] == pytest.approx(float(mantissa) * 15 / 32, rel=1e-12)


def test_digits_that_the_center_lacks():
    for center, lacking in ((["-0.75", "0.1"], 38), (["-0.75", "0." + "1" * 41], 0)):
        drawn = scene(center=center, width="1e-39", size=(10, 10))
        assert plan.missing_digits(make_plan(drawn)) == lacking


def test_neighbours_differ_at_the_deepest_view():
    """What is not refused has no two samples at one place."""
    for center in (["-0.75", "0.1"], ["0", "1e-9"], ["-1.9999", "0"], ["1e-20", "1e-20"]):
        width = 1.0
        while True:
            drawn = scene(center=center, width=repr(width), size=(64, 64))
            planned = make_plan(drawn)
            if planned.deep:
                break
            columns, rows = coordinates(planned)
            assert (np.diff(columns[0]) > 0).all()
            assert (np.diff(rows[1]) < 0).all()
            width /= 2
        assert width < 1e-9


@pytest.mark.parametrize(
    "view",
    [
        {"width": "1", "center": ["1e400", "0"]},
        {"width": "1e300000", "center": ["1", "1"]},
        {"width": "1", "center": ["1e40", "0"]},
    ],
)
def test_views_out_of_every_range_are_refused(view):
    with pytest.raises(OptionError):
        make_plan(scene(**view))


@given(st.lists(st.floats(0, 11), min_size=2, max_size=6))
@settings(max_examples=12)
def test_auto_limit_grows_with_zoom(powers):
    limits = [
        make_plan(
            scene(max_iterations="auto", center=["0.3", "0.4"], zoom=repr(10**power))
        ).max_iterations
        for power in sorted(powers)
    ]
    assert limits == sorted(limits)
    assert limits[0] >= 1000
    assert limits[-1] <= MAX_ITERATIONS


def test_auto_limit_of_the_home_view():
    assert make_plan(scene(max_iterations="auto")).max_iterations == 1000
    assert make_plan(scene(max_iterations="auto", zoom="1e6")).max_iterations == pytest.approx(
        10_000, rel=0.01
    )


@pytest.mark.parametrize("julia", [False, True])
def test_width_is_the_home_width_over_zoom(julia):
    home = make_plan(scene(julia=julia))
    assert make_plan(scene(julia=julia, zoom="8")).width == home.width / 8
    assert make_plan(scene(width="3.5")).width == Fraction(7, 2)


@pytest.mark.parametrize(
    ("formula", "precision", "others"),
    [
        ({"name": "multibrot", "power": 8}, "float32", True),
        ("z^64 + c", "float64", False),  # it was told to give at most 1, or float64
        ("z^64 + c", "double-double", False),
    ],
)
def test_escape_radius_must_fit_the_number_type(formula, precision, others):
    with pytest.raises(OptionError, match="at most") as caught:
        make_plan(scene(formula, escape_radius=1e9, precision=precision))
    most = float(str(caught.value).split("at most ")[1].split(",")[0])
    make_plan(scene(formula, escape_radius=most, precision=precision))
    assert most >= 200
    assert ("precision='float64'" in str(caught.value)) == others


def test_a_number_type_without_room_for_any_radius_is_not_offered_one():
    with pytest.raises(OptionError, match=r"here: give precision='float64'$"):
        make_plan(scene("z^64 + c", escape_radius=2, precision="float32"))
    make_plan(scene({"name": "multibrot", "power": 8}, escape_radius=1e9))


def test_blocks_only_where_no_orbit_comes_back():
    assert not make_plan(scene(escape_radius=2)).check_every_step
    assert not make_plan(scene(julia=["3", "4"], escape_radius=5)).check_every_step
    assert make_plan(scene(julia=["3", "4.1"], escape_radius=5)).check_every_step
    returning = dataclasses.replace(fractals.Scene().make_formula(), can_return=True)
    assert make_plan(fractals.Scene(formula=returning)).check_every_step


def test_strips_where_samples_stand_alone_and_strips_are_not_flat():
    def strips(device="cpu", **keys):
        plan = make_plan(scene(**{"size": (1920, 1080)} | keys), device)
        return all(tile.width == plan.size[0] for tile in plan.tiles)

    assert strips()
    assert strips(supersampling=2)
    assert strips("cuda", size=(30000, 1000))
    assert not strips(size=(30000, 1000))
    assert not strips(supersampling=2, antialias="jittered")
    assert not strips(center=("-1.25" + 33 * "0", "0"), width="1e-30")


def test_strips_fill_a_gpu_whatever_the_limit():
    planned = make_plan(scene(size=(2048, 1024), max_iterations=2 * 10**9), "cuda")
    assert [tile.width * tile.height for tile in planned.tiles] == [2**18] * 8


def test_unknown_device_is_said():
    with pytest.raises(OptionError, match="gpu"):
        make_plan(scene(), "gpu")


def test_a_plan_can_be_read():
    table = make_plan(scene()).to_table()
    assert table["method"] == "direct"
    assert table["precision"] == "float64"
    assert table["size"] == [16, 9]
    assert table["max_iterations"] == 60
    assert table["seconds"] > 0
    assert table["memory"] > 0
    more = make_plan(scene(size=(1600, 900))).to_table()
    assert more["seconds"] > table["seconds"]
    assert more["memory"] > table["memory"]
    assert 0 < math.log10(more["memory"] / table["memory"]) < 5


def test_a_streamed_plan_is_bounded_whatever_the_size():
    for size in [(60_000, 60_000), (200_000, 200_000)]:
        for device, threads, bits in [("cpu", 16, 16), ("cuda", 1, 8)]:
            drawn = scene(size=size, bits=bits)
            whole = make_plan(drawn, device, threads=threads)
            streamed = make_plan(drawn, device, threads=threads, keeps="bands")
            assert whole.band == size[1]
            assert whole.memory > 2 * 3 * size[0] * size[1] * bits // 8
            assert streamed.memory < 2**31
            assert streamed.band % strip_rows(size, bits) == 0
            assert streamed.band >= max(tile.height for tile in streamed.tiles)


@pytest.mark.parametrize("rotation", [0, 30, -45.5, 90, 180])
def test_places_are_rounded_once(rotation):
    """Exactly as the fractions that they are."""
    drawn = scene(size=(7, 5), center=("-0.1234567890123456789", "0.7"), rotation=rotation)
    plan = make_plan(drawn)
    columns, rows = coordinates(plan)
    with mpmath.workdps(40):
        half_turns = mpmath.mpf(rotation) / 180
        cos, sin = (Fraction(float(part(half_turns))) for part in (mpmath.cospi, mpmath.sinpi))
    x, y = plan.center if sin else (plan.center[0], Fraction(0))
    for i in range(7):
        d = (2 * i - 6) * plan.pixel / 2
        assert list(columns[:, i]) == [float(x + cos * d), float(y + sin * d)]
    for j in range(5):
        d = (4 - 2 * j) * plan.pixel / 2
        above = Fraction(0) if sin else plan.center[1]
        assert list(rows[:, j]) == [float(-sin * d), float(above + cos * d)]


def test_a_plan_of_the_largest_picture_is_quick():
    """200000 x 200000 pixels at a huge limit: refused or planned, but not one tile at a time."""
    script = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30,) * 2)\n"
        "import fractals\n"
        "keys = {'size': (200_000, 200_000), 'supersampling': 16, 'max_iterations': 10**9}\n"
        "drawn = fractals.Scene().replace(**keys)\n"
        "try:\n    fractals.plan(drawn)\n"
        "except fractals.OptionError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr[-500:]


def test_planning_loads_no_numba():
    script = (
        "import sys, fractals\n"
        "fractals.plan(fractals.Scene())\n"
        "sys.exit(any(name.split('.')[0] == 'numba' for name in sys.modules))\n"
    )
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0


def test_a_refusal_makes_no_number_of_a_million_digits():
    with deadline(8), pytest.raises(OptionError, match="no perturbed step"):
        fractals.plan(formula="collatz", center=("0.5", "0"), width="1e-999999", device="cpu")
