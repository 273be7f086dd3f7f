"""The arithmetic that every target shares: fma, the logarithm, the way to the palette."""

import math
from fractions import Fraction
from itertools import product

import mpmath
import numba
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support import quick_fma
from support.scenes import PRECISIONS, scene, slow_but

import fractals
from fractals.backends.cpu import target
from fractals.backends.cpu.backend import CpuBackend
from fractals.backends.python import PythonBackend
from fractals.kernels import primitives
from fractals.kernels.angles import direction
from fractals.kernels.coloring import make_cbrt
from fractals.kernels.elementary import exp, make_log2, sinhcosh
from fractals.kernels.shade import make_transfer
from fractals.rendering.render import EscapeData

# precision in bits, least exponent of a last bit, largest exponent
TRANSFERS = ("linear", "sqrt", "cbrt", "log", "atan")
SHAPES = {"float64": (53, -1074, 1024), "float32": (24, -149, 128)}
REAL = {"float64": float, "float32": np.float32}


def rounded(exact, precision):
    """Return the float nearest to a fraction, ties to even, from the definition of IEEE 754."""
    bits, least, largest = SHAPES[precision]
    if exact == 0:
        return 0.0
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length() - bits
    while size >= Fraction(2) ** (exponent + bits):
        exponent += 1
    while size < Fraction(2) ** (exponent + bits - 1):
        exponent -= 1
    unit = Fraction(2) ** max(exponent, least)
    nearest = round(size / unit) * unit  # Python rounds ties to even
    result = math.inf if nearest >= Fraction(2) ** largest else float(nearest)
    return -result if exact < 0 else result


def bits(value, precision):
    return np.array(value, precision).tobytes()


compiled_fma = numba.njit(lambda a, b, c: primitives.fma(a, b, c))
assert target  # teaches Numba what fma is


def close_calls(width):
    """Numbers with few bits and like exponents, so that sums cancel, tie and run out of range."""
    few = st.integers(-(2**width), 2**width)
    large = {32: 100, 64: 1000}[width]
    return st.builds(
        lambda m, e: math.ldexp(m, e), few, st.integers(-large - width - 40, large - width)
    )


DOUBLES = st.floats() | close_calls(64)
SINGLES = st.floats(width=32) | close_calls(32).map(lambda v: float(np.float32(v)))
CORNERS = [
    (1e308, 10.0, -math.inf),
    (math.inf, 0.0, 1.0),
    (math.nan, 1.0, 1.0),
    (1.7976931348623157e308, 1.0, 2.0**970),
    (-0.0, 0.0, -0.0),
    (-0.0, 0.0, 0.0),
    (5e-324, 0.5, 0.0),
    (5e-324, -0.5, 0.0),
    (2.0**-1074, 2.0**-1074, 2.0**-1074),
    (1 + 2.0**-52, 1 - 2.0**-52, -1.0),
    (2.0**-537, 2.0**-538, 0.0),
    (2.0**1023, 2.0, -(2.0**1023)),
]


def check_fma(a, b, c, precision):
    real = REAL[precision]
    a, b, c = real(a), real(b), real(c)
    result = quick_fma.OWN[real](a, b, c)
    assert bits(primitives.fma(a, b, c), precision) == bits(result, precision) or result != result
    with np.errstate(all="ignore"):
        jitted = compiled_fma(a, b, c)
    if math.isnan(result):
        assert math.isnan(jitted)
    else:
        assert bits(result, precision) == bits(jitted, precision)
    values = [float(v) for v in (a, b, c)]
    if all(map(math.isfinite, values)):
        x, y, z = map(Fraction, values)
        exact = x * y + z
        if exact == 0:  # IEEE 754: the sign of a sum of opposite zeros is +
            expected = values[0] * values[1] + values[2] if 0 in (x * y, z) else 0.0
        else:
            expected = rounded(exact, precision)
        assert bits(result, precision) == bits(expected, precision)
    elif math.isinf(values[2]) and all(map(math.isfinite, values[:2])):
        assert result == values[2]
    elif any(map(math.isnan, values)):
        assert math.isnan(result)
    return result


@settings(max_examples=300)
@given(a=DOUBLES, b=DOUBLES, c=DOUBLES)
def test_fma_of_float64(a, b, c):
    check_fma(a, b, c, "float64")


@settings(max_examples=300)
@given(a=SINGLES, b=SINGLES, c=SINGLES)
def test_fma_of_float32(a, b, c):
    check_fma(a, b, c, "float32")


@pytest.mark.parametrize("precision", PRECISIONS)
@settings(max_examples=200)
@given(data=st.data())
def test_fma_that_cancels(precision, data):
    """c is -a * b rounded: what is left is the rounding error of the product."""
    floats = st.floats(-(2.0**50), 2.0**50, width=64 if precision == "float64" else 32)
    a, b = REAL[precision](data.draw(floats)), REAL[precision](data.draw(floats))
    with np.errstate(all="ignore"):
        check_fma(a, b, -(a * b), precision)


