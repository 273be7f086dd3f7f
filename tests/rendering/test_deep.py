"""Deep zoom: the perturbed orbit is the orbit, whatever skips along it, and on every device."""

import itertools
import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from unittest import mock

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from oracle import naive
from support.deadline import deadline
from support.deep import RADIUS, SIZE, antenna_nucleus, deep_scene, nothing_skipped, on_a_minibrot
from support.drawings import BoundedSimulator, compute_on
from support.scenes import KIN, SOME_FORMULAS, label, name_and_power, scene, slow_but

import fractals
from fractals.backends.devices import choose, open_backend
from fractals.deep import orbit_cache
from fractals.deep.reference import OrbitRequest, compute_orbit
from fractals.errors import OptionError
from fractals.kernels.formula import Formula
from fractals.rendering import perturb, plan
from fractals.rendering.drawing import open_drawing
from fractals.rendering.tiles import Tile
from fractals.scene.model import MAX_ITERATIONS


@pytest.mark.parametrize(
    ("formula", "is_julia"),
    slow_but(
        [("mandelbrot", False), ("mandelbrot", True), ("burning_ship", False)],
        itertools.product([*SOME_FORMULAS, *KIN], [False, True]),
    ),
    ids=lambda value: ["parameters", "julia"][value] if isinstance(value, bool) else label(value),
)
def test_counts_and_numbers_are_the_oracles(formula, is_julia):
    depth = 24
    drawn = deep_scene(formula, is_julia, depth)
    raw = fractals.compute(drawn, device="cpu")
    assert raw.method == "perturbation"
    name, power = name_and_power(formula)
    julia = naive.mpc(*drawn.julia) if drawn.julia else None
    dice = random.Random(5)
    checked = 0
    with mpmath.workdps(160):
        for _ in range(30):
            if checked == 4:
                break
            i, j = dice.randrange(SIZE[0]), dice.randrange(SIZE[1])
            point = naive.position(i, j, SIZE, drawn.view.center, drawn.view.width)
            by = mpf(10) ** -(depth + 6)
            if not naive.is_stable(name, point, julia, 1000, RADIUS, by, power):
                continue
            n, z = naive.sample(name, point, julia, 1000, RADIUS, power)
            assert raw.count[j, i] == n
            if n == 1000:
                continue
            checked += 1
            moved = abs(naive.after(name, point + by, julia, n, power) - z) / abs(z)
            assert abs(naive.mpc(complex(raw.z[j, i])) - z) < (1e-3 * moved + 1e-7) * abs(z)
            h = mpf(10) ** -(depth + 50)
            parts = []
            for axis in (naive.mpc(h, 0), naive.mpc(0, h)):
                ahead, behind = (
                    abs(naive.after(name, point + k * axis, julia, n, power)) for k in (1, -1)
                )
                parts.append((ahead - behind) / (2 * h) * mpf(drawn.view.width))
            # The gradient of |z| is z times the conjugate of dz, over |z|.
            slope = z * naive.mpc(complex(raw.dz[j, i])).conjugate() / abs(z)
            error = abs(slope - naive.mpc(*parts)) / abs(slope)
            assert error < 1e-2 * moved + 1e-6
    assert checked == 4


BOTH_VALID = [
    {"center": ["-0.743643887", "0.131825904"], "width": "1e-3"},
    {"center": ["0.1", "0.05"], "width": "0.3", "julia": ["-0.8", "0.156"]},
    {"center": ["-1.7549", "-0.0282"], "width": "0.05", "formula": "burning_ship"},
    {"center": ["-1.2397", "0.031"], "width": "0.02", "formula": "simonobrot"},
]


