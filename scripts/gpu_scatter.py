#!/usr/bin/env python3
"""Figures of scatter images on a GPU, beside the CPU of the same machine.

    scripts/gpu_scatter.py                              # needs a CUDA GPU; otherwise exit 4
    scripts/gpu_scatter.py --device simulator --tiny    # tries this script out
    tests/cuda_driver/run.py scripts/gpu_scatter.py --tiny

Kernels are timed by events of the device, what a program waits for by the clock. `--json` prints
all figures as JSON. In the simulator and on the stand-in the figures mean nothing. The package need
not be installed, what it depends on must be.
"""

import argparse
import json
import sys
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).resolve().parents[1]
# What is measured, and in how many buckets. The sums of 640x480 fit into the L2 cache of a large
# GPU, those of 4k fit into none.
SMALL, USUAL, LARGE = (640, 480), (1920, 1080), (3840, 2160)
CASES = (
    ("five", SMALL),
    ("five", USUAL),
    ("five", LARGE),
    ("heavy", USUAL),
    ("clifford", USUAL),
    ("lorenz", USUAL),
    ("buddhabrot", USUAL),
)
WIDTHS = (16384, 65536, 262144, 1048576)  # trajectories of a launch
STEPS = 1000  # of a trajectory
SECONDS = {"kernel": 0.1, "device": 0.3, "cpu": 0.5}  # that a figure is taken over, at least
LONGEST = 0.25  # seconds of a launch, after which no wider one is tried
CHECKED = 4096  # trajectories whose sums are compared with the CPU's


def measure(request, tiny, say):
    """Return the figures of a device, a dictionary for each case; rates are in 1/s."""
    found = []
    for name, size in CASES:
        figures = case(name, (48, 32) if tiny else size, request, tiny)
        found.append(figures)
        say(line_of(figures))
    return found


def case(name, size, request, tiny):
    """Return the figures of a scene in a number of buckets."""
    import numpy as np

    steps, checked = (20, 256) if tiny else (STEPS, CHECKED)
    widths = (256, 512) if tiny else WIDTHS
    scene = scene_of(name, size).replace(steps=steps)
    begun = perf_counter()
    ours = player_of(scene, request)
    sums, hits = ours.sums(range(checked), None)
    first = perf_counter() - begun
    theirs = player_of(scene, "cpu")
    same = np.array_equal(sums, theirs.sums(range(checked), None)[0])

    launch, kernel = launcher(ours), {}
    for width in widths:
        kernel[width] = rate(launch(width), width, 0 if tiny else SECONDS["kernel"])
        if width / kernel[width] > LONGEST:
            break
    rates = {
        where: rate(clocked(player), 2 * checked, 0 if tiny else SECONDS[where])
        for where, player in (("device", ours), ("cpu", theirs))
    }
    points = ours.plan.steps
    return {
        "what": name,
        "size": list(size),
        "samples": "orbits" if ours.plan.orbits else "points",
        "equal": bool(same),
        "seconds_to_first": first,
        "kernel_by_width": {width: points * each for width, each in kernel.items()},
        "device": points * rates["device"],
        "cpu": points * rates["cpu"],
        "cpu_threads": theirs.backend.threads,
        # The points in view of an orbit; the share of the points that are in view otherwise.
        "in_view_of_a_sample": hits / (checked * points),
    }


def scene_of(name, size):
    """Return the scene of a case: a flame of benchmarks/scatter.py, or a formula's own."""
    import fractals

    sys.path.insert(0, str(ROOT / "benchmarks"))
    import scatter

    if name in scatter.FLAMES:
        scene = scatter.flame_scene(name, size)
    else:
        scene = fractals.load_scene({"formula": name}).replace(size=size)
    return scene.replace(supersampling=1, estimator_radius=0.0, filter="box", precision="float32")


def player_of(scene, request):
    """Return what plays a scene, on all threads where the device is the CPU."""
    from fractals.rendering.options import RenderOptions
    from fractals.scatter.play import open_player

    player = open_player(scene, RenderOptions(device=request, on_message=lambda line: None))
    player.data()  # the cells of a Buddhabrot, which are found once
    return player


def launcher(player):
    """Return ``launch(width)``, a function that returns the seconds of some launches."""
    import numpy as np
    from gpu_figures import Clock

    from fractals.scatter.cells import moved
    from fractals.scatter.plan import CHUNK

    plan, backend, clock = player.plan, player.backend, Clock(player.backend)
    run = backend.compile(*plan.kernel)
    (throw,) = player.throws(range(1))
    data, window = moved(backend, throw.data), moved(backend, throw.window)
    sums = backend.to_device(np.zeros(4 * plan.shape[0] * plan.shape[1], np.int64))

    def launch(width):
        seen = backend.to_device(np.zeros((width // CHUNK, CHUNK), np.int32))

        def work(trajectories):
            for k in range(0, trajectories, width):
                run(seen, data, plan.game(k), window, sums)

        return lambda trajectories: clock.seconds(lambda: work(trajectories))[0]

    return launch


def clocked(player):
    """Return a function that returns the seconds in which trajectories are played."""
    counter = player.counter()

    def seconds(trajectories):
        begun = perf_counter()
        counter.add(range(trajectories), None)  # comes back when the device has done its work
        return perf_counter() - begun

    return seconds


def rate(seconds, count, least):
    """Return trajectories a second: of more and more, until they take long enough."""
    seconds(count)  # what is done once
    while True:
        took = seconds(count)
        if took >= least:
            return count / took
        count *= min(16, max(2, 1 << int(least / max(took, 1e-4)).bit_length()))


def line_of(figures):
    """Return the line that a person reads."""
    width, best = max(figures["kernel_by_width"].items(), key=lambda item: item[1])
    by_width = ", ".join(
        f"{width} {each:.3g}" for width, each in figures["kernel_by_width"].items()
    )
    size = "x".join(map(str, figures["size"]))
    return (
        f"{figures['what']} {size}: kernel {best:.3g} {figures['samples']}/s in launches of "
        f"{width} (by width: {by_width}); with the host {figures['device']:.3g}; "
        f"CPU, {figures['cpu_threads']} threads: {figures['cpu']:.3g}; "
        f"{best / figures['cpu']:.3g} times; first hits after {figures['seconds_to_first']:.2g} s; "
        + ("equal sums" if figures["equal"] else "SUMS DIFFER")
    )


def main():
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda", help="cuda, cuda:1, ... or simulator")
    parser.add_argument("--tiny", action="store_true", help="small pictures, few points")
    parser.add_argument("--json", action="store_true", help="print JSON at the end")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    from fractals.backends.devices import choose
    from fractals.errors import FractalsError

    try:
        device = choose(options.device).device
        if device.kind == "cpu":
            raise FractalsError(f"'{options.device}' is no GPU")
    except FractalsError as error:
        print(f"gpu_scatter: {error}", file=sys.stderr)
        return 4
    say = (lambda line: print(line, file=sys.stderr, flush=True)) if options.json else print
    say(device.name)
    begun = perf_counter()
    found = measure(options.device, options.tiny, say)
    say(f"{perf_counter() - begun:.3g} s")
    if options.json:
        print(json.dumps({"device": device.name, "results": found}, indent=1))
    return 0 if all(figures["equal"] for figures in found) else 1


if __name__ == "__main__":
    sys.exit(main())
