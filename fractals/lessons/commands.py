"""What teaches: `fractals learn`, the lessons, and `gpu`, which studies kernels without a GPU."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from fractals.cli import shared
from fractals.cli.command import FILE, option, section, together, verb, verb_group
from fractals.cli.messages import print_facts, tell, write_out
from fractals.cli.scenes import check_png, requested_scene
from fractals.errors import FractalsError, OptionError, shown
from fractals.lessons.steps import LANGUAGES, of_the_user, said

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fractals.lessons.steps import Step
    from fractals.scene.model import Scene

MODES = ("start", "check", "page", "report")
ANSWER = re.compile(r"exercise_(\d\d|[a-z])\.py")


@verb(
    "learn",
    "learn --start 1                     # write exercise_01.py, to be filled in",
    "learn --check 1 exercise_01.py",
    "learn --report                      # all steps: lesson.png and lesson.json",
)
@click.argument("step", required=False)
@click.argument("arguments", nargs=-1, metavar="[FILE]...", shell_complete=FILE)
@section(
    "Work",
    {
        "--start": "Write the exercise of the step here.",
        "--check": "Check the answer in FILE.",
        "--page": "Print the page of the step.",
        "--language, --lang language": "en or zh (default: the language of the system).",
        "--report": "Run all steps, or those that are named.",
    },
    language={"type": click.Choice(LANGUAGES)},
)
@option(
    "Output",
    "-o, --output FILE",
    "Chart of --report; the JSON has the same name (default: lesson.png).",
    default="lesson.png",
)
@shared.overwrite_option
def learn_command(
    step: str | None,
    arguments: tuple[str, ...],
    language: str | None,
    output: str,
    overwrite: bool,
    **modes: bool,
) -> None:
    """Go through the lessons, from a loop in Python to the limit of CPU and GPU.

    Without STEP the steps are listed. STEP is a number from 0 to 14, or a to d. Without --start,
    --check, --page or --report the script of the step is run, with FILE as its arguments: some
    scripts save their picture there.
    """
    from fractals.lessons.steps import (
        all_steps,
        check_answer,
        find_step,
        lessons_folder,
        run_script,
        start,
    )

    language = language or of_the_user()

    def here(text: str) -> str:
        return said(text, lessons_folder(), language)

    chosen = [name for name in MODES if modes[name]]
    if len(chosen) > 1:
        raise OptionError(f"--{chosen[0]} and --{chosen[1]}: give one of them")
    mode = chosen[0] if chosen else "run"
    if mode == "report":
        named = [find_step(key) for key in ((step, *arguments) if step else ())]
        _report(named or all_steps(), Path(output), overwrite)
    elif step is None:
        if mode != "run":
            raise OptionError(f"--{mode}: name a step, as in 'fractals learn --{mode} 1'")
        _list(all_steps(), language, here)
    elif mode == "run":
        run_script(find_step(step), arguments, _ladder())
    elif mode == "check":
        if not arguments and (answer := ANSWER.fullmatch(Path(step).name)):
            step, arguments = answer[1], (step,)  # the file's name has the step
        if len(arguments) != 1:
            raise OptionError(f"--check: name one file: fractals learn --check {step} FILE")
        found = find_step(step)
        check_answer(found, arguments[0], language=language)
        write_out(here(f"step {found.key}: passed") + "\n")
        later = all_steps()[all_steps().index(found) + 1 :]
        next_page = f"next: fractals learn --page {later[0].key}" if later else ""
        tell(here(next_page or "this was the last step"))
    elif arguments:
        raise OptionError(f"--{mode}: unexpected argument '{shown(arguments[0], 80)}'")
    elif mode == "start":
        tell(here(f"{start(find_step(step), overwrite, language)}: written"))
    else:
        _page(find_step(step), language)


def _list(steps: "list[Step]", language: str, here: Callable[[str], str]) -> None:
    """Print the steps, and how to go on."""
    ways = {
        "--page 1": "prints the page of step 1",
        "1 picture.png": "runs its script, saves its picture",
        "--start 1": "writes its exercise, exercise_01.py",
        "--check exercise_01.py": "checks your answer",
    }
    lines = [f"{step.key:>3}  {step.summary(language)}" for step in steps]
    lines += ["", *(f"fractals learn {words:24}{here(text)}" for words, text in ways.items())]
    other = {"en": "中文：fractals learn --language zh", "zh": "In English: --language en"}
    lines += [here(f"All files: {steps[0].script.parent}"), other[language]]
    write_out("\n".join(lines) + "\n")


def _page(step: "Step", language: str) -> None:
    """Print a page without the comments that name its blocks of code."""
    path = step.page(language)
    if not path.is_file():
        raise FractalsError(f"step {step.key} has no page in this language: {path.name} is missing")
    lines = path.read_text("utf-8").splitlines(keepends=True)
    write_out("".join(line for line in lines if not line.startswith("<!-- ")))


def _ladder() -> Path | None:
    """Return the file to which scripts append their figures; None where none can be written."""
    import os

    import platformdirs

    from fractals.lessons.steps import LADDER

    if given := os.environ.get(LADDER):
        return Path(given)
    folder = Path(platformdirs.user_cache_dir("fractals", appauthor=False))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder / "ladder.jsonl" if os.access(folder, os.W_OK) else None


def _report(steps: "list[Step]", path: Path, overwrite: bool) -> None:
    """Run steps, and write the chart and the JSON."""
    import json

    from fractals.io.files import check_output, written
    from fractals.lessons.steps import chart, measure

    check_png(path, overwrite)
    outputs = {"chart": path, "figures": path.with_suffix(".json")}
    check_output(outputs["figures"], overwrite)
    found = measure(steps, tell)
    texts = {
        "chart": chart(found),
        "figures": json.dumps(found, indent=2).encode() + b"\n",
    }
    for name, each in outputs.items():
        with written(each, overwrite) as file:
            file.write(texts[name])
        tell(f"{each}: written")
    failed = [step["error"] for step in found["steps"] if "error" in step]
    if failed:
        raise FractalsError("\n".join(failed))


# --- `fractals gpu`: instruments that study GPU kernels on a machine without a GPU

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

    found = access.log_of_script(script, list(arguments)).accesses()
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
    clock=click.FloatRange(0, min_open=True),
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
    instructions=click.FloatRange(0, min_open=True),
    doubles=click.FloatRange(0),
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
    from fractals.lessons.machine import sources

    every, dialect = options.pop("all"), METAL if options.pop("metal") else OPENCL
    found = sources(requested_scene(scenes, options), dialect)
    click.echo("\n".join(each.text for each in (found if every else found[:1])), nl=False)


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

    An `OptionError` refuses perturbation, where counts are not the steps taken.
    """
    import fractals

    samples = scene.image.supersampling
    across, down = scene.image.size
    single = scene.replace(size=(across * samples, down * samples), supersampling=1)
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