@pytest.mark.parametrize(
    "view", slow_but(BOTH_VALID[:1], BOTH_VALID), ids=["mandelbrot", "julia", "ship", "simonobrot"]
)
def test_methods_agree_where_both_are_valid(view):
    drawn = scene(**view, size=(60, 40), max_iterations=100)
    direct = fractals.compute(drawn, device="cpu", on_message=str)
    with mock.patch.dict(plan.BITS, float64=2):
        perturbed = fractals.compute(drawn, device="cpu", on_message=str)
    with mock.patch.dict(plan.BITS, float64=2), mock.patch.object(plan, "EXTENDED", 0):
        extended = fractals.compute(drawn, device="cpu", on_message=str)
    assert (direct.method, perturbed.method) == ("direct", "perturbation")
    around = [np.roll(direct.count, (j, i), (0, 1)) for j in (-1, 0, 1) for i in (-1, 0, 1)]
    calm = (np.ptp(around, axis=0) == 0)[1:-1, 1:-1]  # where rounding can't move a count
    for other in (perturbed, extended):
        assert np.array_equal(direct.count[1:-1, 1:-1][calm], other.count[1:-1, 1:-1][calm])
        assert np.mean(direct.count != other.count) < 0.05
    assert calm.mean() > 0.05
    assert len(np.unique(direct.count)) > 10


@pytest.mark.parametrize("period", [150, 400], ids=["float64", "extended"])
def test_skipping_changes_nothing_on_a_minibrot(period):
    drawn = on_a_minibrot(period)
    assert fractals.plan(drawn).extended == (period == 400)
    skipped = fractals.compute(drawn, device="cpu")
    with nothing_skipped():
        plain = fractals.compute(drawn, device="cpu", cache=False)
    assert len(np.unique(plain.count)) > 4
    assert (plain.count == plain.max_iterations).mean() > 0.05
    assert np.array_equal(skipped.count, plain.count)
    escaped = plain.count < plain.max_iterations
    assert np.abs(skipped.z[escaped] / plain.z[escaped] - 1).max() < 1e-4
    assert np.abs(skipped.dz[escaped] / plain.dz[escaped] - 1).max() < 1e-4


# On the real axis all are z² + c.
@pytest.mark.parametrize(
    "formula", slow_but(["burning_ship"], ["burning_ship", "celtic", "tricorn"])
)
def test_skipping_changes_nothing_where_a_kink_needs_an_exponent(formula):
    drawn = on_a_minibrot(260, formula=formula)
    assert fractals.plan(drawn).extended
    skipped = fractals.compute(drawn, device="cpu")
    with nothing_skipped():
        plain = fractals.compute(drawn, device="cpu", cache=False)
    assert len(np.unique(plain.count)) > 4
    assert np.array_equal(skipped.count, plain.count)
    escaped = plain.count < plain.max_iterations
    for part in ("z", "dz"):  # but for samples near a kink, which are not stable
        moved = np.abs(getattr(skipped, part)[escaped] / getattr(plain, part)[escaped] - 1)
        assert np.quantile(moved, 0.9) < 1e-6


def test_counts_on_a_minibrot_are_the_oracles():
    period = 400
    drawn = on_a_minibrot(period)
    raw = fractals.compute(drawn, device="cpu")
    dice = random.Random(2)
    seen = set()
    with mpmath.workdps(1100):
        for _ in range(8):
            i, j = dice.randrange(16), dice.randrange(12)
            point = naive.position(i, j, (16, 12), drawn.view.center, drawn.view.width)
            assert raw.count[j, i] == naive.sample("mandelbrot", point, None, 8000, RADIUS)[0]
            seen.add(int(raw.count[j, i]))
    assert len(seen) >= 3


PREIMAGE = "0.70710678118654752440084436210485"  # of 0, in the Julia set of i: (x - ix)² = -i


@pytest.mark.parametrize(("width", "method"), [("1e-4", "direct"), ("1e-8", "perturbation")])
def test_julia_set_where_a_step_takes_neighbors_together(width, method):
    keys = {"julia": ["0", "1"], "center": [PREIMAGE, f"-{PREIMAGE}"], "max_iterations": 400}
    drawn = scene(**keys, width=width, size=(32, 24))
    planned, radius = fractals.plan(drawn), drawn.iteration.escape_radius
    assert planned.method == method
    assert ("after some steps" in planned.reason) == (method == "perturbation")
    raw = fractals.compute(drawn, device="cpu")
    with mpmath.workdps(60):
        for i, j in ((3, 3), (9, 17), (25, 5), (30, 20), (16, 12)):
            point = naive.position(i, j, (32, 24), drawn.view.center, width)
            assert raw.count[j, i] == naive.sample("mandelbrot", point, 1j, 400, radius)[0]
    assert len(np.unique(raw.count)) > 3