@pytest.mark.parametrize("values", CORNERS)
def test_fma_at_the_corners(values):
    check_fma(*values, "float64")
    with np.errstate(all="ignore"):
        check_fma(*values, "float32")


def test_fma_at_the_largest_number():
    """MAX + 0.6 of its last bit is beyond the range, though neither rounded sum is."""
    largest = 2.0**1023 * (2 - 2.0**-52)
    last = 2.0**971
    a, b = 1 + 2.0**-52, largest
    for c in (0.2 * last, 0.5 * last, 2.0**-1074, -0.8 * last):
        check_fma(a / 2, b, b / 2 + c if c < 0 else b / 2, "float64")
        check_fma(1.0, b, c, "float64")
    # a * b is MAX + 0.4 last bits, which rounds down; c brings it to MAX + 0.6
    a = 2.0**512 + 2.0**460
    product = Fraction(largest) + Fraction(last) * Fraction(2, 5)
    b = float(product / Fraction(a))
    check_fma(a, b, 0.2 * last, "float64")
    check_fma(a, b, 0.3 * last, "float64")


@pytest.mark.parametrize(
    ("precision", "digits", "smallest"), [("float64", 53, -1074), ("float32", 24, -149)]
)
def test_fma_of_subnormal_numbers_is_rounded_once(precision, digits, smallest):
    """3.5 last bits less something: rounded to all digits first it is 3.5, which goes to 4."""
    product = (1 - 2.0**-digits) * 2.0 ** (smallest + 74), 2.0**-75
    assert check_fma(*product, 3 * 2.0**smallest, precision) == 3 * 2.0**smallest


@pytest.mark.parametrize("real", [np.float64, np.float32])
def test_exponentials_use_no_subnormal_number(real):
    """A CPU takes those as 0 where it iterates, and a GPU does not."""
    for x in (*range(80, 100), 699, 700, 701, 1e4, math.inf):
        up, down = exp(real(x)), exp(real(-x))
        assert type(up) is real
        assert down / 2 >= np.finfo(real).tiny, x
        assert np.isfinite(up)
        for sign in (1, -1):
            sine, cosine = sinhcosh(real(sign * x))
            assert sine * sign == pytest.approx(cosine, rel=1e-6)
            assert cosine == pytest.approx(up / 2, rel=1e-6)


def test_fma_of_big_floats():
    with mpmath.workdps(60):
        a, b, c = (mpmath.mpf(k) / 7 for k in (1, 2, 3))
        assert primitives.fma(a, b, c) == a * b + c


@given(st.floats(-720, 720))
@example(30.0)
@example(-270.0)
def test_directions_are_rounded_once(degrees):
    with mpmath.workdps(60):
        turn = mpmath.mpf(degrees) * mpmath.pi / 180
        exact = mpmath.cos(turn), mpmath.sin(turn)
        for found, true in zip(direction(degrees), exact, strict=True):
            assert abs(found - true) <= max(abs(true) * mpmath.mpf("1.1103e-16"), 1e-36)
    turned, other = direction(round(degrees) + 90), direction(round(degrees))
    assert turned == (-other[1], other[0])


MAKERS = {
    "log2": make_log2,
    "cbrt": make_cbrt,
    "atan": lambda target: make_transfer(target, "atan"),
}
CURVES = {
    (name, kind, number): make(backend.target)
    for name, make in MAKERS.items()
    for number in PRECISIONS
    for kind, backend in (("python", PythonBackend(number)), ("cpu", CpuBackend(number, 1)))
}
EXACT = {
    "log2": lambda v: mpmath.log(v, 2),
    "cbrt": lambda v: mpmath.mpf(v) ** (mpmath.mpf(1) / 3),
    "atan": lambda v: 2 * mpmath.atan(v) / mpmath.pi,
}


@settings(max_examples=400)
@given(v=st.floats(min_value=2.0**-1022, allow_infinity=False))
@example(1.0)
@example(math.nextafter(1, 0))
@example(math.nextafter(1, 2))
@example(math.nextafter(2, 0))
@example(math.sqrt(0.5))
@example(math.tan(math.pi / 8))
@example(math.tan(3 * math.pi / 8))
@example(1.7e308)
def test_curves_are_what_they_are_called(v):
    off = {name: CURVES[name, "python", "float64"](v) - EXACT[name](v) for name in MAKERS}
    assert abs(off["log2"]) < 3e-8
    assert abs(off["cbrt"]) < 1e-9 * EXACT["cbrt"](v)
    assert abs(off["atan"]) < 4e-9


@pytest.mark.parametrize("v", [-5000.5, -3.0, -0.25, 0.0, 0.25, 3.0, 5000.5])
def test_transfers_are_what_they_are_called(v):
    """The logarithm is mirrored: values below 0 lie left of a deep view's count offset."""
    wanted = {
        "linear": v,
        "sqrt": math.sqrt(max(v, 0)),
        "log": math.copysign(math.log2(1 + abs(v)), v),
    }
    target = PythonBackend("float64").target
    found = {name: make_transfer(target, name)(v) for name in wanted}
    assert found == pytest.approx(wanted, abs=1e-6)


