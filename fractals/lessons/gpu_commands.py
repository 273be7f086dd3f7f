"""`fractals gpu`: instruments that study GPU kernels on a machine without a GPU."""

import contextlib
import math
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from fractals.cli import shared
from fractals.cli.command import FILE, option, section, together, verb, verb_group
from fractals.cli.messages import print_facts, tell, write_out
from fractals.cli.scenes import check_png, requested_scene
from fractals.errors import OptionError, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fractals.scene.model import Scene


class Amount(click.FloatRange):
    """A number above 0, or 0 too; that of click lets NaN through."""

    name = "number"

    def __init__(self, without_0: bool = True) -> None:
        super().__init__(0, 1e9, min_open=without_0)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number of a text."""
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{number} is no number", param, ctx)
        return number


block_option = option(
    "Kernel",
    "--block WxH blocks",
    "Threads of a block in x and y; may be repeated (default: 32x1, 8x4 and 16x16).",
    multiple=True,
)
sample_options = together(
    option("Picture", "--supersampling N", "N x N samples per pixel, each a thread of its own."),
    shared.max_iterations_option,
)


@verb_group(
    "gpu",
    "instrument",
    "Instruments",
    "gpu divergence seahorse -o map.png",
    "gpu access kernel.py",
    "gpu predict seahorse --card rtx4090",
)
def gpu_command() -> None:
    """Study GPU kernels without a GPU: divergence, memory access and predicted times.

    `fractals devices` lists the GPUs of this machine.
    """


@verb(
    "divergence",
    "gpu divergence seahorse              # a table",
    "gpu divergence seahorse --size 480x320 -o map.png",
    "gpu divergence --block 32x4 --block 64x1 --json",
)
@shared.scene_arguments
@block_option
@sample_options
@shared.view_options
@shared.output_option("Map to write, a PNG: warps whose lanes are busy are white.", ".png")
@shared.overwrite_option
@shared.json_option
def divergence_command(
    scenes: tuple[str, ...],
    blocks: tuple[str, ...],
    output: str | None,
    overwrite: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Compute from counts how many lanes of each warp are busy.

    The CPU computes the counts. A thread computes one sample; interior samples take the full
    number of iterations, as in a kernel without interior shortcuts.
    """
    from fractals.io.files import written
    from fractals.lessons import access
    from fractals.tools import sheet

    if output is not None:
        check_png(output, overwrite)
    shapes = [parse_block(text) for text in blocks] or access.BLOCKS
    count = counts_of(requested_scene(scenes, options))
    found = [access.measure(count, shape) for shape in shapes]
    rows = [f"{'block':10}{'lanes busy':>12}{'slots busy':>12}{'warp steps':>16}"]
    for each in found:
        row = f"{'{}x{}'.format(*each.block):10}{each.lanes_busy:12.1%}{each.slots_busy:12.1%}"
        rows.append(f"{row}{each.warp_steps:16,}")
    table = {"divergence": [each.to_table() for each in found]}
    print_facts(table, "\n".join(rows) + "\n", as_json)
    if output is not None:
        with written(output, overwrite) as file:
            file.write(sheet.png(access.draw(found)))
        tell(f"{output}: a warp is white where all of its lanes are busy")


@verb(
    "access",
    "gpu access kernel.py                 # lines of memory that each warp touches",
    "gpu access kernel.py 64 --json       # with an argument of the script",
    "gpu access kernel.py --line 12",
)
@click.argument("script", shell_complete=FILE)
@click.argument("arguments", nargs=-1)
@option(
    "Kernel", "--line N", "Only the accesses of this line of the script.", type=click.IntRange(1)
)
@shared.json_option
def access_command(
    script: str, arguments: tuple[str, ...], line: int | None, as_json: bool
) -> None:
    """Run a script in the simulator of CUDA and count the memory lines that warps touch.

    SCRIPT is Python with kernels made by @cuda.jit, and is run as Python runs it. A step is one
    load or store of the 32 threads of a warp. One line of 128 bytes a step is the fewest where
    threads use float32. Shared and local memory are not counted. Keep arrays small: a simulated
    thread takes about 0.1 ms.
    """
    from fractals.lessons import access

    # What the script prints would stand before the JSON.
    with contextlib.redirect_stdout(sys.stderr) if as_json else contextlib.nullcontext():
        found = access.log_of_script(script, list(arguments)).accesses()
    if not found:
        tell(f"{shown(script, 80)}: no kernel made by @cuda.jit loaded or stored anything")
    if line is not None:
        name = str(Path(script).resolve())
        found = [
            each
            for each in found
            if each.place.line == line and str(Path(each.place.file).resolve()) == name
        ]
    accesses = {"accesses": [each.to_table() for each in found]}
    print_facts(accesses, access.table(found) + "\n", as_json)


