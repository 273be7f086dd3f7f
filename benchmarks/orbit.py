"""Times a step of a reference orbit: compiled, and by gmpy2 from Python.

    python benchmarks/orbit.py                # z² + c, and a formula that is read from a list
    python benchmarks/orbit.py --json > figures.json

Both take their turns in one process, and the least CPU time of some runs is shown. It is that of
`compute_orbit`: with the points kept, the period looked for, and the first steps by gmpy2.
"""

import json
from fractions import Fraction
from time import process_time
from typing import Any
from unittest import mock

import click

import fractals
from fractals.backends import machine_code, probe
from fractals.deep import orbit_steps
from fractals.deep.reference import OrbitRequest, compute_orbit

ZERO = Fraction(0), Fraction(0)
# On a filament, where no cycle is near: the orbits take all steps.
CENTER = (
    Fraction("-0.743643887037158704752191506114774"),
    Fraction("0.131825904205311970493132056385139"),
)
RADIUS = Fraction(1, 10**300)
BITS = 110, 188, 252, 380, 636, 1000, 1500
# The multibrot set of power 2 is the same map, but its step is read from a list.
FORMULAS: dict[str, Any] = {
    "mandelbrot": "mandelbrot",
    "from a list": {"name": "multibrot", "power": 2},
}
STEPS, PLAIN_STEPS = 200_000, 20_000


def seconds(formula: Any, bits: int, steps: int) -> float:
    """Return the CPU seconds of a step of an orbit."""
    begun = process_time()
    found = compute_orbit(OrbitRequest(formula, ZERO, CENTER, bits, steps, 256.0, RADIUS))
    return (process_time() - begun) / (len(found.orbit) - 1)


@click.command()
@click.option("--runs", default=7, help="Runs of each; the least is shown.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def main(runs: int, as_json: bool) -> None:
    """Time steps of reference orbits."""
    rows = []
    for name, table in FORMULAS.items():
        formula = fractals.Scene().replace(formula=table).make_formula()
        for bits in BITS:
            with mock.patch.object(orbit_steps, "PATIENCE", -1.0):  # compile it now
                seconds(formula, bits, STEPS)
            compiled, plain = [], []
            for _ in range(runs):
                compiled.append(seconds(formula, bits, STEPS))
                with mock.patch.object(orbit_steps, "SIZES", ()):
                    plain.append(seconds(formula, bits, PLAIN_STEPS))
            nanoseconds = [round(1e9 * min(each), 1) for each in (compiled, plain)]
            row = {"step": name, "bits": bits, "limbs": orbit_steps.size_for(bits)}
            rows.append(row | dict(zip(("compiled_ns", "gmpy2_ns"), nanoseconds, strict=True)))
            if not as_json:
                print(
                    f"{name:12} {bits:4} bits {row['limbs']:3} limbs "
                    f"{nanoseconds[0]:8} ns compiled {nanoseconds[1]:8} ns by gmpy2",
                    flush=True,
                )
    if as_json:
        cpu = probe.cpu()
        hardware = {"cpu": cpu.name, "llvm_cpu": machine_code.CPU, "cores": cpu.cores}
        print(json.dumps({"hardware": hardware, "runs": runs, "steps": rows}, indent=2))


if __name__ == "__main__":
    main()