@pytest.mark.parametrize(
    "where",
    slow_but(["float64"], ["float64", "extended", "kinks", "julia", "matrices"]),
)
def test_devices_agree_to_the_bit(where, device):
    if where in ("float64", "extended", "kinks"):
        formula = "burning_ship" if where == "kinks" else "mandelbrot"
        drawn = on_a_minibrot(20 if where == "float64" else 260, size=(4, 3), formula=formula)
    else:
        formula = "mandelbrot" if where == "julia" else "burning_ship"
        drawn = deep_scene(formula, where == "julia", 24, size=(6, 4))
    cpu = fractals.compute(drawn, device="cpu")
    other = fractals.compute(drawn, device=device)
    assert cpu.method == "perturbation"
    for part in ("count", "z", "dz"):
        assert getattr(cpu, part).tobytes() == getattr(other, part).tobytes()


def test_samples_beside_the_real_axis_leave_it(device):
    """Their imaginary part, 2**-694 of the real one, decides when they escape."""
    size = 3, 1
    drawn = on_a_minibrot(260, size=size)
    raw = fractals.compute(drawn, device=device)
    with mpmath.workdps(1300):
        point = naive.position(2, 0, size, drawn.view.center, drawn.view.width)
        n, _ = naive.sample("mandelbrot", point, None, 5200, RADIUS)
    assert raw.count.tolist() == [[5200, 5200, n]]
    assert n < 5200


def test_launches_that_are_bounded_go_on_where_they_stopped():
    drawn = on_a_minibrot(260)
    with nothing_skipped():
        whole = fractals.compute(drawn, device="cpu")
        simulator = BoundedSimulator(drawn, 1)  # each launch takes 256 steps, the fewest
        parts = compute_on(simulator, drawn)
    assert len(simulator.launches) > 10
    for part in ("count", "z", "dz"):
        assert getattr(whole, part).tobytes() == getattr(parts, part).tobytes()


@pytest.mark.parametrize("device", ["cpu", "simulator"])
def test_limit_auto_lets_all_escape_that_can(device):
    drawn = deep_scene("mandelbrot", False, 24, max_iterations="auto", size=(40, 30))
    raw = fractals.compute(drawn, device=device)
    higher = fractals.compute(drawn.replace(max_iterations=16 * raw.max_iterations), device="cpu")
    assert 1024 <= raw.max_iterations < MAX_ITERATIONS
    assert (
        np.mean((raw.count == raw.max_iterations) != (higher.count == higher.max_iterations)) < 0.01
    )
    assert fractals.recolor(raw, device="cpu").pixels.tobytes() == (
        fractals.render(drawn, device=device).pixels.tobytes()
    )


def test_limit_auto_in_a_minibrot_is_bounded():
    raw = fractals.compute(on_a_minibrot(40, max_iterations="auto"), device="cpu")
    assert 0.05 < (raw.count == raw.max_iterations).mean() < 0.9
    assert raw.max_iterations < 10**6


# The reference orbit


def exact_reference(period, **keys):
    c = Fraction(antenna_nucleus(period, 3 * period)), Fraction(0)
    formula = fractals.Scene().make_formula()
    zero = Fraction(0), Fraction(0)
    keys = {"bits": 12 * period, "max_iterations": 10**4, **keys}
    return compute_orbit(OrbitRequest(formula, zero, c, escape_radius=RADIUS, **keys))


def test_orbit_ends_at_the_period():
    found = exact_reference(30, view_radius=Fraction(1, 10**40))
    assert (found.period, found.escaped, found.complete) == (30, False, True)
    assert found.orbit.shape == (31, 2)
    assert abs(found.orbit[30]).max() < 1e-30
    whole = exact_reference(30, max_iterations=100).until(100)
    assert (whole.period, len(whole.orbit)) == (0, 101)
    assert np.array_equal(found.orbit[:30], whole.orbit[:30])


