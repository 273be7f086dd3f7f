#!/usr/bin/env python3
"""Measure a processor of which there are no figures: all that is asked of it, in one command.

    python benchmarks/processor.py intel-xeon-2-cores           # writes the files, in some hours
    python benchmarks/processor.py NAME --only shapes,ladder    # some of the steps
    python benchmarks/processor.py NAME --quick --folder /tmp   # small and few: a rehearsal
    python benchmarks/processor.py --read benchmarks/ladder-amd-epyc-2-cores.json  # its rows

Writes STEP-NAME.json of each step into this folder, and prints rows for the two READMEs. The steps:

shapes   limit.py with each shape of the loop without tests, in turns, each in a process of its own:
         6 and 8 vectors a pack with AVX-512; with AVX2 rounds in place, and as LLVM makes them
limit    limit.py with all workloads, and with the shape that this processor gets
doubled, shade, orbit, warm, ladder
         limit/doubled.py, limit/shade.py, orbit.py, first.py --warm, peers/ladder.py

It needs an idle machine with gcc or clang. A step that fails is a line, and the others go on; its
exit code is that of the command (5: a count differs from the C's).
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE / "limit")]  # this checkout, installed or not

from fractals.backends import machine_code
from fractals.errors import FractalsError, OptionError, SceneError
from fractals.io.files import written
from fractals.tools import bench_report

WORKLOADS = "b,c,d,burning_ship,tricorn,multibrot_3"
GOALS = {512: 0.95, 256: 0.93}  # the least time of the best C over ours, by the bits of a vector
PEERS = ("mojo", "taichi", "naive", "pythran", "jax", "numpy")  # the columns of README.md
ROWS = {  # of that table, by the scenes of ladder.py
    "a": "1536x1024, 20 iterations",
    "course": "15000x10000, 20 iterations",
    "b": "1536x1024, 1000 iterations",
}
# For a process of its own: `MOVES_FREE` chooses the shape, and no program is compiled yet.
CHOSEN = """
import sys
sys.path[:0] = {path!r}
from fractals.backends import machine_code
machine_code.MOVES_FREE = {free}
from fractals.backends.cpu import rounds
rounds.NEEDED &= not {free}
import limit
sys.exit(limit.main(sys.argv[1:]))
"""


def variants() -> dict[str, tuple[bool, dict[str, str]]]:
    """Return shapes by name: what stands for `MOVES_FREE`, and variables of the environment.

    A processor with AVX-512 runs code for AVX2, too, as clients' processors without AVX-512 do.
    """
    found: dict[str, tuple[bool, dict[str, str]]] = {}
    narrow: dict[str, str] = {}
    if machine_code.REGISTER == 64:
        found = {"512 bits, (6, 3)": (False, {}), "512 bits, (8, 1)": (True, {})}
        flags = machine_code.FLAGS.split(",")
        flags = [f"-{flag[1:]}" if "avx512" in flag else flag for flag in flags]
        name = "znver3" if machine_code.MOVES_FREE else "skylake"
        narrow = {"NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": ",".join(flags)}
    return found | {
        "256 bits, in place": (False, narrow),
        "256 bits, as LLVM makes them": (True, narrow),
    }


def run(words: Sequence[str], **variables: str) -> Any:
    """Run a program of Python; return the JSON that it prints. Raises a `FractalsError`."""
    environment = os.environ | {"FRACTALS_PREBUILT": "0"} | variables
    done = subprocess.run(
        [sys.executable, *words], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit {done.returncode}"]
        error = FractalsError(lines[-1])
        error.exit_code = done.returncode
        raise error
    return json.loads(done.stdout)


def measure_shapes(quick: bool) -> dict[str, Any]:
    """Return seconds of each workload by shape, and of the best C beside it."""
    turns: dict[str, list[Any]] = {name: [] for name in variants()}
    words = ["--only", WORKLOADS, "--runs", "3", "--json", *(["--size", "25%"] if quick else [])]
    path = [str(HERE.parent), str(HERE / "limit")]
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(1 if quick else 3):
            for name, (free, variables) in variants().items():
                print(f"shapes: turn {turn + 1}, {name}", file=sys.stderr)
                program = CHOSEN.format(path=path, free=free)
                caches = {"NUMBA_CACHE_DIR": str(Path(folder, name))}
                turns[name].append(run(["-c", program, *words], **variables, **caches))
    whole = bench_report.make_report([]) | {"shapes": {}}
    for name, found in turns.items():
        results = zip(*(each["results"] for each in found), strict=True)
        whole["shapes"][name] = [_joined(each) for each in results]
    return whole


def _joined(turns: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the medians of a workload's medians, of several turns."""
    seconds = {
        key: statistics.median(turn["seconds"][key]["median"] for turn in turns)
        for key in turns[0]["seconds"]
        if key.startswith("C ") or key == "ours"
    }
    best = min(value for key, value in seconds.items() if key.startswith("C "))
    return {
        "workload": turns[0]["workload"],
        "precision": turns[0]["precision"],
        "seconds": seconds,
        "ratio": best / seconds["ours"],
    }


