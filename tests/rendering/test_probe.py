"""The samples that are iterated before a picture: for its limit, and for its count offset."""

import numpy as np
import pytest
from support.deep import on_a_minibrot
from support.scenes import scene, slow_but
from support.truth3 import entries

import fractals
from fractals.backends.devices import choose, open_backend
from fractals.kernels.layout import EscapeTile
from fractals.rendering.drawing import make_source
from fractals.rendering.probing import (
    LIMIT_SIZE,
    PROBE_SIZE,
    Begun,
    ViewProbe,
    shallow_limit,
    smooth_counts,
)
from fractals.rendering.render import find_max_iterations

AUTO = {"max_iterations": "auto"}
VIEWS = {
    "direct": scene(center=["-0.743643887037151", "0.131825904205330"], width="1e-9", **AUTO),
    "some are inside": on_a_minibrot(24, **AUTO),
    "deep": scene(center=["-1.7685736562992577", "-0.0009642968513582"], width="1e-13", **AUTO),
}


@pytest.mark.parametrize("view", VIEWS)
def test_the_offset_is_that_of_samples_iterated_up_to_the_limit(view):
    """The probe of the limit is used again, and the others are iterated in threads."""
    found = {}
    for threads in (1, 3):
        plan = fractals.plan(VIEWS[view], device="cpu")
        backend = open_backend(choose("cpu").device, plan.precision, threads)
        source = make_source(backend, plan)
        found[threads] = source.max_iterations, source.count_offset
        assert source._probe().count_offset(source.max_iterations) == source.count_offset
    assert found[1] == found[3]
    assert found[1][1] > 0


@pytest.mark.parametrize(("slowest", "probes"), [(15_000, 6), (20_000, 7)])
def test_samples_are_iterated_again_only_if_the_limit_may_change_them(slowest, probes):
    """A sample that needs 20000 iterations has not escaped when the limit is settled."""
    backend = open_backend(choose("cpu").device, "float64", 1)
    escapes = np.linspace(1000, 2000, PROBE_SIZE[0] * PROBE_SIZE[1]).astype(np.int32)
    escapes[:2] = 15_000, slowest
    limits = []

    def begin(shape, grid, limit):
        limits.append(limit)
        count, z = np.minimum(escapes, limit).reshape(shape), np.full(shape, 2000.0)
        return Begun(EscapeTile(count, z, z, z, z, z))

    probe = ViewProbe(backend, fractals.plan(VIEWS["direct"], device="cpu"), begin)
    assert probe.settled_limit(4096) == 60_000
    assert limits == [4096, 16_384]
    assert probe.count_offset(60_000) > 0
    assert limits[2:] == probes * [60_000]


def probe_of(escapes, limits):
    """Return a probe whose samples escape at these counts; it appends the limits it is asked."""

    def begin(shape, grid, limit):
        limits.append(limit)
        z = np.full(shape, 2000.0)
        count = np.minimum(escapes, limit).reshape(shape)
        return Begun(EscapeTile(count, z, z, z, z, z))

    backend = open_backend(choose("cpu").device, "float64", 1)
    return ViewProbe(backend, fractals.plan(VIEWS["deep"], device="cpu"), begin)


@pytest.mark.parametrize(("late", "limits"), [(2, [4096, 16_384]), (3, [4096, 16_384, 65_536])])
def test_a_deep_limit_is_raised_while_a_256th_of_the_samples_escapes(late, limits):
    """Three of 576 samples are more than a 256th, two are less."""
    escapes = np.full(PROBE_SIZE[0] * PROBE_SIZE[1], 2000, np.int32)
    escapes[:late], escapes[-1] = 10_000, 2_000_000_000
    asked = []
    assert probe_of(escapes, asked).settled_limit(4096) == 40_000
    assert asked == limits


def test_a_deep_limit_is_raised_in_patience_while_nothing_escapes():
    escapes = np.full(PROBE_SIZE[0] * PROBE_SIZE[1], 200_000, np.int32)
    escapes[-1] = 2_000_000_000
    assert probe_of(escapes, []).settled_limit(4096) == 16_384
    assert probe_of(escapes, []).settled_limit(4096, patience=10**6) == 800_000


SAMPLES = LIMIT_SIZE[0] * LIMIT_SIZE[1]


@pytest.mark.parametrize(
    ("late", "limit", "found"),
    [
        ([], 1000, 1000),  # nothing escapes late
        ([900] * 6, 1000, 1000),  # less than half a percent does
        ([900] * 7, 1000, None),  # they may go on escaping: 4000 is tried
        ([900] * 7, 4000, 1000),  # and they do not
        ([900] * 5 + [3000] * 2, 4000, 1000),  # a 500th may be inside
        ([900] * 4 + [3000] * 3, 4000, 3600),
        ([3000] * 7, 4000, None),
        ([3000] * 7, 16_000, 12_000),
        ([900_000_000] * 7, 2_000_000_000, 2_000_000_000),
    ],
)
def test_the_limit_of_a_view_that_is_not_deep(late, limit, found):
    counts = np.full(SAMPLES, 100, np.int32)
    counts[: len(late)] = late
    assert shallow_limit(np.minimum(counts, limit), limit, 1000) == found


