"""Packets of samples on the CPU: the same bits as the loop in which each goes alone."""

from unittest import mock

import numpy as np
import pytest
from support.deep import deep_scene, nothing_skipped, on_a_minibrot
from support.drawings import opened
from support.scenes import KIN, SOME_FORMULAS, label

import fractals
from fractals.backends.cpu import backend, programs
from fractals.kernels.formula import Formula
from fractals.kernels.perturb import PerturbOptions, make_body
from fractals.kernels.primitives import fma
from fractals.rendering import plan

SIZE = (70, 41)  # no multiples of a block, nor of a pack; more samples than one list has

needs_packs = pytest.mark.skipif(not backend.FUSED, reason="this CPU has no fused multiply-add")
pytestmark = needs_packs


def alone(drawn):
    """Compute without packets."""
    with mock.patch.object(backend, "FUSED", False):
        return fractals.compute(drawn, device="cpu", on_message=str)


def in_packets(drawn):
    """Compute with packets, and fail where they can't be compiled."""
    with mock.patch.object(backend, "Uncompilable", ()):
        assert opened(drawn, shading=False, on_message=str).source.loop == "packets"
        return fractals.compute(drawn, device="cpu", on_message=str)


def assert_same(drawn, least=10):
    one, other = alone(drawn), in_packets(drawn)
    assert one.method == "perturbation"
    assert len(np.unique(one.count)) >= least
    for part in ("count", "z", "dz"):
        assert getattr(one, part).tobytes() == getattr(other, part).tobytes(), part


@pytest.mark.parametrize(
    ("formula", "julia"), [("mandelbrot", False), ("mandelbrot", True), ("burning_ship", False)]
)
def test_packets_change_no_bit(formula, julia):
    assert_same(deep_scene(formula, julia, 24, size=SIZE))


def test_packets_that_share_an_exponent_change_no_bit():
    assert_same(on_a_minibrot(260, size=SIZE))


def test_what_is_too_small_for_float64_goes_on_alone():
    drawn = on_a_minibrot(260, size=(20, 15))
    with nothing_skipped():
        assert_same(drawn, least=5)


def test_limit_ends_lanes_wherever_they_are():
    for limit in (1, 2, 57, 113):
        assert_same(
            deep_scene("mandelbrot", False, 24, size=(30, 20), max_iterations=limit), least=1
        )


def test_orbits_that_repeat_end_and_change_no_bit():
    drawn = on_a_minibrot(24, size=(40, 30), max_iterations=20_000)
    assert_same(drawn)
    assert (fractals.compute(drawn, device="cpu").count == 20_000).mean() > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("floatexp", [False, True], ids=["float64", "floatexp"])
@pytest.mark.parametrize("julia", [False, True], ids=["parameters", "julia"])
@pytest.mark.parametrize("formula", [*SOME_FORMULAS, *KIN], ids=label)
def test_no_formula_changes_a_bit(formula, julia, floatexp):
    if floatexp and not fractals.Scene(formula=formula).make_formula().holomorphic:
        pytest.skip("formulas with kinks have no packets where z needs an exponent")
    with mock.patch.object(plan, "EXTENDED", 0 if floatexp else -900):
        assert_same(deep_scene(formula, julia, 24, size=SIZE), least=1)


def test_more_samples_than_a_list_holds():
    width = 70
    drawn = deep_scene("mandelbrot", False, 24, size=(width, 2 * programs.MAX_SAMPLES // width))
    assert_same(drawn)


def test_formula_that_packs_cannot_compute_goes_alone():
    mandelbrot = fractals.Scene().make_formula()

    def perturbed(X, Y, x, y, a, b):
        if x > 1e300:  # a lane can't take another way than the others
            return a, b
        u, v = X + X + x, Y + Y + y
        return fma(u, x, fma(-v, y, a)), fma(u, y, fma(v, x, b))

    own = Formula(
        name="own",
        title="own",
        step=mandelbrot.step,
        derivative=mandelbrot.derivative,
        perturbed=perturbed,
        degree=2,
    )
    options = PerturbOptions(own, julia=False, derivative=True, floatexp=False)
    run = backend.CpuBackend("float64", 1).compile(make_body, options)
    assert run.loop == "plain"
    assert run.reason.startswith("no SIMD form of truth(Pack(bool")