@pytest.mark.parametrize("c", [("-1.76", "0.003"), ("-2", "0"), ("-0.123", "0.745")])
def test_an_orbit_that_repeats_its_bits_is_not_computed_on(c):
    taken = []
    formula, zero = fractals.Scene().make_formula(), (Fraction(0), Fraction(0))
    point = tuple(map(Fraction, c))
    with mock.patch("fractals.deep.reference.STEPS_PER_CALL", 1):
        short = compute_orbit(OrbitRequest(formula, zero, point, 150, 10**6, RADIUS), taken.append)
    assert max(taken) < 5000
    assert short.repeats in (1, 3)
    whole = short.until(10**4)
    assert whole.orbit.shape == (10**4 + 1, 2)
    with mpmath.workprec(400):
        at, exact = mpmath.mpc(*c), mpmath.mpc(0)
        for n in range(1, 3001):
            exact = exact * exact + at
            assert abs(complex(*whole.orbit[n]) - complex(exact)) < 1e-15
    assert np.array_equal(whole.orbit[9000:9990], whole.orbit[9003:9993])


def test_tiny_points_repeat_as_well():
    found = exact_reference(1000, max_iterations=10**6, bits=16 * 1000)
    assert found.repeats == 1000
    whole = found.until(20_000)
    index = whole.tiny[:, 0]
    assert np.array_equal(np.unique(np.diff(index[index > 5000])), [1000])
    assert (abs(whole.orbit[index.astype(int)]).max(1) < 1e-290).all()


def test_a_view_inside_the_set_is_drawn_at_once():
    drawn = scene(center=["-1.76", "0.003"], width="1e-30", size=(6, 4), max_iterations="auto")
    raw = fractals.compute(drawn, device="cpu", cache=False, on_message=str)
    assert raw.method == "perturbation"
    assert (raw.count == raw.max_iterations).all()
    assert raw.max_iterations < 10**5


def test_points_that_float64_cannot_hold_are_kept_apart():
    found = exact_reference(1000, max_iterations=1500, bits=16 * 1000)
    (index, x, y, e), *_ = found.tiny
    assert index == 1000
    assert 0.5 <= max(abs(x), abs(y)) <= 2
    with mpmath.workdps(5000):
        c, z = mpf(antenna_nucleus(1000, 3000)), mpf(0)
        for _ in range(1000):
            z = z * z + c
        assert abs(mpf(x) * mpf(2) ** int(e) / z - 1) < 1e-10


def test_orbit_that_escapes_ends_there():
    formula = fractals.Scene().make_formula()
    zero = Fraction(0), Fraction(0)
    found = compute_orbit(OrbitRequest(formula, zero, (Fraction(1), Fraction(0)), 100, 50, 4))
    assert found.orbit[:, 0].tolist() == [0, 1, 2, 5]
    assert found.escaped


class Counted:
    """Counts how often an orbit is computed."""

    def __init__(self, monkeypatch, folder):
        self.times = 0
        monkeypatch.setenv("FRACTALS_CACHE_DIR", str(folder))
        monkeypatch.setattr(orbit_cache, "MIN_WORK", 0)
        monkeypatch.setattr(orbit_cache, "MAX_RECENT", 0)  # only the disk
        orbit_cache.recent.clear()

        def compute(*arguments, **options):
            self.times += 1
            return compute_orbit(*arguments, **options)

        monkeypatch.setattr(orbit_cache, "compute_orbit", compute)


