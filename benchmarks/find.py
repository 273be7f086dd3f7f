"""Times the search for a nucleus in a corner of a deep view, compiled and in gmpy2 alone.

    python benchmarks/find.py                  # takes minutes
    python benchmarks/find.py --compiled       # takes seconds

The corner belongs to a view of Julia sets embedded around a minibrot. Several candidates fail there
before a nucleus of period 29387 is found. Both searches must find the same nucleus.
"""

import hashlib
import json
import sys
from time import perf_counter
from typing import Any

import click

import fractals
from fractals import Minibrot
from fractals.backends import probe
from fractals.search import nucleus

MAX_PERIOD = 300_000
SIZE = (640, 400)
CENTER = (
    "-1.2507173458167968164918515488994227047804629470259114299051901130378493129651247",
    "0.0201524412660837342630338739473438702760727215380148347312400967750307314957514",
)
WIDTH = "6.99330e-46"


def search(plain: bool) -> tuple[Minibrot, float]:
    """Return the nucleus and the seconds of a search."""
    nucleus.PLAIN_STEPS = MAX_PERIOD if plain else 4096
    begun = perf_counter()
    found = fractals.find_nucleus(center=CENTER, width=WIDTH, size=SIZE, max_period=MAX_PERIOD)
    return found, perf_counter() - begun


@click.command()
@click.option("--compiled", is_flag=True, help="Leave out the search in gmpy2 alone.")
@click.option("--runs", default=3, help="Compiled runs; the median is shown.")
def main(compiled: bool, runs: int) -> None:
    """Time a search in a corner of a deep view."""
    search(False)  # compiles
    results = sorted((search(False) for _ in range(runs)), key=lambda result: result[1])
    found, seconds = results[runs // 2]
    figures: dict[str, Any] = {
        "cpu": probe.cpu().name,
        "width": WIDTH,
        "period": found.period,
        "center": hashlib.sha256(str(found.center).encode()).hexdigest()[:16],
        "seconds": {"compiled": round(seconds, 2)},
    }
    if not compiled:
        other, slow = search(True)
        if other != found:
            sys.exit(f"different nuclei: {other} and {found}")
        figures["seconds"]["gmpy2"] = round(slow, 2)
        figures["ratio"] = round(slow / seconds, 1)
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
