"""`fractals learn`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fractals.cli import shared
from fractals.cli.command import FILE, option, section, verb
from fractals.cli.messages import tell, write_out
from fractals.cli.scenes import check_png
from fractals.errors import FractalsError, OptionError, shown

if TYPE_CHECKING:
    from fractals.tools.learn.run import Step

MODES = ("start", "check", "page", "report")


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
        "--language": "Language of --page: en or zh.",
        "--report": "Run all steps, or those that are named.",
    },
    language={"type": click.Choice(["en", "zh"]), "default": "en"},
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
    language: str,
    output: str,
    overwrite: bool,
    **modes: bool,
) -> None:
    """Go through the lessons, from a loop in Python to the limit of CPU and GPU.

    Without STEP the steps are listed. STEP is a number from 0 to 14, or a, b, c. Without --start,
    --check, --page or --report the script of the step is run, with FILE as its arguments: some
    scripts save their picture there.
    """
    from fractals.tools.learn import run
    from fractals.tools.learn.run import all_steps, find_step, start

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
        _list(all_steps())
    elif mode == "run":
        run.run_script(find_step(step), arguments, _ladder())
    elif mode == "check":
        if len(arguments) != 1:
            raise OptionError(f"--check: name one file: fractals learn --check {step} FILE")
        found = find_step(step)
        run.check_answer(found, arguments[0])
        write_out(f"step {found.key}: passed\n")
        later = all_steps()[all_steps().index(found) + 1 :]
        tell(f"next: fractals learn --page {later[0].key}" if later else "this was the last step")
    elif arguments:
        raise OptionError(f"--{mode}: unexpected argument '{shown(arguments[0], 80)}'")
    elif mode == "start":
        tell(f"{start(find_step(step), overwrite)}: written")
    else:
        _page(find_step(step), language)


def _list(steps: "list[Step]") -> None:
    """Print the steps, and how to go on."""
    lines = [f"{step.key:>3}  {step.name.replace('_', ' '):18}{step.summary}" for step in steps]
    lines += [
        "",
        "fractals learn --page 1     prints the page of step 1; --language zh in Chinese",
        "fractals learn 1            runs its script, and prints its time",
        "fractals learn --start 1    writes its exercise, exercise_01.py",
        "fractals learn --check 1 exercise_01.py",
        f"All files: {steps[0].script.parent}",
    ]
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

    from fractals.tools.learn.run import LADDER

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
    from fractals.tools.learn import report

    check_png(path, overwrite)
    outputs = {"chart": path, "figures": path.with_suffix(".json")}
    check_output(outputs["figures"], overwrite)
    found = report.measure(steps, tell)
    texts = {
        "chart": report.chart(found),
        "figures": json.dumps(found, indent=2).encode() + b"\n",
    }
    for name, each in outputs.items():
        with written(each, overwrite) as file:
            file.write(texts[name])
        tell(f"{each}: written")
    failed = [step["error"] for step in found["steps"] if "error" in step]
    if failed:
        raise FractalsError("\n".join(failed))
