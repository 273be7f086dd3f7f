"""The lessons: the user's language, the steps, runs of their scripts, checks, and the ladder."""

import ast
import contextlib
import functools
import json
import locale
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic
from typing import IO, Any

from fractals.catalog import PACKAGE, did_you_mean
from fractals.errors import FractalsError, InputError, OptionError, shown
from fractals.io.files import check_output, written

LANGUAGES = ("en", "zh")
VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")  # the first that is set decides, as in POSIX


def of_the_user() -> str:
    """Return the language of the user, of those that the lessons have; English for others."""
    given = next(filter(None, map(os.environ.get, VARIABLES)), None)
    if given is None:  # macOS and Windows keep it elsewhere
        given = locale.getlocale()[0] or ""
    return "zh" if given.lower().startswith(("zh", "chinese")) else "en"


@functools.cache
def table(folder: Path, language: str, name: str) -> dict[str, Any]:
    """Return a table of texts in a language, such as "verdicts"; an empty one in English."""
    if language == "en":
        return {}
    return tomllib.loads((folder / language / f"{name}.toml").read_text("utf-8"))


@functools.cache
def _patterns(folder: Path, language: str) -> list[tuple[re.Pattern[str], str]]:
    """Return a pattern for each text, those with the most words of their own first."""
    known = sorted(table(folder, language, "verdicts").items(), key=lambda pair: -len(pair[0]))
    parts = [(text.split("{}"), there) for text, there in known]
    return [(re.compile("(.+?)".join(map(re.escape, part)), re.DOTALL), to) for part, to in parts]


def said(text: str, folder: Path, language: str) -> str:
    """Return a text of the command in a language; one that is not in the table as it is.

    Parameters
    ----------
    text : str
        In English.
    folder : Path
        Of the lessons.
    language : str
        One of `LANGUAGES`.
    """
    for pattern, there in _patterns(folder, language):
        if found := pattern.fullmatch(text):
            parts = [said(part, folder, language) for part in found.groups()]
            return there.format(*parts)
    return text


def exercise_text(path: Path, folder: Path, language: str) -> str:
    """Return the text of an exercise, with its docstrings in a language."""
    text = path.read_text("utf-8")
    documents = table(folder, language, "exercises").get(path.stem, {})
    lines = text.splitlines()
    for node in reversed(list(ast.walk(ast.parse(text)))):
        name = "module" if isinstance(node, ast.Module) else getattr(node, "name", "")
        if name in documents:
            old = node.body[0]  # type: ignore[attr-defined]
            indent = " " * old.col_offset
            new = f'"""{documents[name].strip()}'.split("\n")
            new = [f"{indent}{line}".rstrip() for line in new]
            close = [f'{indent}"""'] if len(new) > 1 else []
            new[-1] += "" if close else '"""'
            lines[old.lineno - 1 : old.end_lineno] = new + close
    return "\n".join(lines) + "\n"


# --- Steps: scripts, pages and exercises, found by file name; each runs in a process of its own


# A wheel has the lessons inside the package, a checkout beside it.
FOLDERS = (PACKAGE / "lessons" / "course", PACKAGE.parent / "lessons")
SCRIPT = re.compile(r"step_(\d\d|[a-z])_(\w+)\.py")


@dataclass(frozen=True)
class Step:
    """A step of the lessons: `key` is "0" to "14" or a letter, `name` the rest of the file name."""

    key: str
    name: str
    script: Path

    def summary(self, language: str = "en") -> str:
        """Return the name of the step and what it is about, in a line."""
        if language != "en":  # of the table on the first page: | [title](page) | what is new |
            text = self.page(language).with_name("README.md").read_text("utf-8")
            row = re.search(rf"^\| \[\w+ (.*?)\]\({self.script.stem}.md\) \| (.*) \|$", text, re.M)
            return "：".join(row.groups()) if row else self.name
        first = self.script.read_text("utf-8").split("\n", 1)[0].strip('"')
        return f"{self.name.replace('_', ' '):18}{re.sub(r'^Step .*?: ', '', first)}"

    def page(self, language: str = "en") -> Path:
        """Return the path of the page in a language."""
        folder = self.script.parent if language == "en" else self.script.parent / language
        return folder / f"{self.script.stem}.md"

    @property
    def exercise(self) -> Path:
        """Return the path of the file that a reader begins with."""
        return self.script.parent / "exercises" / self.script.name

    @property
    def check(self) -> Path:
        """Return the path of the program that checks an answer."""
        return self.script.parent / "checks" / self.script.name

    @property
    def answer_name(self) -> str:
        """Return the name of a reader's file."""
        number = self.key.zfill(2) if self.key.isdigit() else self.key
        return f"exercise_{number}.py"


