"""Runs the script of a step, or the check of an answer, each in a process of its own."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from fractals.catalog import PACKAGE
from fractals.errors import FractalsError, InputError, OptionError, shown
from fractals.tools.learn.steps import Step

GRADE = Path(__file__).with_name("grade.py")
LADDER = "FRACTALS_LADDER"  # environment: the file to which scripts append their figures
CHECK_SECONDS = 30.0  # of a check; the slowest takes 4 on a busy machine, of which it compiles 2


def environment(ladder: Path | None = None) -> dict[str, str]:
    """Return the environment of a script."""
    found = dict(os.environ)
    if ladder:
        found[LADDER] = str(ladder)
    if not (PACKAGE / "lessons").is_dir():  # a checkout, where `fractals` may not be installed
        paths = [found.get("PYTHONPATH", ""), str(PACKAGE.parent)]
        found["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    return found


def run_script(
    step: Step,
    arguments: Sequence[str] = (),
    ladder: Path | None = None,
    seconds: float | None = None,
    quiet: bool = False,
) -> None:
    """Run the script of a step.

    Parameters
    ----------
    ladder : Path, optional
        File to which the script appends its figures.
    seconds : float, optional
        Limit after which the process is killed.
    quiet : bool
        Whether what the script prints is dropped.

    Raises
    ------
    FractalsError
        The script fails, or exceeds the limit.
    """
    output = subprocess.DEVNULL if quiet else None
    command = [sys.executable, str(step.script), *arguments]
    try:
        code = subprocess.run(
            command, env=environment(ladder), timeout=seconds, stdout=output
        ).returncode
    except subprocess.TimeoutExpired:
        raise FractalsError(f"step {step.key}: not finished after {seconds:.0f} s") from None
    if code:
        raise FractalsError(f"step {step.key}: the script {ending(code)}")


def ending(code: int) -> str:
    """Return how a process ended.

    Examples
    --------
    >>> ending(1), ending(-11)
    ('ends with exit code 1', 'is ended by SIGSEGV')
    """
    if code < 0:
        return f"is ended by {signal.Signals(-code).name}"
    return f"ends with exit code {code}"


def check_answer(step: Step, path: str, seconds: float = CHECK_SECONDS) -> None:
    """Check an answer to the exercise of a step.

    Raises
    ------
    OptionError
        There is no such file.
    InputError
        The answer is wrong; the message says in one line what is wrong.
    """
    answer = Path(path).resolve()
    name = shown(path, 80)
    if not answer.is_file():
        raise OptionError(
            f"no file '{name}': 'fractals learn --start {step.key}' writes {step.answer_name}"
        )
    with tempfile.TemporaryDirectory(prefix="fractals-learn-") as folder:
        result = Path(folder, "verdict.txt")
        command = [sys.executable, str(GRADE), str(step.check), str(answer), str(result)]
        try:
            simulated = environment() | {"NUMBA_ENABLE_CUDASIM": "1"}  # it checks every index
            done = subprocess.run(command, env=simulated, timeout=seconds)
        except subprocess.TimeoutExpired:
            raise InputError(
                f"{name}: no result after {seconds:.0f} s: a loop does not end, or is far too slow"
            ) from None
        if not result.exists():
            raise InputError(f"{name}: the program {ending(done.returncode)} during the check")
        if text := result.read_text("utf-8"):
            raise InputError(f"{name}: {text}")
