"""`fractals learn`: the lessons on the command line."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fractals.cli import shared
from fractals.cli.command import FILE, option, section, verb
from fractals.cli.messages import tell, write_out
from fractals.cli.scenes import check_png
from fractals.errors import FractalsError, OptionError, shown
from fractals.lessons.steps import LANGUAGES, of_the_user, said

if TYPE_CHECKING:
    from fractals.lessons.steps import Step

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

    Without STEP the steps are listed. STEP is a number from 0 to 14, or a letter from a to g.
    Without --start, --check, --page or --report the script of the step is run, and saves its
    picture in FILE. Without FILE, --check takes the file that --start has written.
    """
    from fractals.lessons.steps import lessons_folder

    language = language or of_the_user()
    chosen = [name for name in MODES if modes[name]]
    try:
        _learn(step, arguments, chosen, language, output, overwrite)
    except FractalsError as error:
        raise type(error)(said(str(error), lessons_folder(), language)) from None


def _learn(
    step: str | None,
    arguments: tuple[str, ...],
    chosen: list[str],
    language: str,
    output: str,
    overwrite: bool,
) -> None:
    """Do what the command is asked for; errors are in English."""
    from fractals.lessons.steps import (
        all_steps,
        check_answer,
        find_step,
        lessons_folder,
        run_script,
        start,
    )

    def here(text: str) -> str:
        return said(text, lessons_folder(), language)

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
        found = find_step(step)
        for path in arguments:
            _check_picture(path, overwrite)
        run_script(found, arguments, _ladder(), write=write_out)
    elif mode == "check":
        if not arguments and (answer := ANSWER.fullmatch(Path(step).name)):
            step, arguments = answer[1], (step,)  # the file's name has the step
        found = find_step(step)
        if len(arguments) > 1:
            raise OptionError(f"--check: name one file: fractals learn --check {found.key} FILE")
        answer_path = arguments[0] if arguments else found.answer_name
        check_answer(found, answer_path, language=language, write=write_out)
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


def _check_picture(path: str, overwrite: bool) -> None:
    """Refuse a file that can hold no picture, or can't be written, before the script runs."""
    from PIL import Image

    from fractals.io.files import check_output

    if Path(path).suffix.lower() not in Image.registered_extensions():
        raise OptionError(f"'{shown(path, 80)}' names no picture: end it in .png")
    check_output(path, overwrite)


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
    from fractals.lessons.chart import chart
    from fractals.lessons.steps import measure

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
