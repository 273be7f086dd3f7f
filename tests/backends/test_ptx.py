"""The code our kernels become on GPUs, looked at where there is none (``scripts/ptx``).

That the CPU and a GPU give the same bits rests on two facts which only this code can show: a
float32 kernel is float32 throughout, and what is rounded once is written as one `fma`.
"""

import dataclasses
import functools
import itertools
import json
import os
import re
import subprocess
import sys
import typing
from pathlib import Path

import numpy as np
import pytest
from support import ptx
from support.scenes import FORMULAS, OTHERS, PRECISIONS, formula_for, label, scene, slow_but
from support.strip_programs import PROGRAMS, outputs

import fractals
from fractals import catalog
from fractals.backends import cache_folder, code_cache
from fractals.backends.cuda import numba_private
from fractals.backends.cuda.kernel import CardProgram
from fractals.backends.devices import LIMITS, choose, open_backend
from fractals.color import palette
from fractals.formulas.powers import mandelbrot
from fractals.lessons import machine
from fractals.scene.paint import Color, Layer
from fractals.space import ground as grounds
from fractals.space import light as lights
from fractals.space import march, paths
from fractals.space.trace import moved, on_lanes

if reason := ptx.missing():
    if os.environ.get("FRACTALS_REQUIRE_PTX"):
        pytest.fail(f"FRACTALS_REQUIRE_PTX is set, and {reason}", pytrace=False)
    pytest.skip(reason, allow_module_level=True)

pytestmark = pytest.mark.unwatched  # kernels are compiled and not run: numbers may be anything
HOPPER = (9, 0)  # every kernel is compiled for it, a few for the others
CAPABILITIES = [(7, 5), (8, 0), (8, 6), (8, 9), (10, 0), (12, 0)]
OLDEST_AND_NEWEST_OFTEN = [
    each
    if each in (CAPABILITIES[0], CAPABILITIES[-1])
    else pytest.param(each, marks=pytest.mark.slow)
    for each in CAPABILITIES
]
REGISTERS = 80  # most a thread may take: 12 blocks of 64 threads share a multiprocessor then
# Of perturbation, whose three loops have more to keep, of curvature_average, which asks whether a
# step is rounded, and of those who watch in parts.
REGISTERS_MORE = 96
# Of interior_distance, which keeps 14 numbers of an orbit; of period and multiplier, which follow a
# cycle for two rounds; of those who watch for two colorings; of deep views whose orbits are
# watched; and of matrices with exponents, which skip a thousand times what a fifth fewer threads
# cost.
REGISTERS_MOST = 128  # 512 threads of a multiprocessor's 65536 registers
REGISTERS_BOTH = 136  # of matrices with exponents whose orbits are watched: 448 threads

# Lower a budget when the code gets better: predictions of times use them.
BUDGET = machine.INSTRUCTIONS
STICKY = (7.75, 7.75)  # the same of a Mandelbrot step that is tested each time
FAR = ["-2.5", "0"]  # beyond the escape radius: orbits may come back
# NVVM unrolls a whole block only where it is short enough; the loop then holds no test at its end.
ITERATIONS_A_LOOP = {
    ("buffalo", True): 4,
    ("burning_ship", True): 4,
    ("celtic_heart", True): 4,
    ("multibrot4", True): 4,
    ("multibrot5", True): 4,
    ("multibrot6", True): 2,
    ("multibrot7", True): 2,
    ("multibrot8", True): 2,
    ("simonobrot", True): 4,
}

UNMARKED = re.compile(r"\b(mul|add|sub)\.(f32|f64)\b")  # as marked, .rn: rounded to nearest


def iterating(formula, julia, derivative, precision, max_iterations=60):
    """Return what compiles an escape kernel."""
    coloring = "distance" if derivative else "count"
    radius = 64 if julia != FAR else 2
    drawn = scene(
        formula,
        julia,
        size=(1, 1),
        escape_radius=radius,
        coloring=coloring,
        max_iterations=max_iterations,
    )
    return functools.partial(fractals.compute, drawn, device="cuda", precision=precision)


def perturbing(formula, julia, extended, **keys):
    """Return what compiles a perturbation kernel, with dz; after it, that of those who watch."""
    place = {"center": ["-0.75", "0.1"], "width": "1e-400" if extended else "1e-30"}
    drawn = scene(formula, julia, size=(1, 1), **place, **keys)
    return functools.partial(fractals.compute, drawn, device="cuda", on_message=str, cache=False)