def test_orbits_are_kept_and_used_again(monkeypatch, tmp_path):
    counted = Counted(monkeypatch, tmp_path)
    drawn = on_a_minibrot(40)
    first = fractals.compute(drawn, device="cpu")
    (file,) = (tmp_path / "orbits").iterdir()
    for same in (
        drawn,
        drawn.replace(size=(8, 6)),
        drawn.replace(palette="ember"),
        drawn.replace(width=str(4 * float(drawn.view.width))),
    ):
        fractals.compute(same, device="cpu")
        assert counted.times == 1
    deeper, deepest = (
        drawn.replace(width=str(scale * float(drawn.view.width))) for scale in (1e-12, 1e-24)
    )
    fractals.compute(deeper, device="cpu")
    assert counted.times == 1  # it has bits to spare
    fractals.compute(deepest, device="cpu")
    assert counted.times == 2
    fractals.compute(drawn.replace(center=["-1.75", "0"]), device="cpu", on_message=str)
    assert counted.times == 3
    again = fractals.compute(drawn, device="cpu")
    assert again.z.tobytes() == first.z.tobytes()
    assert file.exists()


def test_a_zoom_keeps_its_orbit_in_memory(monkeypatch, tmp_path):
    counted = Counted(monkeypatch, tmp_path)
    monkeypatch.setattr(orbit_cache, "MIN_WORK", 2**62)
    monkeypatch.setattr(orbit_cache, "MAX_RECENT", 2)
    drawn = on_a_minibrot(40)
    for k in range(5):
        zoomed = drawn.replace(width=str(0.97**k * float(drawn.view.width)))
        kept = fractals.compute(zoomed, device="cpu")
        assert counted.times == 1
    alone = fractals.compute(zoomed, device="cpu", cache=False)
    assert np.array_equal(kept.count, alone.count)
    for k in range(3):
        fractals.compute(on_a_minibrot(41 + k), device="cpu")
    assert len(orbit_cache.recent) == 4  # they are small
    monkeypatch.setattr(orbit_cache, "MAX_SMALL", 0)
    fractals.compute(on_a_minibrot(44), device="cpu")
    assert len(orbit_cache.recent) == 2


def test_an_orbit_serves_views_down_to_its_least_radius():
    """Away from a nucleus, narrower views end their orbit at another period."""
    formula = fractals.Scene().make_formula()
    zero = Fraction(0), Fraction(0)
    center = Fraction(-1758, 1000), Fraction(1, 10**4)

    def orbit_for(radius):
        return compute_orbit(OrbitRequest(formula, zero, center, 200, 500, 4, radius))

    def period(radius):
        return orbit_for(radius).period

    found = orbit_for(Fraction(1, 50))
    assert found.period == 3
    assert 0 < found.least_radius < Fraction(1, 50)
    assert period(found.least_radius * Fraction(1001, 1000)) == 3
    assert period(found.least_radius * Fraction(999, 1000)) != 3


@pytest.mark.parametrize("damage", [b"", b"no archive", None])
def test_damaged_orbit_is_computed_anew(damage, monkeypatch, tmp_path):
    counted = Counted(monkeypatch, tmp_path)
    drawn = on_a_minibrot(40)
    first = fractals.compute(drawn, device="cpu")
    (file,) = (tmp_path / "orbits").iterdir()
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 255
    file.write_bytes(content if damage is None else damage)
    second = fractals.compute(drawn, device="cpu")
    assert counted.times == 2
    assert first.z.tobytes() == second.z.tobytes()
    fractals.compute(drawn, device="cpu")
    assert counted.times == 2


def test_no_cache_leaves_the_disk_alone(monkeypatch, tmp_path):
    Counted(monkeypatch, tmp_path)
    fractals.compute(on_a_minibrot(40), device="cpu", cache=False)
    assert not (tmp_path / "orbits").exists()


def test_orbits_used_last_stay_within_the_bound(monkeypatch, tmp_path):
    counted = Counted(monkeypatch, tmp_path)
    monkeypatch.setattr(orbit_cache, "MAX_BYTES", 5000)
    for k in range(5):
        fractals.compute(on_a_minibrot(40 + k), device="cpu")
    kept = [file.stat().st_size for file in (tmp_path / "orbits").iterdir()]
    assert 1 <= len(kept) < 5
    assert sum(kept) <= 5000
    fractals.compute(on_a_minibrot(44), device="cpu")
    assert counted.times == 5


