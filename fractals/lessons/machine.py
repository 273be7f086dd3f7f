"""Instructions that a kernel becomes on a GPU, counted on a machine without one.

Numba's extra `gpu` compiles kernels to PTX, which suits every card, and to the machine code of one
compute capability. The tools `cuobjdump` and `nvdisasm` list machine code; without them the
instructions of PTX are counted, which are nearly as many in a loop of floating-point arithmetic.
"""

import functools
import importlib
import importlib.util
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fractals.backends import cuda_driver
from fractals.backends.cuda import LIMITS
from fractals.backends.devices import open_one_core
from fractals.catalog import did_you_mean
from fractals.errors import FractalsError, OptionError, shown, to_install
from fractals.kernels.coloring import Coloring, OrbitStatistic
from fractals.kernels.escape import EscapeOptions
from fractals.kernels.layout import SampleGrid
from fractals.kernels.orbit import Statistics
from fractals.lessons.access import WARP, measure, run_file
from fractals.lessons.steps_kernel import count_steps, make_steps_body
from fractals.rendering.plan import make_plan
from fractals.rendering.sampling import coordinates
from fractals.scene.model import Scene

# Predicted time of a picture on a GPU, from counted instructions, cores and clock.
#
# The prediction is the time to issue the iterations' instructions on every core in every cycle. A
# launch, the copy to the host, colors, and whatever keeps cores waiting come on top.


Precision = Literal["float32", "float64"]
Ints = NDArray[np.int32]


class Card(NamedTuple):
    """A GPU, by its maker's public figures."""

    title: str
    cores: int  # float32 lanes ("CUDA cores") of all multiprocessors together
    clock: float  # boost clock in GHz
    double: float  # float64 operations per float32 operation


CARDS = {
    "t4": Card("Tesla T4 (Colab)", 2560, 1.59, 1 / 32),
    "v100": Card("Tesla V100 SXM2", 5120, 1.53, 1 / 2),
    "a100": Card("A100 SXM", 6912, 1.41, 1 / 2),
    "h100": Card("H100 SXM", 16896, 1.98, 1 / 2),
    "h200": Card("H200", 16896, 1.98, 1 / 2),
    "gtx1080ti": Card("GeForce GTX 1080 Ti", 3584, 1.582, 1 / 32),
    "rtx2080ti": Card("GeForce RTX 2080 Ti", 4352, 1.545, 1 / 32),
    "rtx3060": Card("GeForce RTX 3060", 3584, 1.777, 1 / 64),
    "rtx3090": Card("GeForce RTX 3090", 10496, 1.695, 1 / 64),
    "rtx4060": Card("GeForce RTX 4060", 3072, 2.46, 1 / 64),
    "rtx4090": Card("GeForce RTX 4090", 16384, 2.52, 1 / 64),
    "rtx5090": Card("GeForce RTX 5090", 21760, 2.407, 1 / 64),
}

# Machine instructions an iteration on compute capability 9.0, at most, the test at a block's end
# included: in float32, in float64, and in both with dz. `scripts/ptx` counts them again.
INSTRUCTIONS = {
    "buffalo": (5.9, 6.0, 24.0, 32.0),
    "burning_ship": (4.9, 5.0, 20.0, 24.0),
    "celtic_heart": (5.9, 6.0, 21.75, 27.75),
    "heart": (4.9, 5.0, 18.0, 20.25),
    "celtic": (5.9, 6.0, 20.25, 24.25),
    "mandelbrot": (4.9, 5.0, 11.0, 11.25),
    "multibrot2": (4.9, 5.0, 11.0, 11.25),
    "multibrot3": (9.0, 9.0, 20.0, 20.25),
    "multibrot4": (9.0, 9.0, 24.0, 24.0),
    "multibrot5": (13.0, 13.0, 32.0, 32.0),
    "multibrot6": (13.0, 13.0, 36.5, 36.5),
    "multibrot7": (17.0, 17.0, 45.0, 45.0),
    "multibrot8": (17.0, 17.0, 49.0, 49.0),
    "perpendicular_burning_ship": (4.9, 5.0, 19.0, 23.25),
    "shark_fin": (4.9, 5.0, 16.0, 16.25),
    "simonobrot": (7.9, 8.0, 29.0, 29.0),
    "tricorn": (4.9, 5.0, 16.0, 16.25),
}
# Of those in float64, per iteration: copies and jumps at a block's end, the rest is arithmetic.
NOT_DOUBLE = 0.7
# Of an escape kernel beside these, in machine code of the same capability: an iteration that is
# tested alone (3 of them float64 arithmetic), a mark of the search for a cycle, and a sample with
# its position, the test for the main cardioid and its result (13 in float64).
PER_TEST, PER_MARK, PER_SAMPLE = (5, 3), (21, 0), (102, 13)