def shading(coloring, transfer, colors, precision, bits=8):
    """Return what compiles three kernels: positions in the palette, paint, and the tally."""
    formula = formula_for(coloring)
    drawn = scene(
        formula, size=(1, 1), coloring=coloring, transfer=transfer, palette=colors, bits=bits
    )
    raw = fractals.compute(drawn, device="python", precision=precision)
    return functools.partial(fractals.recolor, raw, device="cuda")


def watching(coloring, precision, formula="mandelbrot", **keys):
    """Return what compiles an escape kernel that watches orbits."""
    if formula == "mandelbrot":
        formula = formula_for(coloring)
    drawn = scene(formula, size=(1, 1), coloring=coloring, **keys)
    return functools.partial(fractals.compute, drawn, device="cuda", precision=precision)


def blending(mode, bits=8):
    """Return what compiles the kernels of two layers: the last blend them, and take means."""
    layers = [{"coloring": "count", "blend": mode}]
    drawn = scene(size=(1, 1), coloring="count", bits=bits, layers=layers)
    raw = fractals.compute(drawn, device="python", precision="float32")
    return functools.partial(fractals.recolor, raw, device="cuda")


def grouping(mode, nested=False):
    """Return what compiles the kernels of groups: the last blend a layer, and the inner group."""
    group = {"layers": [{"coloring": "count", "blend": mode}], "blend": mode}
    if nested:
        group = {"layers": [group], "blend": mode}
    drawn = scene(size=(1, 1), coloring="count", layers=[group])
    raw = fractals.compute(drawn, device="python", precision="float32")
    return functools.partial(fractals.recolor, raw, device="cuda")


def filming():
    """Return what compiles the kernels of a strip."""
    return lambda: outputs(open_backend(choose("cuda").device, "float64"))


def escape_name(formula, julia, derivative, precision):
    return " ".join([formula, *["julia"] * julia, *["dz"] * derivative, precision])


TRANSFERS = [
    name for name in typing.get_args(Color.model_fields["transfer"].annotation) if name != "auto"
]
CYCLIC, ENDING = (
    next(name for name in catalog.names("palette") if palette.load(name).cyclic is cyclic)
    for cyclic in (True, False)
)
# What is compiled often; the others, which take many minutes, are slow tests.
OFTEN = {"mandelbrot", "smooth", "paint", "tally", "film"}


def often(names):
    names = list(names)
    return slow_but([name for name in names if OFTEN & set(name.split())], names)


