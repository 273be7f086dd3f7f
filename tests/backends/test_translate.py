"""The translator to OpenCL C: its text, and what it refuses. No OpenCL is needed."""

import re
from itertools import product
from pathlib import Path

import pytest
from support.scenes import FILES, slow_but

from fractals import catalog
from fractals.backends import opencl
from fractals.backends.opencl.translate import source
from fractals.backends.opencl.values import (
    METAL,
    OPENCL,
    ArrayType,
    TupleType,
    atomic_add,
    joined,
    literal,
)
from fractals.errors import DeviceError
from fractals.kernels import escape
from fractals.kernels.layout import EscapeTile, SampleGrid
from fractals.kernels.primitives import fma, select
from fractals.lessons import kernel_sources

LINES = ArrayType("double", 1)


def translated(body, *types, number="float64"):
    return source(lambda target: body, (), (LINES, *types), number)


def lines_of(made, name):
    """Return the lines of a function in a program."""
    found = re.search(rf"^static inline [^\n]* \w*{name}\(.*?^}}", made.text, re.M | re.S)
    return found[0].splitlines()[1:-1]


def direct(formula, real="double", dialect=OPENCL, **options):
    """Return the program of direct iteration."""
    plane = ArrayType(real, 2)
    tile = TupleType(
        (ArrayType("int", 2), *[plane] * 4, ArrayType(real, 3)), EscapeTile._fields, "EscapeTile"
    )
    grid = TupleType((plane, plane), SampleGrid._fields, "SampleGrid")
    options = escape.EscapeOptions(formula, **options)
    number = "float64" if real == "double" else "float32"
    return source(
        escape.make_body, (options,), (tile, grid, ArrayType(real, 1), "int"), number, dialect
    )


def test_the_text_is_readable():
    def body(i0, j0, di, dj, out, n):
        total = 0.0
        for k in range(n):
            if k == 3:
                continue
            total = fma(total, 0.5, out[k])
        out[i0] = select(total > 1, total, -total)

    made = translated(body, "int")
    assert made.name == "test_translate_lambda_kernel"
    assert lines_of(made, "body") == [
        "    double total;",
        "    total = 0.0;",
        "    for (long k = 0; k < n; k++) {",
        "        if (k == 3) {",
        "            continue;",
        "        }",
        "        total = fma(total, 0.5, out.data[k]);",
        "    }",
        "    out.data[i0] = total > 1.0 ? total : -total;",
    ]
    line = body.__code__.co_firstlineno
    assert f"test_translate.py:{line}\n" in made.text
    assert "#pragma OPENCL FP_CONTRACT OFF" in made.text


def test_what_is_known_is_left_out():
    text = direct(catalog.load("formula", "mandelbrot")()).text
    assert "mandelbrot_step" in text
    assert "mandelbrot_derivative" not in text
    assert "dx.data[" not in text


NAMES = FILES


@pytest.mark.parametrize(
    ("name", "real"),
    slow_but(
        [*((name, "double") for name in NAMES), ("mandelbrot", "float"), ("newton", "float")],
        product(NAMES, ["double", "float"]),
    ),
)
def test_every_formula_is_translated(name, real):
    formula = catalog.load("formula", name)()
    made = direct(formula, real, derivative=formula.remember is None)
    assert made.text.count("kernel void") == 1
    if real == "float":  # nothing is computed in float64
        assert "double" not in re.sub("//.*", "", made.text)


@pytest.mark.parametrize("name", catalog.names("coloring"))
def test_every_coloring_is_translated(name):
    assert kernel_sources.lacking("coloring", name) == ""
    assert "values.data" in kernel_sources.valuing(catalog.load("coloring", name)()).text


@pytest.mark.parametrize("name", slow_but(["mandelbulb", "mandelbox"], catalog.names("solid")))
def test_every_solid_is_translated(name):
    assert kernel_sources.lacking("solid", name) == ""


def test_what_can_not_be_translated_has_a_reason(monkeypatch):
    def fail(*_arguments):
        raise DeviceError("fractals/formulas/x.py:7: no")

    monkeypatch.setattr(kernel_sources, "source", fail)
    assert kernel_sources.lacking("formula", "heart") == "fractals/formulas/x.py:7: no"


def refused(body):
    with pytest.raises(DeviceError) as error:
        translated(body)
    return str(error.value)


def test_what_is_not_known_is_named_with_file_and_line():
    def listed(i0, j0, di, dj, out):
        out[0] = 1.0
        out[0] = [2.0][0]

    def power(i0, j0, di, dj, out):
        out[0] = out[1] ** 2

    def other(i0, j0, di, dj, out):
        out[0] = sorted(out)

    def mixed(i0, j0, di, dj, out):
        v = out
        v = 1.0
        out[0] = v

    def below(i0, j0, di, dj, out):
        out[0] = out[-1]

    def behind(i0, j0, di, dj, out):
        for k in range(3):
            out[k] = 1.0
        out[0] = k

    def within(i0, j0, di, dj, out):
        for k in range(3):
            k = k + 1

    def before(i0, j0, di, dj, out):
        k = 0
        for k in range(3):
            out[k] = 1.0

    def again(i0, j0, di, dj, out):
        again(i0, j0, di, dj, out)

    for body, more, what in (
        (listed, 2, "'[2.0]'"),
        (power, 1, "'**' of a number that is not known before"),
        (other, 1, "the function sorted"),
        (mixed, 2, "a variable, v, that is"),
        (below, 1, "an index below 0"),
        (behind, 3, "a value of 'k' here"),
        (within, 1, "the variable of a loop, k, that is used elsewhere"),
        (before, 2, "the variable of a loop, k, that is used elsewhere"),
        (again, 0, "again calls itself"),
    ):
        line = body.__code__.co_firstlineno + more
        message = refused(body)
        assert f"{Path(__file__).name}:{line}: " in message, message
        assert what in message