def test_files_of_orbits_are_looked_at_now_and_then(monkeypatch, tmp_path):
    """Else a pan, which writes a file at each move, looks at thousands each time."""
    Counted(monkeypatch, tmp_path)
    looked, glob = [], Path.glob

    def noted(folder, pattern):
        if (folder.name, pattern) == ("orbits", "*.npz"):
            looked.append(folder)
        return glob(folder, pattern)

    monkeypatch.setattr(Path, "glob", noted)
    for k in range(5):
        fractals.compute(on_a_minibrot(40 + k), device="cpu")
    assert len(looked) == 1
    monkeypatch.setattr(orbit_cache, "MAX_BYTES", 5000)
    fractals.compute(on_a_minibrot(45), device="cpu")
    assert len(looked) == 2
    assert sum(file.stat().st_size for file in (tmp_path / "orbits").iterdir()) <= 5000


# Bad input


def test_formula_without_a_perturbed_step_is_refused():
    own = Formula(
        name="own",
        title="own",
        step=lambda x, y, a, b: (x * x - y * y + a, 2 * x * y + b),
        derivative=lambda x, y, p, q: (2 * (x * p - y * q), 2 * (x * q + y * p)),
        degree=2,
    )
    drawn = scene(center=["-0.75", "0.1"], width="1e-40").replace(formula=own)
    with pytest.raises(OptionError, match=r"no perturbed step, .* width of .*e-\d+ .*test_deep"):
        fractals.plan(drawn)


def test_digits_that_are_missing_are_said():
    told = []
    drawn = scene(center=["-0.75", "0.1"], width="1e-30", size=(10, 10))
    raw = fractals.compute(drawn, device="cpu", on_message=told.append)
    assert told == ["the center has 29 decimals fewer than this width requires: zeros are added"]
    assert raw.method == "perturbation"


def test_what_takes_hours_must_be_forced():
    drawn = scene(width="1e-200000", size=(2, 2), max_iterations="auto")
    refused = pytest.raises(OptionError, match=r"takes about .* hours and .* GiB.*force=True")
    with refused, deadline():
        fractals.compute(drawn, device="cpu")


def test_orbit_that_does_not_fit_into_memory(monkeypatch):
    asked, compute = [], orbit_cache.compute_orbit

    def note(wanted, *others, **more):
        asked.append(wanted.max_iterations)
        return compute(wanted, *others, **more)

    monkeypatch.setattr(orbit_cache, "compute_orbit", note)
    monkeypatch.setattr(perturb, "memory_size", lambda: 10**6)
    drawn = scene(center=["-0.1", "0.1"], width="1e-30", max_iterations=10**6, size=(4, 4))
    with pytest.raises(OptionError, match=r"reference orbit .* memory"):
        fractals.compute(drawn, device="cpu", on_message=str)
    assert max(asked) <= 10**6 / 2 / plan.BYTES_A_POINT


def iterated(made):
    """Return the escape data of a plan's picture."""
    backend = open_backend(choose("cpu").device, made.precision, 1)
    drawing = open_drawing(replace(made, keeps="raw"), backend)
    raw = drawing.source.iterate(Tile(0, 0, *made.size))
    return tuple(np.array(part) for part in raw[:3])


def test_the_next_picture_of_an_orbit_makes_no_tables_and_reads_no_file(monkeypatch):
    drawn = deep_scene("mandelbrot", False, 24)
    first = fractals.compute(drawn, device="cpu")
    (before,) = perturb.last_tables
    loaded = mock.Mock(side_effect=FileNotFoundError)
    monkeypatch.setattr(orbit_cache, "open_own", loaded)
    again = fractals.compute(drawn, device="cpu")
    assert loaded.call_count == 0
    assert perturb.last_tables == [before]
    assert perturb.last_tables[0] is before
    fractals.compute(drawn.replace(escape_radius=77), device="cpu")
    assert loaded.call_count == 1
    assert perturb.last_tables[0] is not before
    np.testing.assert_array_equal(first.count, again.count)
    np.testing.assert_array_equal(first.z, again.z)
