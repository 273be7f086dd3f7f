"""Formulas in the user's own Python files."""

import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.command_line import one_line

import fractals
from fractals.errors import InputError, OptionError, SceneError
from fractals.io.formula_file import load_formula
from fractals.kernels.primitives import fma

TINY = {"size": (12, 9), "supersampling": 1, "max_iterations": 30, "device": "cpu"}
TEXT = """
from fractals import Formula
from fractals.kernels.primitives import fma, number


def step(x, y, a, b):
    return fma(x, x, fma(-y, y, a)), fma(CONSTANT * x, y, b)


def derivative(x, y, p, q):
    two = number(2, x)
    return two * (x * p - y * q), two * (x * q + y * p)


def make(degree=2):
    return Formula(name="bridge", title="A bridge", step=step, derivative=derivative,
        degree=degree, center=("-0.65", "0"), width="4.6")
"""
GOOD = TEXT.replace("CONSTANT", "number(2, x)")


@pytest.fixture
def bridge(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("bridge.py").write_text(GOOD)


def test_a_formula_of_a_file_is_drawn(bridge):
    own = fractals.load_formula("bridge.py")
    keys = {**TINY, "device": "simulator"}  # for which programs compile sooner
    assert np.array_equal(
        fractals.render(formula=own, **keys).pixels, fractals.render(**TINY).pixels
    )
    assert load_formula(Path("bridge.py"), degree=3).degree == 3


@pytest.mark.parametrize("named", ["./bridge.py", "bridge.py", Path("bridge.py")])
def test_a_keyword_names_the_file_as_the_command_does(bridge, named):
    assert fractals.load_scene(formula=named).make_formula().name == "bridge"
    assert fractals.plan("seahorse", formula=named, device="python").formula.name == "bridge"


def test_only_a_keyword_runs_a_file(tmp_path, monkeypatch):
    """Tables may be a stranger's, and `replace` takes what strangers send to the explorer."""
    monkeypatch.chdir(tmp_path)
    Path("trap.py").write_text("raise SystemExit('it was run')")
    tables = {"formula": "./trap.py"}, {"formula": {"name": "trap.py"}}
    for table in (*tables, '{"formula": "./trap.py"}'):
        with pytest.raises(SceneError, match="formula"):
            fractals.load_scene(table)
    for named in ("trap.py", Path("trap.py")):
        with pytest.raises(SceneError, match=r"fractals\.load_formula"):
            fractals.Scene().replace(formula=named)
    with pytest.raises(InputError, match="it was run"):
        fractals.load_scene(formula="trap.py")


def test_a_function_is_no_formula():
    with pytest.raises(SceneError, match=r"an expression such as .*load_formula"):
        fractals.load_scene(formula=lambda z, c: z * z + c)


def test_a_formula_of_a_file_is_pickled_by_its_file(bridge):
    own = fractals.load_formula("bridge.py", degree=3)
    contents = pickle.dumps(own)
    assert pickle.loads(contents) is copy.deepcopy(own) is own
    read = "import pickle, sys; print(pickle.load(sys.stdin.buffer).degree)"
    again = {"args": [sys.executable, "-c", read], "input": contents, "capture_output": True}
    assert subprocess.run(**again, check=True).stdout.strip() == b"3"
    Path("bridge.py").write_text(GOOD + "\n")
    assert b"bridge.py: has changed since" in subprocess.run(**again, check=False).stderr


def test_a_file_is_read_again_after_an_edit_in_the_same_second(bridge, monkeypatch):
    """Python's bytecode files would not see it: they hold the size and the second of the file."""
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    path = Path("bridge.py")
    os.utime(path, (10**9, 10**9))
    assert load_formula(path).width == "4.6"
    path.write_text(GOOD.replace('width="4.6"', 'width="5.6"'))
    os.utime(path, (10**9, 10**9))
    assert load_formula(path).width == "5.6"
    assert not Path("__pycache__").exists()


def test_the_command_line_names_a_file(run, bridge):
    small = (
        "--size",
        "12x9",
        "--supersampling",
        "1",
        "--max-iterations",
        "30",
        "--device",
        "simulator",
    )
    code, _, err = run("render", "--formula", "./bridge.py", *small)
    assert code == 0, err
    assert "carries no scene: its formula 'bridge' is Python code" in err
    assert Path("bridge.png").exists()
    assert run("render", *small, "-o", "plain.png")[0] == 0
    code, _, err = run("compute", "--formula", "bridge.py,degree=2", *small, "-o", "a.npz")
    assert (code, one_line(err), "function of yours" in err) == (3, True, True)


def test_a_scene_names_no_file(run, bridge):
    """A scene may be a stranger's."""
    Path("bridge.py").write_text("open('ran', 'w').close()")
    for name in ("./bridge.py", "bridge.py"):
        with pytest.raises(SceneError):
            fractals.load_scene({"formula": name})
        with pytest.raises(SceneError):
            fractals.load_scene({"formula": {"name": name}})
        Path("a.toml").write_text(f'formula = "{name}"')
        assert run("render", "a.toml", "--dry-run")[0] == 3
    assert not Path("ran").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "bridge.py: no such file"),
        ("x = 1", "has no function make"),
        ("def make(): return 3", r"make\(\) returns 3, no Formula"),
        ("def make(:", "line 1: SyntaxError"),
        ("\nimport nosuchmodule", "line 2: ModuleNotFoundError: No module named 'nosuchmodule'"),
        ("def make():\n\n    return 1 / 0", "line 3: ZeroDivisionError"),
        ("import sys\nsys.exit('no numbers')", "line 2: SystemExit: no numbers"),
        ("def make():\n    raise SystemExit(255)", "line 2: SystemExit: 255"),
        (TEXT.replace("CONSTANT", "2"), r"line 7: the constant 2 in 'step': write number\(2, x\)"),
        (GOOD.replace("two = number(2, x)", "two = 2.0"), "line 11: the constant 2.0 in 'deriv"),
    ],
)
def test_what_is_wrong_with_a_file(bridge, text, words):
    if text is None:
        Path("bridge.py").unlink()
    else:
        Path("bridge.py").write_text(text)
    with pytest.raises(InputError, match=words):
        load_formula("bridge.py")


def test_an_option_that_make_lacks(run, bridge):
    code, _, err = run("render", "--formula", "bridge.py,power=2", "--dry-run")
    assert (code, one_line(err)) == (3, True)
    assert "unexpected keyword argument 'power'" in err


def test_a_formula_that_cannot_be_compiled_is_one_line():
    def step(x, y, a, b):
        return fma(x, x, fma(-y, y, a)), fma(2.0, x * y, b)

    own = fractals.Formula("odd", "odd", step, None, 2)
    with pytest.raises(OptionError, match=r"'odd' can't be compiled for float32: write constants"):
        fractals.render(formula=own, coloring="count", precision="float32", **TINY)


@pytest.mark.parametrize(
    ("head", "encoding"),
    [("", "utf-8-sig"), ("# -*- coding: latin-1 -*-\n", "latin-1"), ("", "utf-8")],
)
def test_a_file_in_any_encoding_that_python_reads(bridge, head, encoding):
    text = f"{head}# Brücke\n{GOOD}"
    Path("bridge.py").write_bytes(text.encode(encoding))
    assert load_formula("bridge.py").name == "bridge"
    Path("bridge.py").write_bytes(text.replace("number(2, x) * x", "2 * x").encode(encoding))
    with pytest.raises(InputError, match="the constant 2 in 'step'"):
        load_formula("bridge.py")