class Prediction(NamedTuple):
    """The time that a card needs at least, and what it was computed from."""

    card: Card
    seconds: float
    iterations_per_second: float  # of all lanes, the waiting ones included

    def to_table(self) -> dict[str, Any]:
        """Return the facts for JSON."""
        return {
            **self.card._asdict(),
            "seconds": self.seconds,
            "iterations_per_second": self.iterations_per_second,
        }


def card(name: str) -> Card:
    """Return a card of the table."""
    key = name.lower().replace(" ", "").replace("-", "")
    if key not in CARDS:
        meant = did_you_mean(key[:50], CARDS)
        hint = f"{meant} Or give" if meant else f"; choose {', '.join(CARDS)}, or give"
        raise OptionError(f"unknown card '{shown(name, 40)}'{hint} cores= and clock=")
    return CARDS[key]


def instructions_per_iteration(formula: str, precision: Precision) -> float:
    """Return the counted machine instructions an iteration of a formula, without dz."""
    if formula not in INSTRUCTIONS:
        raise OptionError(
            f"the instructions of '{shown(formula, 40)}' are not counted: give instructions=, "
            f"or choose {', '.join(INSTRUCTIONS)}"
        )
    return INSTRUCTIONS[formula][precision == "float64"]


def doubles(formula: str, precision: Precision) -> float:
    """Return how many of a formula's counted instructions are float64 arithmetic."""
    return (
        instructions_per_iteration(formula, precision) - NOT_DOUBLE
        if precision == "float64"
        else 0.0
    )


class WarpWork(NamedTuple):
    """What all warps of a kernel execute together, an instruction counted once for a warp."""

    instructions: float
    doubles: float  # those of float64 arithmetic


# An orbit statistic that counts iterations; no picture is colored by it.
STEPS = Coloring(
    "steps", "iterations", cast(Any, None), statistic=OrbitStatistic("s", ("n",), count_steps)
)


def steps_of(scene: Scene, precision: Precision) -> tuple[Ints, Ints, int]:
    """Return the counts of all samples, the iterations of each on a GPU, and the limit.

    The CPU runs the source of the GPU's kernel, which ends orbits of the interior early: at once
    in the main cardioid and disk, or when the search finds a cycle. `scene` has one sample a pixel.
    """
    planned = make_plan(scene.replace(precision=precision))
    backend = open_one_core(precision)
    formula = scene.make_formula()
    options = EscapeOptions(
        formula.compiled(),
        julia=scene.julia is not None,
        steps_per_check=LIMITS.steps_per_check,
        check_every_step=planned.check_every_step,
        statistics=Statistics((STEPS,)),
    )
    taken = np.zeros((2, planned.size[1], planned.size[0]), np.int32)
    grid = SampleGrid(*(part.astype(backend.real) for part in coordinates(planned)))
    radius_squared = scene.iteration.escape_radius**2
    point = [*map(float, scene.julia or (0, 0)), radius_squared, *formula.options]
    limit = np.int32(planned.max_iterations)
    backend.compile(make_steps_body, options)(taken, grid, np.array(point, backend.real), limit)
    return taken[0], taken[1], planned.max_iterations


