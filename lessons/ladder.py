"""What every step of the lessons prints at its end: its time, its rate, and what the rate is worth.

If the environment variable FRACTALS_LADDER names a file, each report is also appended to that file
as a line of JSON, and compared with the report before it.
"""

import builtins
import json
import os
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

# The fewest operations of one iteration of z*z + c in real numbers: three fused multiply-adds and
# an addition. The test of |z| comes on top, and can be done for several iterations at once.
OPERATIONS = 4
CHAIN = 8  # fused multiply-adds between loading a number and storing it: memory costs nothing
NUMBERS = 1024  # 8 KB, which fit into the first cache of a core


def median_seconds(function, runs=5):
    """Return the median time of several calls; call a compiled function once before."""
    seconds = []
    for _ in range(runs):
        begin = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds)


def cores():
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def arithmetic():
    """Measure how many float64 operations all cores can do in a second (fused multiply-adds)."""
    from numba import njit

    @njit(nogil=True, fastmath={"contract"})
    def spin(values, passes):
        for _ in range(passes):
            for k in range(NUMBERS):
                value = values[k]
                for _ in range(CHAIN):
                    value = value * 0.5 + 1.0
                values[k] = value

    def spin_all(passes):
        list(pool.map(lambda array: spin(array, passes), arrays))

    arrays = [np.ones(NUMBERS) for _ in range(cores())]
    spin(arrays[0], 1)  # compiles
    with ThreadPoolExecutor(len(arrays)) as pool:
        passes = 10_000
        spin_all(passes)  # starts the threads
        seconds = min(median_seconds(lambda: spin_all(passes), 1) for _ in range(5))
    return len(arrays) * passes * NUMBERS * CHAIN / seconds


def reports():
    """Return the reports in the file that FRACTALS_LADDER names, the oldest first."""
    path = os.environ.get("FRACTALS_LADDER")
    if not path or not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def order(step):
    """Return a key that sorts steps: numbers, then letters."""
    return (0, int(step), "") if str(step).isdigit() else (1, 0, str(step))


PALETTES = ["ultra", "ember", "dusk", "orchid", "klimt", "lagoon", "hokusai", "peacock", "saffron"]


def show(step, picture):
    """Save a picture to the files that are named as arguments, and show it in a notebook.

    It is an array of counts, the highest of which is that of the inside, or of colors as uint8.
    """
    notebook = "get_ipython" in vars(builtins)
    if not (notebook or sys.argv[1:]):
        return
    from PIL import Image

    from fractals.color.palette import load, srgb_from_linear

    colors = np.asarray(picture)
    if colors.ndim == 2:
        palette = load(PALETTES[order(step)[1] % len(PALETTES)])
        turns = np.log1p(colors - colors.min()) / 4
        rgb = palette.linear(turns.ravel() % 1).reshape(*colors.shape, 3)
        rgb[colors == colors.max()] = 0
        colors = np.round(255 * srgb_from_linear(rgb)).astype(np.uint8)
    image = Image.fromarray(colors)
    for path in sys.argv[1:]:
        try:
            image.save(path)
        except (OSError, ValueError) as error:
            sys.exit(f"{path}: not saved: {error}")
    if notebook:
        from IPython.display import display

        display(image)


def report(step, seconds, iterations=None, unit="it/s", device="CPU", picture=None, against=None):
    """Print the line of a step, and keep it in the file that FRACTALS_LADDER names.

    Parameters
    ----------
    step : int or str
        The number of the step, or its letter.
    seconds : float
        The median of several runs.
    iterations : int, optional
        The work: the sum of all counts, or what `unit` counts. Without it there is no rate.
    unit : str
        The unit of the rate, which is printed in billions (G).
    device : str
        "CPU", "GPU" or "simulator": where it ran. A time of the simulator says nothing about a GPU,
        so it is not printed. Only the rate of the CPU is a part of the arithmetic of the CPU.
    picture : array, optional
        See `show`.
    against : int, optional
        The step to compare with, in place of the one before.
    """
    before = reports()
    line = {"step": str(step), "device": device}
    parts = []
    if device == "simulator":
        parts.append("the simulator computed it; its time says nothing about a GPU")
    else:
        line["seconds"] = seconds
        parts.append(f"{seconds:.4g} s" if seconds >= 1 else f"{1e3 * seconds:.4g} ms")
    if iterations is not None and device != "simulator":
        rate = iterations / seconds
        line |= {"iterations": int(iterations), "unit": unit, "rate": rate}
        earlier = [
            each
            for each in before
            if each.get("unit") == unit and order(each["step"]) < order(step)
            if against is None or each["step"] == str(against)
        ]
        if earlier:
            other = max(reversed(earlier), key=lambda each: order(each["step"]))  # its last run
            line["times"] = rate / other["rate"]
            line |= {} if against is None else {"against": str(against)}
            parts.append(f"{line['times']:.3g} x step {other['step']}")
        parts.append(f"{rate / 1e9:.3g} G {unit}")
        if unit == "it/s" and device == "CPU":
            # A machine that is busy with something else measures too little.
            line["arithmetic"] = max([arithmetic(), *(e.get("arithmetic", 0) for e in before)])
            line["percent"] = 100 * OPERATIONS * rate / line["arithmetic"]
            parts.append(f"{line['percent']:.3g} % of this machine's arithmetic")
    if device == "GPU":
        parts.append("on the GPU")
    print(f"step {step}: {', '.join(parts)}", flush=True)
    if path := os.environ.get("FRACTALS_LADDER"):
        try:
            with open(path, "a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        except OSError as error:
            print(f"{path}: not written: {error.strerror}", file=sys.stderr)
    if picture is not None:
        show(step, picture)
    elif sys.argv[1:]:
        print(f"step {step} makes no picture", file=sys.stderr)