ESCAPES = {
    escape_name(label(formula), julia, derivative, number): functools.partial(
        iterating, formula, julia, derivative, number
    )
    for formula in FORMULAS
    for julia in (False, True)
    for derivative in (False, True)
    for number in PRECISIONS
}
ESCAPES |= {
    f"checked {number}": functools.partial(iterating, "mandelbrot", FAR, False, number)
    for number in PRECISIONS
}
ESCAPES |= {
    f"{formula} parts {number}": functools.partial(
        iterating, formula, False, True, number, max_iterations=10**6
    )
    for formula in ("mandelbrot", "burning_ship")
    for number in PRECISIONS
}
SHADES = {
    f"{coloring} {transfer} {colors} {number}": functools.partial(
        shading, coloring, transfer, colors, number
    )
    for coloring in catalog.names("coloring")
    for transfer in (TRANSFERS if coloring in ("count", "distance", "smooth") else ["linear"])
    for colors in ([CYCLIC, ENDING] if transfer == "linear" else [CYCLIC])
    for number in PRECISIONS
}
STATISTICS = [
    name for name in catalog.names("coloring") if catalog.load("coloring", name)().statistic
]
WITH_STATISTICS = {
    f"watch {coloring} {number}": functools.partial(watching, coloring, number)
    for coloring in STATISTICS
    for number in PRECISIONS
}
MOST_WATCHED = {"layers": [{"coloring": name} for name in ("stripe_average", "slopes")]}
WITH_STATISTICS |= {
    f"watch two, with a Jacobian {number}": functools.partial(
        watching, "curvature_average", number, "burning_ship", **MOST_WATCHED
    )
    for number in PRECISIONS
}
WITH_STATISTICS |= {
    f"watch in parts {number}": functools.partial(
        watching, "triangle_average", number, "mandelbrot", max_iterations=10**6
    )
    for number in PRECISIONS
}
BLENDS = {
    f"{part} {mode} float32": functools.partial(blending, mode)
    for part, modes in (("blend", Layer.model_fields["blend"].annotation), ("mean", None))
    for mode in (typing.get_args(modes) if modes else ["normal"])
    if mode != "auto"
}
BLENDS |= {
    f"{part} {mode} float32": functools.partial(grouping, mode, part == "nested")
    for part in ("member", "group", "nested")
    for mode in typing.get_args(Layer.model_fields["blend"].annotation)
    if mode != "auto"
}
PAINTS = {
    f"paint {bits} bits {number}": functools.partial(
        shading, "count", "linear", CYCLIC, number, bits
    )
    for bits in (8, 16)
    for number in PRECISIONS
}
DEEP = {
    f"{formula} deep{' extended' * extended}": functools.partial(
        perturbing, formula, False, extended
    )
    for formula in ("mandelbrot", "burning_ship")
    for extended in (False, True)
}
DEEP |= {
    f"{formula} deep{' extended' * extended}, watched": functools.partial(
        perturbing, formula, False, extended, layers=[{"coloring": "triangle_average"}]
    )
    for formula in ("mandelbrot", "burning_ship")
    for extended in (False, True)
}
FILMS = {f"film {name}": filming for name in PROGRAMS}
TALLY = {"tally": functools.partial(shading, "count", "linear", CYCLIC, "float64")}
KERNELS = {**ESCAPES, **WITH_STATISTICS, **SHADES, **BLENDS, **PAINTS, **TALLY, **DEEP, **FILMS}
EVERYWHERE = [*PAINTS, *DEEP, *(name for name in SHADES if " log " in name)]
EVERYWHERE += [name for name in ESCAPES if re.match(r"(mandelbrot|burning_ship)( dz)? f", name)]


def most_registers(name, capability=HOPPER):
    if name == "burning_ship deep extended, watched":
        return REGISTERS_BOTH
    if name == "burning_ship deep extended" and capability == (10, 0):  # 133
        return REGISTERS_BOTH
    words = set(name.replace(",", "").split())
    if words & {"interior_distance", "period", "multiplier", "two", "watched"} or (
        name.startswith("burning_ship deep extended")
    ):
        return REGISTERS_MOST
    more = {"deep", "curvature_average", "parts"}
    return REGISTERS_MORE if words & more else REGISTERS


@functools.cache
def kernel(name):
    compiled = ptx.compile_kernels(KERNELS[name](), HOPPER)
    if name in ESCAPES or name in WITH_STATISTICS or name in DEEP:
        assert len(compiled) == (2 if "watched" in name else 1)
        return compiled[-1]
    if name in FILMS:
        return compiled[list(FILMS).index(name)]
    # What ranks a picture's values, positions, blends, the picture, and the tally of its counts.
    *shading, picture, tally = compiled
    if name == "tally":
        return tally
    if name.startswith("member"):
        return shading[-2]
    return picture if name.startswith(("mean", "paint")) else shading[-1]


def doubles(text):
    """Return the lines of PTX that name the type float64."""
    return [line.strip() for line in text.splitlines() if ".f64" in line]


def fused(text):
    """Count the fused operations in PTX."""
    return len(re.findall(r"\bfma\.", text))


def fused_in(binary):
    """Count the fused operations in a binary."""
    return sum(bool(re.match(r"[FD]FMA", code.name)) for code in ptx.instructions(binary))


@pytest.mark.parametrize("name", often(name for name in KERNELS if name.endswith("float32")))
def test_float32_kernels_compute_nothing_in_float64(name):
    assert doubles(ptx.text(kernel(name), HOPPER)) == []
    used = {code.name for code in ptx.instructions(ptx.binary(kernel(name), HOPPER))}
    wide = re.compile(r"D(ADD|MUL|FMA|SETP|MNMX)|.*F64|MUFU.*64H")
    assert [name for name in used if wide.match(name)] == []


