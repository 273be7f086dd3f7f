"""The exercises: solutions pass, wrong answers fail with a line that says what is wrong."""

import re
from pathlib import Path

import pytest

from fractals.errors import InputError, OptionError
from fractals.lessons import steps
from fractals.lessons.steps import (
    all_steps,
    find_step,
    lessons_folder,
    start,
)

SOLVED = sorted(path.stem for path in (lessons_folder() / "solutions").glob("*.py"))
WRONG = sorted(path.stem for path in (lessons_folder() / "wrong").glob("*.py"))
QUICK = {"step_01_python", "step_05_threads"}  # import no Numba: the default suite runs these


def marked(names):
    quick = tuple(QUICK)
    slow = pytest.mark.lessons
    return [pytest.param(n, marks=[] if n.startswith(quick) else [slow]) for n in names]


def step_of(name):
    number = re.match(r"step_(\d\d|[a-z])_", name)[1]
    return find_step(number)


def test_each_exercise_is_whole():
    for step in all_steps():
        if not step.exercise.exists():
            continue
        assert step.check.exists(), step.name
        assert step.script.stem in SOLVED
        assert [name for name in WRONG if name.startswith(step.script.stem)], step.name
    assert len(SOLVED) >= 11


@pytest.mark.parametrize("name", marked(SOLVED))
def test_a_solution_passes(name):
    steps.check_answer(step_of(name), str(lessons_folder() / "solutions" / f"{name}.py"))


@pytest.mark.parametrize("name", marked([step.script.stem for step in all_steps()]))
def test_an_answer_that_returns_nothing_fails(name, tmp_path):
    step, path = step_of(name), tmp_path / "answer.py"
    text = step.exercise.read_text("utf-8")
    path.write_text(re.sub("raise NotImplementedError.*", "return None", text), "utf-8")
    with pytest.raises(InputError) as found:
        steps.check_answer(step, str(path))
    assert not re.search("TypeError|AttributeError|NoneType", str(found.value))


def test_an_exercise_that_is_not_begun_says_so(tmp_path):
    path = tmp_path / "answer.py"
    path.write_text("def julia(z, c, limit):\n    raise NotImplementedError\n")
    with pytest.raises(InputError, match="line 2: NotImplementedError: write this function"):
        steps.check_answer(find_step("1"), str(path))


@pytest.mark.parametrize("name", marked(WRONG))
def test_a_wrong_answer_fails(name, capfd):
    path = lessons_folder() / "wrong" / f"{name}.py"
    assert path.read_text("utf-8").startswith("# "), "the first line says the mistake"
    with pytest.raises(InputError) as found:
        steps.check_answer(step_of(name), str(path))
    line = str(found.value).removeprefix(f"{path}: ")
    assert "\n" not in line
    assert len(line) > 20, "it says what is wrong"
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "name",
    marked([s.script.stem for s in all_steps() if s.exercise.exists()]),
)
def test_an_exercise_fails_before_it_is_solved(name):
    step = step_of(name)
    with pytest.raises(InputError):
        steps.check_answer(step, str(step.exercise))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("def julia(z, c, limit)\n    return 0\n", "line 1: expected ':'"),
        ("x = 1\n", "the file defines no 'julia': keep the names of the exercise"),
        ("import no_such_package\n", "line 1: ModuleNotFoundError: No module named"),
        ("def julia(z, c, limit):\n    return 1 / 0\n", "line 2: ZeroDivisionError: division"),
        ("def julia(z):\n    return 0\n", "TypeError: julia() takes 1 positional argument but 3"),
        ("def julia(z, c, limit):\n    return None\n", "julia returns None, expected"),
        ("import sys\nsys.exit()\n", "line 2: the program ends itself (SystemExit)"),
        ("import os\nos._exit(3)\n", "the program ends with exit code 3 during the check"),
        ("import os\nos.abort()\n", "the program is ended by SIGABRT during the check"),
        ("def julia(*_):\n    raise ValueError('a\\nb')\n", "line 2: ValueError: a"),
    ],
)
def test_mistakes_are_one_line(tmp_path, monkeypatch, text, line):
    monkeypatch.chdir(tmp_path)  # a long path would be shortened
    path = Path("exercise_01.py")
    path.write_text(text)
    with pytest.raises(InputError) as found:
        steps.check_answer(find_step("1"), str(path))
    assert str(found.value).startswith(str(path))
    assert line in str(found.value)
    assert "\n" not in str(found.value)


def test_an_endless_loop_is_ended(tmp_path):
    path = tmp_path / "exercise_01.py"
    path.write_text("def julia(z, c, limit):\n    while True:\n        pass\n")
    with pytest.raises(InputError, match="no result after 1 s: a loop does not end"):
        steps.check_answer(find_step("1"), str(path), seconds=1)


def test_a_missing_file_is_named():
    with pytest.raises(OptionError, match=r"fractals learn --start 1' writes exercise_01\.py"):
        steps.check_answer(find_step("1"), "no_such.py")


def test_the_exercise_is_copied(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    step = find_step("1")
    assert start(step) == Path("exercise_01.py")
    assert Path("exercise_01.py").read_bytes() == step.exercise.read_bytes()
