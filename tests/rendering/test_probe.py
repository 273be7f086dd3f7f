"""The samples that are iterated before a picture: for its limit, and for its count offset."""

import numpy as np
import pytest
from support.deep import on_a_minibrot
from support.scenes import scene

import fractals
from fractals.backends.devices import choose, open_backend
from fractals.kernels.layout import EscapeTile
from fractals.rendering.probe import PROBE_SIZE, smooth_counts
from fractals.rendering.sources import make_source
from fractals.rendering.view_probe import ViewProbe

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

    def iterate(shape, columns, rows, limit):
        limits.append(limit)
        count, z = np.minimum(escapes, limit).reshape(shape), np.full(shape, 2000.0)
        return EscapeTile(count, z, z, z, z, z)

    probe = ViewProbe(backend, fractals.plan(VIEWS["direct"], device="cpu"), iterate)
    assert probe.settled_limit(4096) == 60_000
    assert limits == [4096, 16_384]
    assert probe.count_offset(60_000) > 0
    assert limits[2:] == probes * [60_000]


def test_each_probe_counts_its_own_samples_that_escaped():
    """Those of several widths are read together; others are inside in each."""
    backend = open_backend(choose("cpu").device, "float64", 1)
    plan, limit = fractals.plan(VIEWS["direct"], device="cpu"), 1000
    dice = np.random.default_rng(1)
    tiles = []
    for share in (0.1, 1, 0.5, 0):
        count = dice.integers(10, limit, PROBE_SIZE[::-1]).astype(np.int32)
        count[dice.random(count.shape) >= share] = limit
        z = np.where(count < limit, dice.uniform(256, 9999, count.shape), 0)
        tiles.append(EscapeTile(count, z, z, z, z, z))
    probe = ViewProbe(backend, plan, lambda *_: None)
    counts, smooth = probe._results(tiles, limit)
    for tile, own, part in zip(tiles, counts, smooth, strict=True):
        assert np.array_equal(own, tile.count)
        assert part.size == (tile.count < limit).sum()
        _, (alone,) = probe._results([tile], limit)
        assert np.array_equal(part, alone)
        assert (abs(part - own[own < limit] - 0.5) <= 0.5).all()


def test_smooth_counts_of_a_formula_without_a_degree_have_no_fraction():
    """Newton's method has none: 0 is multiplied by logarithms that may be infinite."""
    formula = fractals.Scene(formula="newton").make_formula()
    x = np.array([np.inf, 0.0, 1.0, np.nan, 1e200])
    counts = np.arange(5, dtype=np.int32)
    assert list(smooth_counts(counts, x, np.zeros(5), formula, 1000.0)) == list(counts)