# With an exponent, numbers are scaled by powers of two, which is exact, and so is contracting it.
@pytest.mark.parametrize("name", often(name for name in KERNELS if "extended" not in name))
def test_nothing_is_left_to_the_compiler_to_contract(name):
    text = ptx.text(kernel(name), HOPPER)
    assert fused(text) == fused(ptx.unfused_text(kernel(name), HOPPER))
    # The assembler may contract what is not marked as rounded, and knows that a - b < 0 is a < b.
    free, bound = ptx.assemble(text), ptx.assemble(UNMARKED.sub(r"\1.rn.\2", text))
    assert free == bound or fused_in(free) == fused_in(bound)


LOOPS = """
    fma.rn.f64 %fd1, %fd8, %fd9, %fd7;
    mov.f64 %fd2, %fd1;
$L1:
    fma.rn.f64 %fd2, %fd2, %fd2, %fd6;
    @%p1 bra $L1;
    mul.f64 %fd3, %fd1, %fd1;{copy}
$L2:
    fma.rn.f64 %fd2, %fd2, %fd2, %fd5;
    @%p2 bra $L2;
"""


def test_a_copy_that_is_lost_is_found():
    """The second loop begins where the first one has ended, not at %fd1."""
    assert ptx.lost_starts(LOOPS.format(copy="")) == [("%fd2", "%fd1")]
    assert ptx.lost_starts(LOOPS.format(copy="\n    mov.f64 %fd2, %fd1;")) == []


@pytest.mark.parametrize("name", often(KERNELS))
def test_loops_begin_where_the_source_says(name):
    assert ptx.lost_starts(ptx.text(kernel(name), HOPPER)) == []


# Others keep a few, outside of their loops.
SIGNED = {*FILMS, *DEEP, *(name for name in KERNELS if name.startswith("mean"))}


@pytest.mark.parametrize("name", often(name for name in KERNELS if name not in SIGNED))
def test_places_in_arrays_are_unsigned(name):
    """Each signed one would be compared with 0 and moved by a length, in 64 bits."""
    assert re.findall(r"shr\.s64\s+\S+ \S+ 63;", ptx.text(kernel(name), HOPPER)) == []


@pytest.mark.parametrize("name", often(KERNELS))
def test_kernels_fit_into_registers(name):
    registers, local = ptx.resources(ptx.binary(kernel(name), HOPPER))
    assert local == 0
    assert registers <= most_registers(name)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", often([*OTHERS, "z**3 + c*sin(z)"]))
def test_other_formulas_fit_into_registers(name, precision):
    """With dz or, where orbits converge, what `speed` watches."""
    converging = scene(name, coloring="count").make_formula().tolerance
    drawn = scene(
        name, size=(1, 1), coloring="speed" if converging else "distance", escape_radius=64
    )
    (made,) = ptx.compile_kernels(
        functools.partial(fractals.compute, drawn, device="cuda", precision=precision)
    )
    registers, local = ptx.resources(ptx.binary(made, HOPPER))
    assert local == 0
    assert registers <= REGISTERS_MORE
    if precision == "float32":
        assert doubles(ptx.text(made, HOPPER)) == []


@pytest.mark.parametrize("capability", OLDEST_AND_NEWEST_OFTEN, ids="sm_{0[0]}{0[1]}".format)
@pytest.mark.parametrize("name", often(EVERYWHERE))
def test_every_capability_is_served(name, capability):
    registers, local = ptx.resources(ptx.binary(kernel(name), capability))
    assert local == 0
    assert registers <= most_registers(name, capability)
    assert (
        name in DEEP
        or name.endswith("float64")
        or doubles(ptx.text(kernel(name), capability)) == []
    )


STEPS_PER_CHECK = LIMITS["cuda"].steps_per_check


def cost_of(name, capability, length=STEPS_PER_CHECK):
    """Return the machine instructions an iteration, of the `length` that the loop holds."""
    return len(ptx.hot_loop(ptx.instructions(ptx.binary(kernel(name), capability)))) / length


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("derivative", [False, True], ids=["z", "dz"])
@pytest.mark.parametrize("formula", often(label(formula) for formula in FORMULAS))
def test_instructions_an_iteration(formula, derivative, precision):
    assert formula in BUDGET, "state the budget of a new formula"
    length = ITERATIONS_A_LOOP.get((formula, derivative), STEPS_PER_CHECK)
    cost = cost_of(escape_name(formula, False, derivative, precision), HOPPER, length)
    budget = BUDGET[formula][2 * derivative + (precision == "float64")]
    assert 0.95 * budget <= cost <= budget