def lessons_folder() -> Path:
    """Return the folder of the lessons. Raises `FractalsError` if there are none."""
    for folder in FOLDERS:
        if folder.is_dir():
            return folder
    raise FractalsError("this installation has no lessons: install the package again")


def all_steps() -> list[Step]:
    """Return the steps in their order: numbers, then letters."""
    found = []
    for path in lessons_folder().glob("step_*.py"):
        if match := SCRIPT.fullmatch(path.name):
            number = match[1]
            found.append(Step(str(int(number)) if number.isdigit() else number, match[2], path))
    return sorted(found, key=lambda step: (not step.key.isdigit(), step.script.name))


def find_step(key: str) -> Step:
    """Return the step of a number or a letter; or of ``03``, ``jit`` or ``step_03_jit``."""
    steps = all_steps()
    text = key.lower()
    for step in steps:
        if text in (step.key, step.key.zfill(2), step.name, step.script.stem):
            return step
    if meant := did_you_mean(text.replace(" ", "_"), (step.name for step in steps)):
        raise OptionError(f"no step '{shown(key, 40)}'{meant}")
    known = ", ".join(step.key for step in steps)
    raise OptionError(f"no step '{shown(key, 40)}': choose {known}; 'fractals learn' lists them")


def start(step: Step, overwrite: bool = False, language: str = "en") -> Path:
    """Copy the exercise of a step to the working folder, and return the name of the copy."""
    target = Path(step.answer_name)
    if os.path.lexists(target) and not overwrite:
        raise FractalsError(
            f"'{target}' exists already: check it, or begin again with --overwrite, "
            "which deletes it"
        )
    check_output(target, overwrite)
    with written(target, overwrite) as file:
        file.write(exercise_text(step.exercise, step.script.parent, language).encode())
    return target


GRADE = Path(__file__).with_name("grade.py")
LADDER = "FRACTALS_LADDER"  # environment: the file to which scripts append their figures
CHECK_SECONDS = 30.0  # of a check; the slowest takes 4 on a busy machine, of which it compiles 2


Write = Callable[[bytes], object]


def environment(ladder: Path | None = None) -> dict[str, str]:
    """Return the environment of a script, which prints UTF-8, each line at once."""
    found = dict(os.environ) | {"PYTHONIOENCODING": "utf-8", "PYTHONUNBUFFERED": "1"}
    if ladder:
        found[LADDER] = str(ladder)
    if not FOLDERS[0].is_dir():  # a checkout, where `fractals` may not be installed
        paths = [found.get("PYTHONPATH", ""), str(PACKAGE.parent)]
        found["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    return found


def run_script(
    step: Step,
    arguments: Sequence[str] = (),
    ladder: Path | None = None,
    seconds: float | None = None,
    write: Write | None = None,
) -> None:
    """Run the script of a step; one that fails, or exceeds the limit of `seconds`, raises an error.

    It appends its figures to the file `ladder`. `write` receives the lines that it prints.
    """
    code = run_python([str(step.script), *arguments], environment(ladder), seconds, write)
    if code is None:
        raise FractalsError(f"step {step.key}: not finished after {seconds:.0f} s")
    if code:
        raise FractalsError(f"step {step.key}: the script {ending(code)}")


def run_python(
    words: Sequence[str],
    variables: dict[str, str],
    seconds: float | None = None,
    write: Write | None = None,
) -> int | None:
    """Run Python in a process of its own, and return its exit code; None: it took too long.

    `write` receives what it prints, a question without an end of line too; what `write` raises, as
    where stdout is full, ends the process. So does Ctrl-C, which is not for the process: Python
    would print a traceback there. Ctrl-Z stops both, and that time is not counted.
    """
    left = seconds or math.inf
    with _without_interrupts():
        process = subprocess.Popen(
            [sys.executable, *words],
            env=variables,
            stdout=subprocess.PIPE if write else subprocess.DEVNULL,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),  # on Windows
        )
    printed: SimpleQueue[bytes] = SimpleQueue()
    reader = threading.Thread(target=_forward, args=(process.stdout, printed.put), daemon=True)
    reader.start()
    try:
        while left > 0:
            before, ended = monotonic(), process.poll() is not None
            if ended:  # a process that it has started may hold the pipe open for longer
                reader.join(PATIENCE)
            try:
                text = printed.get(timeout=0 if ended else WAKE)
            except Empty:
                if ended:
                    return process.returncode
            else:
                assert write
                write(text)
            left -= min(monotonic() - before, 2 * WAKE)
    finally:
        process.kill()
        process.wait()
    return None