def test_names_of_c_are_not_hidden():
    def body(i0, j0, di, dj, out):
        half, double, größe = 0.5, 2.0, 3.0
        out[0] = half * double * größe

    lines = lines_of(translated(body), "body")
    assert lines[1:3] == ["    half_ = 0.5;", "    double_ = 2.0;"]
    assert "\n".join(lines).isascii()


def test_types_follow_numba():
    assert joined("int", "long") == "long"
    assert joined("float", "int") == "double"
    assert joined("float", "float") == "float"
    assert joined("double", LINES) is None


def test_powers_of_whole_numbers_are_those_of_python():
    """2**-30 was 0, so an exponential in float64 ended at e**86."""

    def body(i0, j0, di, dj, out):
        out[0] = 2**-3
        out[1] = 2**3

    first, second = lines_of(translated(body), "body")[-2:]
    assert first.endswith("= 0.125;")
    assert second.endswith("= 8.0;")


def test_literals_keep_their_bits():
    assert literal(0.1, "float").text == "0.1f"
    assert literal(1e-30, "float").text == "1.e-30f"
    assert literal(2**40, "long").text == "1099511627776L"
    assert literal(float("inf"), "double").text == "(double)INFINITY"


def test_a_division_in_float32_is_noted():
    made = direct(catalog.load("formula", "newton")(), "float")
    assert re.fullmatch(r"fractals/\w+/\w+\.py:\d+", made.divides)
    assert not direct(catalog.load("formula", "mandelbrot")(), "float").divides


def test_a_launch_is_short():
    from fractals.backends.probe import Device

    device = Device(kind="opencl", name="x", multiprocessors=32, clock=1e9)
    assert opencl.steps_per_launch(device, "float32") == 8 * opencl.steps_per_launch(
        device, "float64"
    )
    assert opencl.steps_per_launch(Device(kind="opencl", name="x"), "float64") > 10**6


def test_the_source_of_a_scene_is_printed(run):
    code, out, err = run("gpu", "source", "seahorse")
    assert (code, err) == (0, "")
    text = out.decode()
    assert "// fractals/formulas/powers.py:" in text
    assert text.count("kernel void") == 1
    _, out, _ = run("gpu", "source", "seahorse", "--all")
    assert out.decode().count("kernel void") > 2
    _, out, _ = run("gpu", "source", "ruin")
    assert "// fractals/space/light.py:" in out.decode()
    code, _, err = run("gpu", "source", "bonfire")
    assert (code, err.count("\n")) == (2, 1)


# --- Metal: its text only, because no machine of the project has it


def test_metal_differs_in_a_few_spellings():
    formula = catalog.load("formula", "newton")()
    made = direct(formula, "float", METAL).text
    assert made.startswith("#include <metal_stdlib>\nusing namespace metal;\n#pragma METAL fp")
    assert "device float *data;" in made
    assert "precise::fma(" in made
    assert re.search(r"kernel void \w+\(\n    device int \*tile_count,\n", made)
    assert "constant long &tile_count_n0" in made
    assert "uint2 at [[thread_position_in_grid]]," in made
    assert "at[0], at[1], size[0], size[1]" in made
    for word in ("global", "get_global", "__kernel", "FP_CONTRACT", "double", "as_float("):
        assert word not in re.sub("//.*", "", made), word
    opencl_text = direct(formula, "float").text
    same = set(made.splitlines()) & set(opencl_text.splitlines())
    assert len(same) > len(opencl_text.splitlines()) / 2


def test_metal_has_neither_float64_nor_atomic_additions_of_64_bits():
    with pytest.raises(DeviceError, match="Metal has no float64: give precision='float32'"):
        direct(catalog.load("formula", "mandelbrot")(), "double", METAL)

    def body(i0, j0, di, dj, out, sums):
        atomic_add(sums, 0, 1)

    types = (ArrayType("float", 1), ArrayType("int", 1))
    made = source(lambda target: body, (), types, "float32", METAL).text
    assert "atomic_fetch_add_explicit((device atomic_int *)&sums.data[0], 1, memory_order" in made
    for wrong in ("long", "float"):
        types = (ArrayType("float", 1), ArrayType(wrong, 1))
        with pytest.raises(DeviceError, match=f"an atomic addition to an array of {wrong}"):
            source(lambda target: body, (), types, "float32", METAL)


def test_metal_is_printed(run):
    for name, kernel in (("seahorse", "escape_kernel"), ("ruin", "paths_kernel")):
        code, out, err = run("gpu", "source", name, "--metal", "--all")
        assert (code, err) == (0, "")
        assert f"kernel void {kernel}(" in out.decode()
        assert not re.search("double|global", re.sub("//.*", "", out.decode()))
    code, _, err = run("gpu", "source", "seahorse", "--metal", "--width", "1e-20")
    assert (code, err.count("\n")) == (2, 1)