ATTACKED = {entry["name"]: entry for entry in entries("auto")}


@pytest.mark.parametrize("name", slow_but(sorted(ATTACKED)[:3], sorted(ATTACKED)))
def test_half_a_percent_of_a_view_on_the_border_is_wrongly_inside_at_most(name):
    """These had up to 12 percent. A limit 10 times as high tells."""
    drawn = ATTACKED[name]["scene"]
    raw = fractals.compute(drawn, device="cpu")
    limit = raw.max_iterations
    assert limit > ATTACKED[name]["limit found"]
    higher = fractals.compute(drawn, max_iterations=10 * limit, device="cpu").count
    assert ((raw.count == limit) & (higher < 10 * limit)).mean() <= 0.005
    escaping = ATTACKED[name]["escape"]
    assert all(max(raw.count[row, column], count) < limit for column, row, count in escaping)


@pytest.mark.parametrize("formula", slow_but(["mandelbrot"], ["mandelbrot", "newton", "spider"]))
def test_the_limit_of_a_whole_set_is_that_by_the_zoom(formula):
    drawn = scene(formula, coloring="count", **AUTO)  # for orbits that escape or converge
    planned = fractals.plan(drawn, device="cpu").max_iterations
    assert planned == find_max_iterations(drawn, device="cpu") <= 1100


BORDER = {"center": ["-1.2501", "0.003"], "width": "1e-4", **AUTO}


@pytest.mark.parametrize(
    "keys",
    [
        {"size": (5, 4)},
        {"supersampling": 4},
        {"device": "python"},
        *(
            pytest.param(keys, marks=pytest.mark.slow)  # they compile more
            for keys in (
                {"antialias": "jittered"},
                {"interior_shortcuts": False},
                {"coloring": "stripe_average"},
                {"device": "simulator"},
            )
        ),
    ],
    ids=str,
)
def test_the_limit_depends_on_the_view_alone(keys):
    usual = find_max_iterations(scene(**BORDER), device="cpu")
    assert usual > 4 * fractals.plan(scene(**BORDER), device="cpu").max_iterations
    assert find_max_iterations(scene(**BORDER), **{"device": "cpu", **keys}) == usual


@pytest.mark.parametrize(("width", "sides"), [("1e-8", (160, 16_000)), ("1e-7", (16, 640))])
def test_the_limit_does_not_depend_on_the_method(width, sides):
    """Which method draws a view may depend on how close its samples are."""
    view = scene(center=["-0.743643887037151", "0.131825904205330"], width=width, **AUTO)
    plans = [fractals.plan(view, size=(side, 9), device="cpu") for side in sides]
    assert [plan.method for plan in plans] == ["direct", "perturbation"]
    limits = {find_max_iterations(plan.scene, device="cpu", on_message=str) for plan in plans}
    assert len(limits) == 1


def test_each_probe_counts_its_own_samples_that_escaped():
    """Those of several widths are read together; others are inside in each."""
    backend = open_backend(choose("cpu").device, "float64", 1)
    plan, limit = fractals.plan(VIEWS["direct"], device="cpu"), 1000
    dice = np.random.default_rng(1)
    begun = []
    for share in (0.1, 1, 0.5, 0):
        count = dice.integers(10, limit, PROBE_SIZE[::-1]).astype(np.int32)
        count[dice.random(count.shape) >= share] = limit
        z = np.where(count < limit, dice.uniform(256, 9999, count.shape), 0)
        begun.append(Begun(EscapeTile(count, z, z, z, z, z)))
    probe = ViewProbe(backend, plan, lambda *_: None)
    counts, smooth = probe._results(begun, limit)
    for each, own, part in zip(begun, counts, smooth, strict=True):
        assert np.array_equal(own, each.tile.count)
        assert part.size == (each.tile.count < limit).sum()
        _, (alone,) = probe._results([each], limit)
        assert np.array_equal(part, alone)
        assert (abs(part - own[own < limit] - 0.5) <= 0.5).all()


def test_smooth_counts_of_a_formula_without_a_degree_have_no_fraction():
    """Newton's method has none: 0 is multiplied by logarithms that may be infinite."""
    formula = fractals.Scene(formula="newton").make_formula()
    x = np.array([np.inf, 0.0, 1.0, np.nan, 1e200])
    counts = np.arange(5, dtype=np.int32)
    assert list(smooth_counts(counts, x, np.zeros(5), formula, 1000.0)) == list(counts)
