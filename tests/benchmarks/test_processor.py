"""The measuring of a processor: its steps, shapes and rows; no time is asserted."""

import copy
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fractals.backends import machine_code
from fractals.errors import DifferenceError, FractalsError

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import processor  # noqa: E402

LADDER = ROOT / "benchmarks" / "ladder-amd-epyc-2-cores.json"


SHOWN = """
from fractals.backends.cpu import direct, rounds
print(direct.OWN_C, rounds.NEEDED)
"""


def spread(seconds):
    return {"median": seconds, "min": seconds, "max": seconds}


def turn(ours, c=1.0):
    seconds = {"C 512 wave": 2 * c, "C 256 stream": c, "ours": ours, "naive": 9.0}
    each = {"workload": "b", "precision": "float64", "runs": 3}
    return each | {"seconds": {name: spread(each) for name, each in seconds.items()}}


def test_rows_are_those_of_the_readme(capsys):
    assert processor.main(["--read", str(LADDER)]) == 0
    _, *rows = capsys.readouterr().out.splitlines()
    assert len(rows) == len(processor.ROWS)
    text = (ROOT / "README.md").read_text("utf-8")
    assert all(row in text for row in rows)


def test_a_peer_that_is_not_installed_is_a_dash():
    whole = json.loads(LADDER.read_text())
    for result in whole["results"]:
        del result["peers"]["mojo"]
    assert "| 1536x1024, 1000 iterations | - | 158 |" in processor.ladder_text(whole)


def test_turns_are_joined_by_their_medians():
    found = processor._joined([turn(1.0), turn(3.0), turn(1.25)])
    assert found["seconds"] == {"C 512 wave": 2.0, "C 256 stream": 1.0, "ours": 1.25}
    assert found["ratio"] == 0.8


@pytest.mark.skipif(machine_code.REGISTER < 32, reason="no AVX2")
def test_each_variant_is_another_shape():
    """What the loop without tests gets in each process: its shape, or rounds in place."""
    said = []
    for free, variables in processor.variants().values():
        chosen, _, _ = processor.CHOSEN.format(path=[str(ROOT)], free=free).partition(
            "import limit"
        )
        command = [sys.executable, "-c", chosen + SHOWN]
        environment = os.environ | variables
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        said.append(done.stdout.strip())
    wide = ["(6, 3) False", "(8, 1) False"] if machine_code.REGISTER == 64 else []
    assert said == [*wide, "(6, 1) True", "(6, 1) False"]


def test_shapes_tell_what_is_to_be_chosen():
    names = ["512 bits, (6, 3)", "512 bits, (8, 1)"]
    shapes = {
        name: [processor._joined([turn(ours)])]
        for name, ours in zip(names, (1.0, 1.25), strict=True)
    }
    whole = json.loads(LADDER.read_text()) | {"shapes": shapes}
    text = processor.shapes_text(whole)
    assert "| 512 bits, (6, 3) | 1.00 |" in text
    assert "512 bits, (6, 3): 1.250 to 1.250 times as fast as 512 bits, (8, 1)" in text
    assert "512 bits, (6, 3): at least 1.00 of the C (b, float64); 0.95 is wanted" in text


def test_a_step_that_fails_is_a_line_and_the_others_go_on(monkeypatch, tmp_path, capsys):
    whole = json.loads(LADDER.read_text())

    def fails(quick):
        raise DifferenceError("b: 3 counts differ")

    monkeypatch.setitem(processor.STEPS, "limit", fails)
    monkeypatch.setitem(processor.STEPS, "ladder", lambda quick: copy.deepcopy(whole))
    words = ["a-processor", "--only", "limit,ladder", "--folder", str(tmp_path)]
    assert processor.main(words) == 5
    said = capsys.readouterr()
    assert "limit: b: 3 counts differ" in said.err.splitlines()
    assert "| 1536x1024, 20 iterations | 1.3 |" in said.out
    assert [path.name for path in tmp_path.iterdir()] == ["ladder-a-processor.json"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ([], "give the processor a name"),
        (["../up"], "give the processor a name"),
        (["x", "--only", "no"], "unknown step 'no': choose of shapes, limit"),
        (["--read", "/no/such.json"], "/no/such.json"),
        (["--read", str(ROOT / "benchmarks" / "limit-amd-epyc-2-cores.json")], "neither shapes"),
    ],
)
def test_bad_input_is_one_line(words, line, capsys):
    assert processor.main(words)
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith("processor: ")
    assert line in said


def test_a_program_that_fails_is_its_last_line():
    with pytest.raises(FractalsError, match="no such thing") as caught:
        processor.run(["-c", "import sys; print('no such thing', file=sys.stderr); sys.exit(5)"])
    assert caught.value.exit_code == 5