@pytest.mark.parametrize("capability", CAPABILITIES, ids="sm_{0[0]}{0[1]}".format)
@pytest.mark.parametrize("precision", PRECISIONS)
def test_instructions_an_iteration_elsewhere(precision, capability):
    cost = cost_of(escape_name("mandelbrot", False, False, precision), capability)
    assert cost <= BUDGET["mandelbrot"][precision == "float64"]


@pytest.mark.parametrize("formula", often(label(formula) for formula in FORMULAS))
def test_float64_arithmetic_an_iteration(formula):
    name = escape_name(formula, False, False, "float64")
    loop = ptx.hot_loop(ptx.instructions(ptx.binary(kernel(name), HOPPER)))
    counted = machine.Loop(tuple(each.name for each in loop), "machine code").double
    wanted = machine.doubles(formula, "float64")
    assert counted / STEPS_PER_CHECK == pytest.approx(wanted, abs=0.07)


# Of whole programs of strips, which index arrays by unsigned numbers of 32 bits.
STRIPS = {"polar": 432, "blur": 488, "sums": 80, "smear": 168, "coarser": 128, "frame": 648}


@pytest.mark.parametrize("name", PROGRAMS)
def test_instructions_of_a_strips_programs(name):
    assert len(ptx.instructions(ptx.binary(kernel(f"film {name}"), HOPPER))) <= STRIPS[name]


@pytest.mark.parametrize("precision", PRECISIONS)
def test_instructions_an_iteration_that_is_tested(precision):
    assert cost_of(f"checked {precision}", HOPPER) <= STICKY[precision == "float64"]


def test_instructions_of_a_step_of_perturbation():
    """A step, whose loop is the shortest with arithmetic, and an entry of a stage."""
    drawn = perturbing("mandelbrot", False, False, coloring="count")
    (made,) = ptx.compile_kernels(drawn)
    loops = machine.inner_loops(ptx.instructions(ptx.binary(made, HOPPER)))
    counted = [machine.Loop(tuple(each.name for each in loop), "machine code") for loop in loops]
    step, *_, entry = sorted(
        (loop for loop in counted if loop.double >= 10), key=lambda loop: len(loop.names)
    )
    assert len(step.names) <= 24
    assert step.double <= 12
    assert len(entry.names) <= 102
    assert entry.double <= 25


def test_the_tests_above_notice_carelessness():
    def step(x, y, a, b):
        return x * x - y * y + a, 2.0 * x * y + b

    formula = dataclasses.replace(mandelbrot(), step=step)
    (careless,) = ptx.compile_kernels(iterating(formula, False, False, "float32"))
    text, unfused = ptx.text(careless, HOPPER), ptx.unfused_text(careless, HOPPER)
    assert doubles(text)
    assert fused(text) > fused(unfused)
    free = re.sub(r"\b(mul|add|sub)\.rn\.", r"\1.", unfused)
    assert fused_in(ptx.assemble(free)) > fused_in(ptx.assemble(unfused))


# Of an element, an argument of each size, and a table: what `fill` below takes
FILLED = np.empty((1, 1)), np.int32(3), (np.float32(0.5), True), 2.5, np.empty((1, 1, 1), np.uint8)


def test_the_parameters_of_a_kernel_are_the_cells_of_a_launch():
    """Their sizes as ptxas has noted them: an array has five, and two for each dimension."""
    _, code = CardProgram(None, "float64", lambda target: fill, ()).code("", HOPPER, FILLED)
    noted = re.findall(
        r"Ordinal : 0x(\w+)\s+Offset\s+: 0x\w+\s+Size\s+: 0x(\w+)", machine.dump("-elf", code)
    )
    sizes = [size for _, size in sorted((int(k, 16), int(size, 16)) for k, size in noted)]
    assert sizes == [8] * (5 + 2 * 2) + [4, 4, 1, 8] + [8] * (5 + 2 * 3)


