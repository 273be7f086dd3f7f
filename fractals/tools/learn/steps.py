"""The steps of the lessons: their scripts, pages and exercises, found by file name."""

import re
from dataclasses import dataclass
from pathlib import Path

from fractals.catalog import PACKAGE
from fractals.errors import FractalsError, OptionError, shown
from fractals.io.files import check_output, written

# A wheel has the lessons inside the package, a checkout beside it.
FOLDERS = (PACKAGE / "lessons", PACKAGE.parent / "lessons")
SCRIPT = re.compile(r"step_(\d\d|[a-z])_(\w+)\.py")
LANGUAGES = ("en", "zh")


@dataclass(frozen=True)
class Step:
    """A step of the lessons: `key` is "0" to "14" or a letter, `name` the rest of the file name."""

    key: str
    name: str
    script: Path

    @property
    def summary(self) -> str:
        """Return the first line of the script without the step's number."""
        first = self.script.read_text("utf-8").split("\n", 1)[0]
        return re.sub(r"^Step \w+: ", "", first.strip('"'))

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
    """Return the folder of the lessons.

    Raises
    ------
    FractalsError
        The installation has no lessons.
    """
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
    """Return the step of a number or a letter; ``03``, ``jit`` and ``step_03_jit`` are names too.

    Raises
    ------
    OptionError
        There is no such step.
    """
    steps = all_steps()
    text = key.lower()
    for step in steps:
        if text in (step.key, step.key.zfill(2), step.name, step.script.stem):
            return step
    known = ", ".join(step.key for step in steps)
    raise OptionError(f"no step '{shown(key, 40)}': choose {known}; 'fractals learn' lists them")


def start(step: Step, overwrite: bool = False) -> Path:
    """Copy the exercise of a step to the working folder, and return the name of the copy."""
    target = Path(step.answer_name)
    check_output(target, overwrite)
    with written(target, overwrite) as file:
        file.write(step.exercise.read_bytes())
    return target