WAKE = 0.1  # seconds between two looks at whether a script has ended
PATIENCE = 1.0  # seconds for the rest of what a script that has ended printed


def _forward(pipe: IO[bytes] | None, put: Callable[[bytes], object]) -> None:
    """Put what comes through a pipe until it is closed, as it comes: a question has no newline."""
    with pipe or contextlib.nullcontext():
        while pipe and (text := os.read(pipe.fileno(), 65_536)):
            put(text)


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Have processes that are started here never hear Ctrl-C, which this one hears afterwards.

    They stay in its group: other keys of a terminal, such as Ctrl-Z, reach both.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ending(code: int) -> str:
    """Return how a process ended.

    >>> ending(1), ending(-11)
    ('ends with exit code 1', 'is ended by SIGSEGV')
    """
    if code < 0:
        return f"is ended by {signal.Signals(-code).name}"
    return f"ends with exit code {code}"


def check_answer(
    step: Step,
    path: str,
    seconds: float = CHECK_SECONDS,
    language: str = "en",
    write: Write | None = None,
) -> None:
    """Check an answer to the exercise of a step; an `InputError` says in a line what is wrong.

    `write` receives the lines that the answer prints.
    """
    answer, lessons = Path(path).resolve(), step.script.parent
    name = shown(path, 80)
    if not answer.is_file():
        text = f"no file '{name}': 'fractals learn --start {step.key}' writes {step.answer_name}"
        raise OptionError(said(text, lessons, language))
    with tempfile.TemporaryDirectory(prefix="fractals-learn-") as folder:
        result = Path(folder, "verdict.txt")
        command = [str(GRADE), str(step.check), str(answer), str(result)]
        simulated = environment() | {"FRACTALS_DEVICE": "simulator"}  # it checks every index
        simulated.pop("NUMBA_ENABLE_CUDASIM", None)
        code = run_python(command, simulated, seconds, write)
        if code is None:
            text = f"no result after {seconds:.0f} s: a loop does not end, or is far too slow"
        elif result.exists():
            text = result.read_text("utf-8")
        else:
            text = f"the program {ending(code)} during the check"
        if text:
            raise InputError(f"{name}: {said(text, lessons, language)}")


# --- The ladder of this machine: all steps run one after another, as JSON and as a chart


STEP_SECONDS = 120.0  # limit for a script; on two cores each takes less than 10
UNIT = "it/s"  # of the rates that have bars


def measure(
    steps: Sequence[Step], on_message: Callable[[str], None] = lambda line: None
) -> dict[str, Any]:
    """Run the scripts of steps, each in a process of its own, and return their figures.

    A step that fails has an `error` in place of its figures.
    """
    from fractals.tools.bench_report import make_report

    figures: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="fractals-learn-") as folder:
        ladder = Path(folder, "ladder.jsonl")
        for step in steps:
            on_message(f"step {step.key}, {step.name}")
            known = len(read_ladder(ladder))
            try:
                run_script(step, ladder=ladder, seconds=STEP_SECONDS)
                found = read_ladder(ladder)[known:]
                error = {} if found else {"error": f"step {step.key}: the script reports nothing"}
            except FractalsError as failure:
                found, error = [], {"error": str(failure)}
            figures.append({"step": step.key, "name": step.name, **(found[-1] if found else error)})
    most = max((each.get("arithmetic", 0) for each in figures), default=0)
    for each in figures:  # a step that ran while the machine was busy measured too little
        if "percent" in each:
            each["percent"] *= each["arithmetic"] / most
            each["arithmetic"] = most
    report = make_report([])
    del report["results"]
    return {**report, "steps": figures}


def read_ladder(path: Path) -> list[dict[str, Any]]:
    """Return the figures that scripts appended to a file; none where it is missing."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
