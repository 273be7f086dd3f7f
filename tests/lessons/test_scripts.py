"""The scripts: each runs within its time and ends with its line; counts equal those of step 1."""

import importlib
import json
import re
import subprocess
import sys

import numpy as np
import pytest

from fractals.lessons import steps
from fractals.lessons.steps import all_steps, lessons_folder

pytestmark = pytest.mark.lessons
SECONDS = 60  # limit of a test on a busy machine; alone, a script takes less than 10
NO_PICTURE = ("0", "10", "a", "c", "g")  # numbers only
SAME_COUNTS = [  # modules whose draw(width, height, limit) shows what step 1 shows
    "step_02_numpy",
    "step_03_jit",
    "step_04_cost",
    "step_05_threads",
    "step_06_numbers",
    "step_07_lanes",
    "step_08_packs",
    "step_09_thinking",
]


@pytest.mark.parametrize("step", all_steps(), ids=lambda step: step.script.stem)
def test_a_script_runs(step, tmp_path):
    ladder, picture = tmp_path / "ladder.jsonl", tmp_path / "picture.png"
    done = subprocess.run(
        [sys.executable, str(step.script), str(picture)],
        cwd=tmp_path,
        env=steps.environment(ladder),
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()[-1]
    assert re.match(f"step {step.key}: ([0-9.e-]+ m?s|the simulator computed it)", said)
    assert step.key in NO_PICTURE or picture.stat().st_size > 300
    reports = [json.loads(line) for line in ladder.read_text().splitlines()]
    assert reports[-1]["step"].lower() == step.key


@pytest.fixture(scope="module")
def first():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(lessons_folder()))
        patch.delitem(sys.modules, "ladder", raising=False)  # that of the benchmarks
        yield importlib.import_module("step_01_python")
        for name in [name for name in sys.modules if name.startswith("step_") or name == "ladder"]:
            del sys.modules[name]


@pytest.mark.parametrize("name", SAME_COUNTS)
def test_counts_equal_those_of_step_1(first, name):
    module = importlib.import_module(name)
    for size in ((37, 23, 300), (96, 64, 200)):  # neither is a multiple of lanes, blocks or tiles
        assert np.array_equal(module.draw(*size), first.draw(*size)), size


def test_every_step_of_the_same_picture_is_compared():
    numbers = {step.script.stem for step in all_steps() if step.key.isdigit()}
    assert {name for name in numbers if "02" <= name[5:7] <= "09"} == set(SAME_COUNTS)


def test_deep_counts_equal_those_of_all_digits(first):
    """Every sample of a small picture at 1e-60, iterated with 256 bits."""
    import gmpy2

    deep = importlib.import_module("step_14_deep")
    width, height = 12, 8
    counts = deep.draw_deep(width, height, deep.LIMIT)
    center = deep.center()
    xs, ys = first.coordinates(width, height)
    for j, y in enumerate(ys):
        for i, x in enumerate(xs):
            c = center + gmpy2.mpc(complex(x, y)) * deep.VIEW / 3
            assert counts[j, i] == len(deep.exact_orbit(c, deep.LIMIT)), (i, j)
    assert counts.min() > 400
    assert len(set(counts.ravel())) > 5