def test_kernels_are_kept(tmp_path):
    """A kernel of the same types is read from its store, and its body is not made then."""
    bodies = []

    def make_body(target):
        bodies.append(target)
        return fill

    def code(layout="types", capability=HOPPER):
        store = code_cache.Store(str(tmp_path / "program"))
        return CardProgram(store, "float64", make_body, ()).code(layout, capability, FILLED)

    first = code()
    assert first[1].startswith(b"\x7fELF")
    assert code() == first
    assert len(bodies) == 1
    (path,) = tmp_path.rglob("*.code")
    assert code(capability=(8, 0))[1] != first[1]
    code(layout="other types")
    assert len(bodies) == 3
    path.write_bytes(path.read_bytes()[:-1])
    assert code()[0].startswith("_Z")
    assert len(bodies) == 4
    (line,) = cache_folder.take_messages()
    assert line.startswith("a file of compiled code that is damaged")


def fill(x, y, dx, dy, out, n, pair, last, table):
    out[y, x] = n + pair[0] + last + table[0, 0, 0] + (1 if pair[1] else 0)


def test_libnvvm_is_found():
    ptx.real_cuda()
    assert numba_private.has_libnvvm()


LESSON = Path(__file__).parents[2] / "lessons" / "step_11_mandelbrot_gpu.py"
TYPES = "float64, float64, float64, int64, int32[:,::1]"