def test_curves_of_what_has_no_root():
    for number in PRECISIONS:
        for v in (0.0, -0.0, -3.0, -math.inf, math.nan):
            assert CURVES["cbrt", "python", number](REAL[number](v)) == 0
            assert CURVES["atan", "python", number](REAL[number](v)) == 0
        assert CURVES["atan", "python", number](REAL[number](math.inf)) == 1


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", MAKERS)
def test_curves_have_the_same_bits_compiled(name, precision):
    dice = np.random.default_rng(3)
    reach = 300 if precision == "float64" else 37
    values = 10 ** dice.uniform(-reach, reach, 1000)
    values = np.concatenate([values, dice.uniform(0.3, 3, 500), [1, 0.5, 2, 1.9999999]]).astype(
        precision
    )
    curve, plain = CURVES[name, "cpu", precision], CURVES[name, "python", precision]
    compiled = numba.njit(lambda v: curve(v))
    off = []
    for value in values[values > 0]:
        v = REAL[precision](value)
        assert bits(compiled(v), precision) == bits(plain(v), precision)
        exact = EXACT[name](float(v))
        off.append(abs(float(plain(v)) - exact) / (1 if name == "atan" else 1 + abs(exact)))
    assert max(off) < (5e-7 if precision == "float32" else 3e-8)


def colored(counts, device, **keys):
    """Return the pixels of samples with these counts, in plain counts times density."""
    keys = {"transfer": "linear", "coloring": "count", "max_iterations": 10**6, **keys}
    drawn = scene(size=(len(counts), 1), **keys)
    count = np.array([counts], np.int32)
    raw = EscapeData(count, np.ones(count.shape, complex), None, 10**6, drawn)
    return fractals.recolor(raw, device=device).pixels[0]


@pytest.mark.parametrize("device", ["python", "cpu"])
def test_palette_goes_round(device):
    counts = list(range(1, 9))
    first = colored(counts, device, density=0.125)
    assert len(np.unique(first, axis=0)) > 4
    for offset in (1, -1, 7, -12):
        assert np.array_equal(colored(counts, device, density=0.125, offset=offset), first)
    later = colored([n + 8000 for n in counts], device, density=0.125)
    assert np.array_equal(later, first)
    backwards = colored(counts, device, density=-0.125)
    assert np.array_equal(backwards[:7][::-1], first[:7])


@pytest.mark.parametrize("device", ["python", "cpu"])
def test_palette_with_two_ends_goes_on(device):
    ends = {"stops": [[0, "#ff0000"], [0.5, "#00ff00"], [1, "#0000ff"]], "cyclic": False}
    drawn = colored([1, 2, 3, 4, 999], device, density=0.5, offset=-1, palette=ends)
    assert drawn.tolist() == [[255, 0, 0], [255, 0, 0], [0, 255, 0], [0, 0, 255], [0, 0, 255]]


@pytest.mark.parametrize("device", ["python", "cpu"])
def test_positions_beyond_all_turns_are_at_the_start(device):
    start = colored([8], device, density=0)
    assert np.array_equal(colored([999_999], device, density=1e6), start)
    assert np.array_equal(colored([999_999], device, density=-1e6), start)


@pytest.mark.parametrize(
    ("coloring", "transfer"),
    slow_but(
        [*product(["smooth"], TRANSFERS), ("distance", "log")],
        product(["smooth", "distance"], TRANSFERS),
    ),
)
def test_numbers_out_of_range_are_drawn_alike(coloring, transfer):
    """An orbit or its derivative may overflow: whatever that gives, it is the same everywhere."""
    inf, nan = math.inf, math.nan
    wild = [
        complex(nan, 1),
        complex(1, nan),
        complex(inf, 0),
        complex(-inf, inf),
        complex(0, 1e308),
    ]
    z, dz = (
        (np.array([wild]), np.full((1, 5), 1 + 1j))
        if coloring == "smooth"
        else (np.full((1, 5), 300 + 0j), np.array([wild]))
    )
    drawn = scene(size=(5, 1), coloring=coloring, transfer=transfer, max_iterations=100, offset=0.3)
    raw = EscapeData(np.full((1, 5), 5, np.int32), z, dz, 100, drawn)
    plain = fractals.recolor(raw, device="python").pixels
    for device in ("cpu", "simulator"):
        assert fractals.recolor(raw, device=device).pixels.tolist() == plain.tolist()


@pytest.mark.parametrize("device", ["python", "cpu"])
def test_inside_color(device):
    assert colored([10**6], device, inside="#0a64ff").tolist() == [[10, 100, 255]]
    assert colored([10**6], device, inside="#fff").tolist() == [[255, 255, 255]]