def shapes_text(whole: Mapping[str, Any]) -> str:
    """Return the time of the best C over ours, by shape, and what is to be chosen."""
    shapes = whole["shapes"]
    (first, *_) = shapes.values()
    names = [f"{each['workload']} {each['precision']}" for each in first]
    lines = [bench_report.hardware_line(dict(whole)), ""]
    lines += [f"| time of the best C over ours | {' | '.join(names)} |"]
    lines += ["|---" * (len(names) + 1) + "|"]
    for name, found in shapes.items():
        ratios = [f"{each['ratio']:.2f}" for each in found]
        lines += [f"| {name} | {' | '.join(ratios)} |"]
    lines += [""]
    for bits in (512, 256):
        of_width = {name: found for name, found in shapes.items() if name.startswith(f"{bits} ")}
        if len(of_width) != 2:
            continue
        (one, mine), (other, theirs) = of_width.items()
        times = [
            b["seconds"]["ours"] / a["seconds"]["ours"] for a, b in zip(mine, theirs, strict=True)
        ]
        lines += [
            f"{one}: {min(times):.3f} to {max(times):.3f} times as fast as {other}, "
            f"{statistics.median(times):.3f} in the median"
        ]
        best = max(of_width, key=lambda name: min(each["ratio"] for each in of_width[name]))
        least = min(of_width[best], key=lambda each: each["ratio"])
        lines += [
            f"{best}: at least {least['ratio']:.2f} of the C ({least['workload']}, "
            f"{least['precision']}); {GOALS[bits]} is wanted"
        ]
    return "\n".join(lines)


def ladder_text(whole: Mapping[str, Any]) -> str:
    """Return the rows of the table "Speed" of README.md."""
    by_name = {result["scene"]: result["peers"] for result in whole["results"]}
    lines = [bench_report.hardware_line(dict(whole))]
    for name, title in ROWS.items():
        peers = by_name.get(name, {})
        seconds = [peers[peer]["cpu_seconds"] if peer in peers else None for peer in PEERS]
        cells = [_times(each and each / peers["fractals"]["cpu_seconds"]) for each in seconds]
        lines += [f"| {title} | {' | '.join(cells)} |"]
    return "\n".join(lines)


def _times(ratio: float | None) -> str:
    """Return a ratio with at most one decimal; "-": a peer that is not installed."""
    return "-" if ratio is None else f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}"


def other(program: str, *words: str, quick: Sequence[str] = ()) -> Callable[[bool], Any]:
    """Return a step: a program of this folder, and what it is given in a rehearsal."""
    return lambda small: run([str(HERE / program), *words, "--json", *(quick if small else ())])


STEPS: dict[str, Callable[[bool], Any]] = {
    "shapes": measure_shapes,
    "limit": other("limit/limit.py", quick=["--quick"]),
    "doubled": other("limit/doubled.py", quick=["--runs", "1"]),
    "shade": other("limit/shade.py", quick=["--runs", "1"]),
    "orbit": other("orbit.py", quick=["--runs", "1"]),
    "warm": other("first.py", "--warm", quick=["--runs", "1"]),
    "ladder": other("peers/ladder.py", quick=["--size", "10%", "--runs", "1"]),
}
TEXTS = {"shapes": shapes_text, "ladder": ladder_text}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("name", nargs="?", help="of the processor, in names of files")
    parser.add_argument("--only", default=",".join(STEPS), help="steps: shapes,ladder")
    parser.add_argument("--quick", action="store_true", help="small pictures, few runs")
    parser.add_argument("--folder", type=Path, default=HERE, help="for the files")
    parser.add_argument("--read", type=Path, metavar="FILE", help="show what a step wrote")
    options = parser.parse_args(arguments)
    try:
        if options.read:
            whole = bench_report.read_report(options.read)
            kind = "shapes" if "shapes" in whole else "ladder"
            if kind == "ladder" and not all("peers" in each for each in whole["results"]):
                raise SceneError(f"{options.read}: neither shapes nor a ladder")
            print(TEXTS[kind](whole))
            return 0
        steps = options.only.split(",")
        if unknown := [step for step in steps if step not in STEPS]:
            raise OptionError(f"unknown step '{unknown[0]}': choose of {', '.join(STEPS)}")
        if not re.fullmatch(r"\w[\w.-]*", options.name or ""):
            raise OptionError("give the processor a name, such as intel-xeon-2-cores")
        return measure(options.name, steps, options.quick, options.folder)
    except FractalsError as error:
        print(f"processor: {error}", file=sys.stderr)
        return error.exit_code


def measure(name: str, steps: Sequence[str], quick: bool, folder: Path) -> int:
    """Run steps; write a file of each, and print its rows. A step that fails is a line."""
    worst = 0
    for step in steps:
        path = folder / f"{step}-{name}.json"
        print(f"{step}: {path}", file=sys.stderr)
        try:
            found = STEPS[step](quick)
        except FractalsError as error:
            print(f"{step}: {error}", file=sys.stderr)
            worst = max(worst, error.exit_code)
            continue
        with written(path) as file:
            file.write(json.dumps(found, indent=1).encode() + b"\n")
        if step in TEXTS:
            print(TEXTS[step](found), "", sep="\n")
    return worst


if __name__ == "__main__":
    sys.exit(main())
