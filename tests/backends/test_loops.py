"""Which loop a program gets on the CPU: packs, packets or plain, and why.

A plain loop is 5 to 25 times slower than packs, so nothing may fall back to it unnoticed.
"""

import itertools
import subprocess
import sys
from dataclasses import replace
from unittest import mock

import pytest
from support.deep import deep_scene
from support.drawings import opened
from support.scenes import FORMULAS, OTHERS, formula_for, scene, slow_but

import fractals
from fractals import catalog
from fractals.backends import code_cache
from fractals.backends.code_cache import forget_programs
from fractals.backends.cpu import backend, direct
from fractals.kernels import escape, perturb, perturb_statistics
from fractals.kernels.primitives import fma

needs_packs = pytest.mark.skipif(not backend.FUSED, reason="this CPU has no fused multiply-add")
PLAIN = {"picture_trap"}  # reads the pixel of a picture for each sample
SMALL = {"size": (5, 3), "max_iterations": 30}


@pytest.fixture
def compiled(monkeypatch):
    """Return the program that iterates a scene on the CPU, as `CpuBackend.compile` returns it."""
    programs = {}
    compile_ = backend.CpuBackend.compile

    def noted(self, make_body, *options):
        programs[make_body] = compile_(self, make_body, *options)
        return programs[make_body]

    monkeypatch.setattr(backend.CpuBackend, "compile", noted)

    def draw(drawn, make_body=escape.make_body):
        programs.clear()
        opened(drawn, shading=False, on_message=str)
        return programs[make_body]

    return draw


def test_the_cpu_backend_alone_knows_the_elementary_functions():
    """In a process that never imported the CUDA backend, which needs them too."""
    script = (
        "import fractals.backends.cpu.target\n"
        "from fractals.kernels import elementary\n"
        "import numba\n"
        "print(numba.njit(lambda x: elementary.quotient(x, 4.0))(2.0))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "0.5", done.stderr


@needs_packs
@pytest.mark.parametrize("derivative", [False, True], ids=["z", "dz"])
@pytest.mark.parametrize("formula", slow_but(["mandelbrot"], [*FORMULAS, *OTHERS]), ids=str)
def test_every_formula_is_iterated_in_packs(formula, derivative, compiled):
    coloring = "distance" if derivative else "smooth"
    if formula in OTHERS:
        made = catalog.load("formula", formula)()
        if derivative and made.tolerance:
            pytest.skip("no coloring of orbits that converge needs dz")
        coloring = coloring if made.escapes else "root"
    run = compiled(scene(formula, coloring=coloring, **SMALL))
    assert (run.loop, run.reason) == ("packs", "")


@needs_packs
@pytest.mark.parametrize("coloring", slow_but(["stripe_average"], catalog.names("coloring")))
def test_every_coloring_but_these_is_iterated_in_packs(coloring, compiled):
    run = compiled(scene(formula_for(coloring), coloring=coloring, **SMALL))
    if coloring in PLAIN:
        assert run.loop == "plain"
        assert run.reason.startswith("no SIMD form of ")
    else:
        assert (run.loop, run.reason) == ("packs", "")


@needs_packs
@pytest.mark.parametrize(
    ("formula", "coloring"),
    slow_but(
        [("mandelbrot", "smooth")],
        itertools.product(FORMULAS, ["smooth", "distance"]),
    ),
)
def test_every_deep_view_is_iterated_in_packets(formula, coloring, compiled):
    run = compiled(deep_scene(formula, False, 24, coloring=coloring, **SMALL), perturb.make_body)
    assert (run.loop, run.reason) == ("packets", "")


@needs_packs
@pytest.mark.parametrize("floatexp", [False, True])
def test_what_needs_exponents_at_every_step_says_so(floatexp):
    formula = scene("burning_ship").make_formula()
    options = perturb.PerturbOptions(formula, julia=False, derivative=True, floatexp=floatexp)
    run = backend.CpuBackend("float64", 1).compile(perturb.make_body, options)
    assert run.loop == ("plain" if floatexp else "packets")
    assert ("exponents at every step" in run.reason) == floatexp


def test_statistics_of_deep_views_say_so(compiled):
    drawn = deep_scene("mandelbrot", False, 24, coloring="stripe_average", **SMALL)
    run = compiled(drawn, perturb_statistics.make_statistics_body)
    assert run.loop == "plain"
    assert "need every step" in run.reason


def test_a_cpu_without_fused_multiply_add_says_so(compiled):
    with mock.patch.object(backend, "FUSED", False):
        run = compiled(scene(**SMALL))
    assert (run.loop, run.reason) == ("plain", "this CPU has no fused multiply-add")


@needs_packs
def test_a_formula_that_packs_cannot_compute_says_what(compiled):
    def step(x, y, a, b):
        return x**2 - y**2 + a, fma(x + x, y, b)

    own = replace(fractals.Scene().make_formula(), step=step, inside=None)
    run = compiled(scene(**SMALL).replace(formula=own))
    assert run.loop == "plain"
    assert run.reason.startswith("no SIMD form of pow(Pack(float64")


@needs_packs
def test_a_defect_of_this_package_is_raised():
    """Only what Numba can't compile falls back: another error has another cause."""

    def broken(*_):
        raise ZeroDivisionError("a defect")

    forget_programs()
    with (
        mock.patch.object(direct, "make_body", broken),
        mock.patch.object(code_cache, "folder", return_value=None),  # nothing is found there
        pytest.raises(ZeroDivisionError, match="a defect"),
    ):
        fractals.compute(scene("tricorn", **SMALL), device="cpu")
