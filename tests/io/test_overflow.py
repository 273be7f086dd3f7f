"""z that overflowed is infinite or exact, in memory and in files, and colors are as they were."""

import re

import mpmath
import numpy as np
import pytest
from oracle import table
from support.scenes import scene

import fractals
from fractals.errors import InputError
from fractals.io.escape_data import without_overflows

RADIUS = 64
# Views with samples whose exact |z| is above 1e308000, and others that are large and exact
KEYS = {"size": (24, 16), "max_iterations": 40, "escape_radius": RADIUS, "coloring": "final_angle"}
FORMULAS = ["sine_of_square", "gauss_map"]


def computed(formula, **keys):
    return fractals.compute(scene(formula, **KEYS | keys), device="cpu")


def exact(formula, raw, row, column):
    """Return z where the orbit escapes, by mpmath, which has no greatest exponent."""
    left, right, bottom, top = raw.extent
    height, width = raw.shape
    x = left + (right - left) * (column + 0.5) / width
    y = top - (top - bottom) * (row + 0.5) / height
    step, c = getattr(table, formula), mpmath.mpc(x, y)
    z = mpmath.mpc(0)
    with mpmath.workdps(60):
        for _ in range(int(raw.count[row, column])):
            z = step(z, c, None)
        return z


@pytest.mark.parametrize("formula", FORMULAS)
def test_z_is_infinite_or_exact(formula):
    raw = computed(formula)
    large = np.argwhere((raw.count < raw.max_iterations) & (abs(raw.z) > 1e150))
    infinite = 0
    for row, column in large:
        found, right = raw.z[row, column], exact(formula, raw, row, column)
        if np.isinf(found):
            infinite += 1
            assert np.isinf(found.real)
            assert np.isinf(found.imag)
            assert abs(right) > mpmath.mpf("1e289")
        else:  # a rounding error of z before grows with the exponential
            assert abs(mpmath.log(abs(right)) - mpmath.log(abs(found))) < 1e-3
    assert 0 < infinite < len(large)


@pytest.mark.parametrize("suffix", ["npz", "fz"])
@pytest.mark.parametrize("formula", FORMULAS)
def test_colors_of_infinite_z_are_those_of_the_picture(formula, suffix, tmp_path):
    raw, drawn = computed(formula), fractals.render(scene(formula, **KEYS), device="cpu")
    raw.save(tmp_path / f"raw.{suffix}")
    for kept in (raw, fractals.EscapeData.load(tmp_path / f"raw.{suffix}")):
        assert (fractals.recolor(kept, device="cpu").pixels == drawn.pixels).all()
    if suffix == "npz":
        assert np.isinf(np.load(tmp_path / "raw.npz")["z"]).any()
        assert kept == raw


def test_float32_overflows_earlier():
    z = computed("sine_of_square", precision="float32").z
    assert z.dtype == np.complex64
    assert np.isinf(z).any()
    assert abs(z[np.isfinite(z)]).max() < 2e30


def test_formulas_without_exponentials_keep_their_numbers():
    raw = computed("mandelbrot")
    raw.z[0, 0] = 1e300
    assert without_overflows(raw, raw.scene.make_formula()) is raw
    assert raw.z[0, 0] == 1e300


@pytest.mark.parametrize(
    ("samples", "z", "said"),
    [
        ([-1], [1e300j], "names samples outside of the picture"),
        ([10**9], [1e300j], "names samples outside of the picture"),
        ([1, 2], [1e300j], "names samples outside of the picture"),
        ([1.0], [1e300j], "is of type float64"),
        ([[1]], [1e300j], "shape (1, 1)"),
        ([1], [1.0], "is of type float64"),
    ],
)
def test_a_damaged_list_of_these_z_is_refused(samples, z, said, tmp_path):
    computed("gauss_map").save(tmp_path / "raw.npz")
    arrays = dict(np.load(tmp_path / "raw.npz")) | {"beyond": samples, "beyond z": z}
    np.savez(tmp_path / "raw.npz", **arrays)
    with pytest.raises(InputError, match=re.escape(said)):
        fractals.EscapeData.load(tmp_path / "raw.npz")