def work_of(
    count: ArrayLike,
    steps: ArrayLike,
    limit: int,
    block: tuple[int, int],
    formula: str,
    precision: Precision,
) -> WarpWork:
    """Return what the warps of fractals' own kernel execute for what `steps_of` returns.

    The kernel tests an orbit after blocks of iterations. The block in which the orbit escaped is
    run again, an iteration at a time.
    """
    length = LIMITS.steps_per_check
    counts, taken = np.asarray(count, np.int64), np.asarray(steps, np.int64)
    ended = (counts >= limit) & (taken < limit)  # by a test for the interior, or by a cycle
    before = np.maximum(counts - 1, 0) // length  # blocks in which the orbit did not escape
    blocks = np.where(before < (limit - 1) // length, before + 1, before)
    alone = np.where(ended, 0, counts - length * before)
    blocks = np.where(ended, taken // length, blocks)
    # After 1, 2, 4, 8, ... blocks.
    marks = np.where(blocks > 0, 1 + np.ceil(np.log2(np.maximum(blocks, 1))), 0)
    step = WarpWork(instructions_per_iteration(formula, precision), doubles(formula, precision))
    found = np.zeros(2)
    for times, each in (
        (length * blocks, step),
        (alone, np.add(step, PER_TEST)),
        (marks, PER_MARK),
        (np.ones_like(counts), PER_SAMPLE),
    ):
        found += measure(times, block).warp_steps * np.array(each)
    return WarpWork(float(found[0]), float(found[1]) if precision == "float64" else 0.0)


def predict(warp_steps: int, instructions: float, on: Card, doubles: float = 0.0) -> Prediction:
    """Return the shortest time in which a card can execute the steps of all warps.

    It is bounded by the rate at which the card issues instructions, and by that of its float64
    arithmetic. `warp_steps` are those of all warps together, as `fractals.lessons.access.measure`
    counts them; `instructions` are those of a step, and `doubles` the ones of float64 arithmetic.

    >>> f"{predict(10**9, 4.9, CARDS['h200']).seconds:.5f} s"
    '0.00469 s'
    """
    rate = on.cores * on.clock * 1e9 / max(instructions, doubles / on.double)
    return Prediction(on, WARP * warp_steps / rate, rate)


MACHINE = re.compile(r"/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)\s*([^;]*);")
VIRTUAL = re.compile(r"^(?:(\$\w+):|\s*(?:@!?%p\d+\s+)?([a-z][\w.]*)\s*([^;]*);)", re.MULTILINE)
# Of a loop, floating-point arithmetic, in machine code and in PTX.
ARITHMETIC = re.compile(
    r"[FD](ADD|MUL|FMA|SETP?|MNMX|SEL)|(add|sub|mul|fma|setp|min|max)\S*\.f\d\d"
)
# Of PTX, -x and |x|: machine code takes them of an operand where it is used.
FREE = re.compile(r"NOP$|(neg|abs)\.f\d\d")
DOUBLE = re.compile(r"D(ADD|MUL|FMA|SETP|MNMX)|\S+\.f64")
TOOLS = ("nvidia-cuda-cuobjdump", "nvidia-cuda-nvdisasm")


class Instruction(NamedTuple):
    """An instruction; `target` is the list index to which a branch jumps, or None."""

    name: str
    target: int | None


class Loop(NamedTuple):
    """The innermost loop of a kernel that has the most arithmetic."""

    names: tuple[str, ...]  # its instructions
    language: str  # "machine code", or "PTX" where the tools that list machine code are missing

    @property
    def arithmetic(self) -> int:
        """Instructions of floating-point arithmetic."""
        return sum(bool(ARITHMETIC.match(name)) for name in self.names)

    @property
    def double(self) -> int:
        """Instructions of float64 arithmetic."""
        return sum(bool(ARITHMETIC.match(name) and DOUBLE.match(name)) for name in self.names)

    def to_table(self) -> dict[str, Any]:
        """Return the facts for JSON."""
        return {
            "instructions": len(self.names),
            "language": self.language,
            "arithmetic": self.arithmetic,
            "float64": self.double,
            "names": dict(Counter(self.names)),
        }


def count(path: str, kernel: str, signature: str, capability: tuple[int, int] = (9, 0)) -> Loop:
    """Return the innermost loop of a kernel in a Python file, for a card's compute capability.

    The file is run as a module of its own name. `kernel` is the name of a function in it, made by
    ``@cuda.jit``, and `signature` the types of its arguments, as Numba writes them: ``"float32,
    int32[:,::1]"``. Without CUDA's compiler a `FractalsError` says so.
    """
    from fractals.backends.cuda import numba_private

    if importlib.util.find_spec("numba_cuda") is None:
        raise FractalsError(
            f"CUDA's compiler is not installed; it needs no GPU: {to_install('gpu')}. To count "
            f"machine code in place of PTX, install {' and '.join(TOOLS)} too"
        )
    if cuda_driver.numba_simulates():
        raise FractalsError("NUMBA_ENABLE_CUDASIM is set: unset it to compile for a GPU")
    try:
        made = run_file(path, [], "cuda", "kernels").get(kernel)
        if not hasattr(made, "py_func"):
            raise OptionError(f"no kernel '{shown(kernel, 40)}' in {shown(path, 80)}")
        text, binary = numba_private.code_of_kernel(made, f"({signature},)", capability)
    except FractalsError:
        raise
    except Exception as error:
        line = f"{type(error).__name__}: {error}".splitlines()[0]
        raise FractalsError(f"{shown(kernel, 40)} does not compile: {line}") from error
    if find_tool("cuobjdump") and find_tool("nvdisasm"):
        return Loop(_names(hot_loop(instructions(binary))), "machine code")
    return Loop(_names(hot_loop(virtual_instructions(text))), "PTX")


def _names(code: Sequence[Instruction]) -> tuple[str, ...]:
    if not code:
        raise OptionError("the kernel has no loop")
    return tuple(each.name for each in code)


def hot_loop(code: Sequence[Instruction]) -> list[Instruction]:
    """Return the instructions of the innermost loop with the most arithmetic.

    >>> loop = [Instruction("FADD", None), Instruction("BRA", 1), Instruction("EXIT", None)]
    >>> hot_loop([Instruction("MOV", None), *loop])
    [Instruction(name='FADD', target=None), Instruction(name='BRA', target=1)]
    """
    return max(
        inner_loops(code),
        key=lambda body: sum(bool(ARITHMETIC.match(each.name)) for each in body),
        default=[],
    )


def inner_loops(code: Sequence[Instruction]) -> list[list[Instruction]]:
    """Return the instructions of each loop that holds no other."""
    loops = [
        range(instruction.target, place + 1)
        for place, instruction in enumerate(code)
        if instruction.target is not None and instruction.target < place
    ]
    inner = [a for a in loops if not any(b[0] in a and b[-1] in a and a != b for b in loops)]
    return [[code[i] for i in loop if not FREE.match(code[i].name)] for loop in inner]


@functools.cache
def instructions(binary: bytes) -> list[Instruction]:
    """Return the machine instructions of a binary, function by function."""
    found: list[Instruction] = []
    for function in dump("--dump-sass", binary).split("Function :")[1:]:
        lines = MACHINE.findall(function)
        places = {int(address, 16): len(found) + i for i, (address, _, _) in enumerate(lines)}
        for _, name, operands in lines:
            target = re.search(r"\b0x([0-9a-f]+)\s*$", operands) if name.startswith("BRA") else None
            found.append(Instruction(name, places[int(target[1], 16)] if target else None))
    return found


def virtual_instructions(ptx: str) -> list[Instruction]:
    """Return the instructions of PTX; declarations are none.

    >>> virtual_instructions("$L1:\\n\\tadd.f32 \\t%f1, %f1, %f2;\\n\\t@%p1 bra \\t$L1;\\n")
    [Instruction(name='add.f32', target=None), Instruction(name='bra', target=0)]
    """
    places: dict[str, int] = {}
    found: list[tuple[str, str]] = []
    for label, name, operands in VIRTUAL.findall(ptx):
        if label:
            places[label] = len(found)
        else:
            found.append((name, operands.strip()))
    return [
        Instruction(name, places.get(operands) if name.startswith("bra") else None)
        for name, operands in found
    ]


def resources(binary: bytes) -> tuple[int, int]:
    """Return the registers and the bytes of local memory (spilled registers) per thread."""
    use = re.findall(r"\b(REG|STACK|LOCAL):(\d+)", dump("--dump-resource-usage", binary))
    amount = {name: int(number) for name, number in use}
    return amount["REG"], amount["STACK"] + amount["LOCAL"]


def dump(option: str, binary: bytes) -> str:
    """Return what cuobjdump prints about a binary."""
    tool = find_tool("cuobjdump")
    assert tool is not None
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(binary)
        file.flush()
        command = [tool, option, file.name]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def find_tool(name: str) -> str | None:
    """Return the path of a tool of CUDA, or None where it is not installed."""
    if importlib.util.find_spec("cuda") is None:
        return None
    pathfinder: Any = importlib.import_module("cuda.pathfinder")
    path: str | None = pathfinder.find_nvidia_binary_utility(name)
    return path


def parse_capability(text: str) -> tuple[int, int]:
    """Return a compute capability.

    >>> parse_capability("8.6")
    (8, 6)
    """
    found = re.fullmatch(r"(\d{1,2})\.(\d)", text)
    if not found:
        raise OptionError(f"capability=: '{shown(text, 40)}' is not of the form 9.0")
    return int(found[1]), int(found[2])
