"""Checks an answer to an exercise: the program of a process of its own, started by `steps.py`.

It is run with three paths: the check, the answer, and the file for the verdict, which stays
missing where the process ends otherwise. It imports nothing of the package.
"""

import importlib.util
import re
import sys
import traceback
from pathlib import Path
from types import ModuleType

MAX_LENGTH = 400  # characters of an error's text; Numba writes pages


def load(path: Path, name: str) -> ModuleType:
    """Return a file as a module."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"'{path.name}' is no Python file: its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and Numba look modules up
    spec.loader.exec_module(module)
    return module


def line_in(error: BaseException, path: Path) -> str:
    """Return "line 5: ", the last line of a file that an error passed; empty if there is none."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return f"line {error.lineno}: "
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    return f"line {lines[-1]}: " if lines else ""


def explain(error: BaseException, path: Path) -> str:
    """Return one line about an error that is no failed check."""
    place, kind = line_in(error, path), type(error).__name__
    if isinstance(error, SyntaxError):
        return f"{place}{error.msg}"
    missing = re.fullmatch(r"module 'answer' has no attribute '(\w+)'", str(error))
    if missing:
        return f"the file defines no '{missing[1]}': keep the names of the exercise"
    if isinstance(error, SystemExit):
        return f"{place}the program ends itself (SystemExit)"
    if isinstance(error, NotImplementedError) and not str(error):
        return f"{place}{kind}: write this function"
    if place == "" and "NoneType" in str(error):  # in the check, which has called the answer
        return "a function returns None: is its 'return' missing?"
    # Numba puts the cause at the end of its text, after the name of the pass that failed.
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if kind.startswith("Typing") and place == "":
        numbers = re.findall(rf'File "{re.escape(path.name)}", line (\d+)', str(error))
        place = f"line {numbers[-1]}: " if numbers else ""
    text = next((line for line in lines if not line.startswith("Failed in")), "")
    return f"{place}{kind}: {text}"[:MAX_LENGTH] if text else f"{place}{kind}"


def verdict(check: Path, answer: Path) -> str:
    """Return what is wrong with an answer in one line; nothing where it passes."""
    try:
        checker = load(check, "check_of_the_answer")  # first: it may choose the simulator
        checker.check(load(answer, "answer"))
    except AssertionError as error:
        if not str(error):
            return f"{line_in(error, answer)}an assertion fails"
        return " ".join(str(error).split())
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return explain(error, answer)
    return ""


def main() -> None:
    """Write the verdict to the file that the third argument names."""
    check, answer, result = map(Path, sys.argv[1:4])
    sys.path[0] = str(check.parents[1])  # the folder of the lessons, in place of this file's
    text = verdict(check, answer)
    result.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