def counted(*arguments):
    """Return what `fractals gpu instructions` counts, in a process of its own."""
    command = [sys.executable, "-m", "fractals", "gpu", "instructions", *arguments, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_instrument_counts_the_loop_of_a_lesson():
    found = counted(LESSON, "one_pixel_each", TYPES)
    assert (found["language"], found["instructions"]) == ("machine code", 14)
    assert found["arithmetic"] == found["float64"] == 8


def test_without_the_tools_ptx_is_counted():
    script = (
        "from fractals.lessons import machine\n"
        "machine.find_tool = lambda name: None\n"
        f"loop = machine.count({str(LESSON)!r}, 'one_pixel_each', {TYPES!r})\n"
        "print(loop.language, len(loop.names), loop.arithmetic, loop.double)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.split() == ["PTX", "14", "9", "9"], done.stderr


VECTOR, MATRIX, DOUBLES = "float32[::1]", "float32[:,::1]", "float64[:,::1]"
VIEW = "float64, float64, float64, int64, int32[:,::1]"
LESSON_KERNELS = [  # file, kernel, types of its arguments
    ("step_10_vector_add", "add", (VECTOR,) * 3),
    ("step_11_mandelbrot_gpu", "one_pixel_each", (VIEW,)),
    ("step_11_mandelbrot_gpu", "grid_stride", (VIEW,)),
    ("step_12_divergence", "along_rows", (MATRIX,)),
    ("step_12_divergence", "along_columns", (MATRIX,)),
    ("step_13_overlap", "colors", ("float64", "float64", "uint8[:,:,::1]")),
    ("step_a_shared_memory", "naive", (MATRIX,) * 3),
    ("step_a_shared_memory", "tiled", (MATRIX,) * 3),
    ("step_b_neural_picture", "convolve", (MATRIX, MATRIX, "float32", MATRIX)),
    ("step_b_neural_picture", "paint", (DOUBLES, "float64[:,:,::1]")),
    ("step_c_attention", "product", (DOUBLES,) * 3),
    ("step_c_attention", "softmax", (DOUBLES,)),
    ("step_c_attention", "fused", (DOUBLES,) * 4),
    ("step_d_training", "kernel", (DOUBLES, DOUBLES, MATRIX, "float64", "float32[:,:,::1]")),
    ("step_e_counting", "play", ("int64", "int32[:,::1]", "int32[:,::1]")),
    (
        "step_f_rays",
        "look",
        ("int64[::1]", DOUBLES, "int32[::1]", "float64[::1]", "boolean[::1]", "int64"),
    ),
    (
        "step_g_opencl",
        "kernel",
        ("int32[:,::1]", "float64", "float64", "float64", "int64"),
    ),
    ("solutions/step_10_vector_add", "saxpy", ("float32", *(VECTOR,) * 3)),
    ("solutions/step_11_mandelbrot_gpu", "kernel", ("float64", "int64", "int32[:,::1]")),
    ("solutions/step_a_shared_memory", "multiply", (MATRIX,) * 3),
    ("solutions/step_b_neural_picture", "smooth", (MATRIX, MATRIX)),
    ("solutions/step_c_attention", "log_sum_exp", (DOUBLES, "float64[::1]")),
    ("solutions/step_e_counting", "count", ("int64[::1]", "int32[::1]")),
]
COMPILE = """
import json, os, runpy, sys
os.environ["FRACTALS_DEVICE"] = "cuda"
folder, table = sys.argv[1], json.loads(sys.argv[2])
sys.path.insert(0, folder)
from fractals.backends import cache_folder, code_cache
from fractals.backends.cuda import numba_private
for file, kernel, types in table:
    found = runpy.run_path(f"{folder}/{file}.py", run_name="kernels")
    text, binary = numba_private.code_of_kernel(found[kernel], f"({', '.join(types)},)", (7, 5))
    assert binary
    print(kernel)
"""


@pytest.mark.slow
def test_the_kernels_of_the_lessons_compile_for_a_gpu():
    """In a process of its own, where the lessons choose real kernels without a GPU."""
    command = [sys.executable, "-c", COMPILE, str(LESSON.parent), json.dumps(LESSON_KERNELS)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout.split() == [kernel for _, kernel, _ in LESSON_KERNELS], done.stderr


def test_every_kernel_of_the_lessons_is_in_the_list():
    decorated = re.compile(r"^@cuda\.jit\ndef (\w+)", re.MULTILINE)
    for folder in (LESSON.parent, LESSON.parent / "solutions"):
        for path in folder.glob("step_*.py"):
            name = path.relative_to(LESSON.parent).with_suffix("").as_posix()
            listed = {kernel for file, kernel, _ in LESSON_KERNELS if file == name}
            assert set(decorated.findall(path.read_text("utf-8"))) <= listed, name


# Scatter images: the chaos game, trajectories of attractors, orbits of Buddhabrots.

VARIED = [{"variations": {name: 1}} for name in ("linear", "spherical", "swirl", "julia")]
SCATTERED = {
    "flame": {"name": "flame", "transforms": VARIED},
    "henon": {"name": "henon"},
    "lorenz": {"name": "lorenz"},
    "buddhabrot": {"name": "buddhabrot", "cells": 64},
}
# Machine instructions of a kernel, in float32 and in float64.
SCATTER_INSTRUCTIONS = {
    "flame": (1100, 1230),
    "henon": (690, 750),
    "lorenz": (760, 800),
    "buddhabrot": (1120, 1140),
}
every_scattered = pytest.mark.parametrize(
    ("name", "precision"),
    slow_but(
        [("flame", "float32"), ("buddhabrot", "float64"), ("lorenz", "float32")],
        itertools.product(SCATTERED, PRECISIONS),
    ),
)


@functools.cache
def scattering(name, precision):
    """Return the kernel that adds hits: of `SCATTERED`, or of a scene."""
    formula = SCATTERED.get(name) or fractals.load_scene(name).formula
    drawn = functools.partial(
        fractals.render,
        {"formula": formula},
        size=(1, 1),
        supersampling=1,
        quality=1.0,
        steps=1,
        device="cuda",
        precision=precision,
    )
    added = "atom.global.add.u64"
    with np.errstate(invalid="ignore"):  # no kernel runs, so colors are what memory held
        made = ptx.compile_kernels(drawn)
    return [each for each in made if added in ptx.text(each, HOPPER)][-1]


@every_scattered
def test_hits_are_added_without_an_answer(name, precision):
    """Four additions, none of which waits: REDG, and no ATOM, which returns the old value."""
    code = [each.name for each in ptx.instructions(ptx.binary(scattering(name, precision), HOPPER))]
    atomic = [each for each in code if each.startswith(("RED", "ATOM", "CAS"))]
    assert len(atomic) >= 4
    assert set(atomic) == {"REDG.E.ADD.64.STRONG.GPU"}


@every_scattered
def test_scatter_kernels_fit_into_registers(name, precision):
    made = scattering(name, precision)
    registers, local = ptx.resources(ptx.binary(made, HOPPER))
    assert local == 0
    assert registers <= (REGISTERS if precision == "float32" else REGISTERS_MORE)
    text = ptx.text(made, HOPPER)
    assert precision == "float64" or doubles(text) == []
    assert fused(text) == fused(ptx.unfused_text(made, HOPPER))
    assert ptx.lost_starts(text) == []


@every_scattered
def test_instructions_of_scatter_kernels(name, precision):
    """A whole kernel: a doubled loop, or numbers of a counter made twice, would be seen."""
    code = ptx.instructions(ptx.binary(scattering(name, precision), HOPPER))
    budget = SCATTER_INSTRUCTIONS[name][precision == "float64"]
    assert 0.9 * budget <= len(code) <= budget


WHOLE = re.compile(r"U?(IMAD(?!\.MOV|\.U32)|IADD|VIADD|ISETP|SHF|LEA|LOP3|PLOP3|SEL)")


def test_instructions_of_a_point_of_a_flame():
    """Its loop, the shortest that adds; most whole numbers in it are random ones."""
    code = ptx.instructions(ptx.binary(scattering("plume", "float32"), HOPPER))
    loops = [
        [each.name for each in code[jump.target : at + 1]]
        for at, jump in enumerate(code)
        if jump.target is not None and jump.target < at
    ]
    point = min((loop for loop in loops if any(name.startswith("RED") for name in loop)), key=len)
    assert len(point) <= 635
    assert sum(bool(WHOLE.match(name)) for name in point) <= 261


# Solids: rays that walk to a surface.


@functools.cache
def walking(name, precision):
    """Return the kernel of rays that walk to a solid."""
    solid = catalog.load("solid", name)()

    def draw():
        backend = open_backend(choose("cuda").device, precision)
        space = march.space_of(solid, solid.steps, precision)
        space = space._replace(numbers=backend.to_device(space.numbers))
        camera, out = np.ones(march.CONE + 1, precision), np.zeros((1, 1, 2), precision)
        run = backend.compile(march.make_first_body, solid.walk)
        run(backend.to_device(out), backend.to_device(camera), space)

    return ptx.compile_kernels(draw)[-1]


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize(
    "name", slow_but(["bicomplex", "solid_expression"], catalog.names("solid"))
)
def test_solids_are_rounded_as_written(name, precision):
    """No float64 in a float32 kernel, no product that the compiler adds, and no local memory."""
    made = walking(name, precision)
    text = ptx.text(made, HOPPER)
    assert precision == "float64" or doubles(text) == []
    assert fused(text) == fused(ptx.unfused_text(made, HOPPER))
    assert ptx.resources(ptx.binary(made, HOPPER))[1] == 0


@pytest.mark.parametrize("name", slow_but(["kleinian"], catalog.names("solid")))
def test_orbits_of_solids_begin_where_they_should(name):
    """Paths of light follow four orbits for a normal, of which two begin at the same x."""
    keys = {"formula": name, "size": (1, 1), "samples": 1, "bounces": 0, "supersampling": 1}
    made = ptx.compile_kernels(functools.partial(fractals.render, **keys, device="cuda"))
    assert len(made) >= 3
    assert all(ptx.lost_starts(ptx.text(each, HOPPER)) == [] for each in made)


# Reliefs: paths of light over a ground of heights.


def test_paths_over_a_ground_are_rounded_as_written():
    """No float64, no product that the compiler adds, and no local memory."""

    def draw():
        backend = open_backend(choose("cuda").device, "float32")
        real = backend.real
        ground = grounds.ground_of(np.ones((4, 5), real), np.ones((4, 5, 3), real))
        colors = np.ones((4, 4), real)
        numbers = np.ones(grounds.FLAT + 1, real), np.ones(lights.EMISSION + 3, real)
        shot = lights.Shot(*numbers, colors, lights.turns_of(1), 1, 0, 0, march.from_camera(real))
        run = backend.compile(paths.make_body, None, False, False, grounds.make_surface)
        sums, places = np.zeros((1, 1, 3), np.int64), np.zeros((1, 1, 2), np.int32)
        inputs = moved(backend, shot), moved(backend, ground)
        run(*on_lanes(backend, sums, places), np.int64(0), np.int64(1), *inputs)

    made = ptx.compile_kernels(draw)[-1]
    assert len(ptx.instructions(ptx.binary(made, HOPPER))) <= 2600
    text = ptx.text(made, HOPPER)
    assert doubles(text) == []
    # Random numbers are whole ones times 2**-24, an exact product, so it may be fused.
    exact = sum("fma" in line and "0f33800000" in line for line in text.splitlines())
    assert fused(text) - exact == fused(ptx.unfused_text(made, HOPPER))
    assert ptx.resources(ptx.binary(made, HOPPER))[1] == 0