@verb(
    "predict",
    "gpu predict seahorse                 # on every card of the table",
    "gpu predict seahorse --card rtx4090 --precision float32",
    "gpu predict seahorse --cores 5888 --clock 2.48 --instructions 14",
)
@shared.scene_arguments
@section(
    "Card",
    {
        "--card NAME": "A card of the table, such as t4, h100 or rtx4090 (default: all).",
        "--cores N": "Cores of another card; requires --clock.",
        "--clock GHZ": "Boost clock of that card.",
        "--double SHARE": "Rate of float64 by the rate of float32 (default: 1/64).",
    },
    cores=click.IntRange(1),
    clock=Amount(),
    double={"default": "1/64"},
)
@section(
    "Kernel",
    {
        "--instructions N": (
            "Machine instructions of an iteration (default: those counted for the formula)."
        ),
        "--doubles N": (
            "Float64 arithmetic among --instructions (default: none in float32, all in float64)."
        ),
        "--precision TYPE": "Number type: float32 (the default) or float64.",
        "--block WxH": "Threads of a block in x and y (default: 8x8, which fractals uses).",
    },
    instructions=Amount(),
    doubles=Amount(without_0=False),
    precision={"default": "float32", "type": click.Choice(["float32", "float64"])},
    block={"default": "8x8"},
)
@sample_options
@shared.view_options
@shared.json_option
def predict_command(
    scenes: tuple[str, ...],
    card: str | None,
    cores: int | None,
    clock: float | None,
    double: str,
    instructions: float | None,
    doubles: float | None,
    precision: str,
    block: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Predict the time of a picture on a GPU from counted instructions.

    The time is what the card's cores need to issue the instructions of all iterations and, without
    --instructions, those that the kernel of fractals takes beside them for each sample. Copies,
    colors and launches come on top. Interior samples take as many iterations as in the kernel of
    fractals, which ends most of them early; with --instructions they take all.
    """
    import numpy as np

    from fractals.lessons import access, machine

    scene = requested_scene(scenes, options)
    number = cast(machine.Precision, precision)
    name, shape = scene.make_formula().name, parse_block(block)
    own = instructions is doubles is None
    if instructions is None:
        instructions = machine.instructions_per_iteration(name, number)
        doubles = machine.doubles(name, number) if doubles is None else doubles
    elif doubles is None:
        doubles = instructions if number == "float64" else 0.0
    if (cores is None) != (clock is None):
        raise OptionError("--cores and --clock are given together")
    if cores is not None and clock is not None:
        cards = [machine.Card("this card", cores, clock, share(double))]
    else:
        cards = [machine.card(card)] if card else list(machine.CARDS.values())
    if own:
        count, taken, limit = machine.steps_of(samples_of(scene), number)
        work = machine.work_of(count, taken, limit, shape, name, number)
        busy = access.measure(np.minimum(count, taken), shape)
        steps = max(busy.warp_steps, 1)
    else:
        busy = access.measure(counts_of(scene), shape)
        steps = busy.warp_steps
        work = machine.WarpWork(instructions * steps, doubles * steps)
    each_step = [amount / max(steps, 1) for amount in work]
    found = [machine.predict(steps, each_step[0], each, each_step[1]) for each in cards]
    table = {
        **busy.to_table(),
        "instructions": instructions,
        "doubles": doubles,
        "warp_instructions": work.instructions,
        "precision": precision,
        "predictions": [each.to_table() for each in found],
    }
    head = f"{instructions:g} instructions an iteration, {precision}, "
    head += f"{work.instructions:,.0f} of all warps, {busy.lanes_busy:.1%} of lanes busy"
    rows = [f"{head}; at least:"]
    for each in found:
        rate = each.iterations_per_second / 1e12
        rows.append(f"{each.card.title:22}{1e3 * each.seconds:12.4f} ms{rate:10.2f} T it/s")
    print_facts(table, "\n".join(rows) + "\n", as_json)


@verb(
    "instructions",
    "gpu instructions kernel.py add 'float32[::1], float32[::1], float32[::1]'",
    "gpu instructions kernel.py mandel 'float64, int64, int32[:,::1]' --capability 8.6",
    "gpu instructions kernel.py mandel 'float32, int32, int32[:,::1]' --json",
)
@click.argument("script", shell_complete=FILE)
@click.argument("kernel")
@click.argument("types")
@option(
    "Card",
    "--capability X.Y",
    "Compute capability of the card (default: 9.0, an H100).",
    default="9.0",
)
@shared.json_option
def instructions_command(
    script: str, kernel: str, types: str, capability: str, as_json: bool
) -> None:
    """Count the machine instructions in the innermost loop of a kernel.

    SCRIPT is a Python file, KERNEL a function in it made by @cuda.jit, and TYPES the types of its
    arguments as Numba writes them. No GPU is needed, but the extra gpu and, for machine code, the
    packages nvidia-cuda-cuobjdump and nvidia-cuda-nvdisasm. Without these two the instructions of
    PTX are counted.
    """
    from fractals.lessons import machine

    loop = machine.count(script, kernel, types, machine.parse_capability(capability))
    text = (
        f"{len(loop.names)} instructions of {loop.language} in the innermost loop of {kernel}: "
        f"{loop.arithmetic} of arithmetic, of which {loop.double} in float64\n"
        f"{' '.join(loop.names)}\n"
    )
    print_facts(loop.to_table(), text, as_json)


@verb(
    "source",
    "gpu source seahorse                  # what iterates",
    "gpu source seahorse --all > kernels.cl",
    "gpu source mandelbulb                # rays and light",
)
@shared.scene_arguments
@option("Kernel", "--all", "All kernels of the picture, those that color it, too.", is_flag=True)
@option("Kernel", "--metal", "As Metal's C++, which nobody has run yet; float32.", is_flag=True)
@shared.view_options
def source_command(scenes: tuple[str, ...], **options: Any) -> None:
    """Print a scene's kernel as OpenCL C: what the device opencl compiles.

    The text is translated from the Python functions that all devices share; a comment names file
    and line of each. Neither a GPU nor pyopencl is needed.
    """
    from fractals.backends.opencl.values import METAL, OPENCL
    from fractals.lessons.kernel_sources import sources

    every, dialect = options.pop("all"), METAL if options.pop("metal") else OPENCL
    found = sources(requested_scene(scenes, options), dialect)
    write_out("\n".join(each.text for each in (found if every else found[:1])))


def parse_block(text: str) -> tuple[int, int]:
    """Return the threads of a block in x and y.

    >>> parse_block("16x8")
    (16, 8)
    """
    found = re.fullmatch(r"(\d{1,4})[xX](\d{1,4})", text)
    if not found:
        raise OptionError(f"--block: '{shown(text, 40)}' is not WIDTHxHEIGHT, such as 16x8")
    return int(found[1]), int(found[2])


def share(text: str) -> float:
    """Return a share, such as 1/64 or 0.5."""
    above, _, below = text.partition("/")
    try:
        value = float(above) / float(below or 1)
    except (ValueError, ZeroDivisionError):
        value = 0.0
    if not 0 < value <= 1:
        raise OptionError(f"--double: '{shown(text, 40)}' is not a share, such as 1/64")
    return value


def samples_of(scene: "Scene") -> "Scene":
    """Return a scene whose pixels are all samples of another.

    Of a relief these are the samples of its plane. An `OptionError` refuses images of other
    families, which have no counts, and perturbation, where counts are not the steps taken.
    """
    import fractals

    scene.make_formula()
    samples = scene.image.supersampling
    across, down = scene.image.size
    size = across * samples, down * samples
    single = scene.replace(size=size, supersampling=1, heights="none")
    if fractals.plan(single, device="cpu").method != "direct":
        raise OptionError("perturbation skips steps, so counts say nothing: choose a wider view")
    return single


def counts_of(scene: "Scene") -> "NDArray[Any]":
    """Return the counts of all samples of a scene, computed on the CPU."""
    import fractals

    count: NDArray[Any] = fractals.compute(samples_of(scene), device="cpu").count
    return count


for instrument in (
    *(divergence_command, access_command, instructions_command, predict_command),
    source_command,
):
    gpu_command.add_command(instrument)
