"""Figures that only a GPU has: kernels against the issue limit, launches, copies, frames.

A kernel is timed as launch, event, launch, event: the host then works while the GPU is still busy
with the first launch, so none of the host's time lies between the events.

In the simulator the same is done at a small size, so that this file is tried out; its figures mean
nothing there.
"""

import statistics
import threading
from time import perf_counter

import numpy as np

from fractals.backends.cuda.backend import BLOCK
from fractals.errors import OptionError
from fractals.io.load import load_scene
from fractals.rendering.drawing import open_drawing, open_plan, shade_tile
from fractals.rendering.options import RenderOptions
from fractals.rendering.render import render
from fractals.rendering.tiles import Tile
from fractals.threads import run_tiles
from fractals.tools import bench

LARGE = 4
FEWEST, MOST = 2**14, 2**22  # turns that keep a GPU busy: some 0.1 ms, and 20 ms
ARITHMETIC = 4  # floating-point instructions of a Mandelbrot iteration
NUMBERS = ("float32", "float64")
WORKLOADS = ("a", "b", "c", "d", "e", "f")
BLOCKS = (BLOCK, (16, 4), (32, 2), (4, 8), (8, 16), (16, 8), (32, 4), (16, 16), (32, 8))


def measure(request, device, tiny, say):
    """Yield the name and the figures of each part: plain values, seconds unless named otherwise."""
    opened = bench.choose_devices([request])[0]
    runs = 2 if tiny else 9
    yield "multiprocessors", device.multiprocessors
    yield "clock", device.clock
    yield "kernels", list(kernels(opened, tiny, runs, say))
    found = {
        "launch": lambda: launch(request, 20 if tiny else 2000),
        "copy_bytes_per_second": lambda: copies(request, 2**16 if tiny else 2**28, runs),
        "frames_per_second": lambda: {
            number: frames(request, number, (64, 36) if tiny else (1920, 1080), 4 if tiny else 400)
            for number in NUMBERS
        },
        "f_in_4k": lambda: on_device(request, (96, 54) if tiny else (3840, 2160), runs),
    }
    for name, take in found.items():
        figures = take()
        say(f"{name}: {figures}")
        yield name, figures
    drawn = pictures(request, (32, 18) if tiny else (1920, 1080), 1 if tiny else 3)
    for name, figures in drawn.items():
        say(f"{name}: {figures}")
    yield "pictures", drawn


def kernels(device, tiny, runs, say):
    """Yield the figures of the iteration of each workload and number type."""
    for name in WORKLOADS:
        for number in NUMBERS:
            try:
                figures = kernel(name, number, device, tiny, runs)
            except OptionError:
                continue  # too deep for float32
            say(line_of(figures))
            yield figures


def start(scene, request, interior_shortcuts=True, shading=False):
    options = RenderOptions(
        device=request, interior_shortcuts=interior_shortcuts, on_message=lambda line: None
    )
    plan, backend = open_plan(scene, options, "pixels" if shading else "raw")
    return open_drawing(plan, backend, options)


def kernel(name, precision, device, tiny, runs):
    """Time the iteration of a workload: as it is, and without shortcuts in blocks of all shapes.

    Without shortcuts it is drawn LARGE times as wide, because the last blocks of a short launch
    leave most of the GPU idle. `host_left_out` tells of each time whether it is the GPU's alone.
    """
    workload = bench.load_workload(name).change((64, 36) if tiny else None, precision)
    request = bench.label(device)
    usual = start(workload.scene, request, workload.interior_shortcuts)
    large = [LARGE * side for side in usual.plan.size]
    whole_picture = workload if tiny else workload.change(tuple(large))
    plain = start(whole_picture.scene, request, interior_shortcuts=False)
    executed = np.empty(plain.plan.size[::-1], np.int32)
    plain.backend.to_host(plain.source.iterate(whole(plain))[0], executed)
    differing = differing_counts(workload, request, usual)
    shapes, alone = {}, {}
    for block in BLOCKS[:2] if tiny else BLOCKS:
        plain.backend.block, named = block, "x".join(map(str, block))
        shapes[named], alone[named] = seconds(plain, runs)
    plain.backend.block = BLOCK
    took, usual_alone = seconds(usual, runs)
    best = shapes["x".join(map(str, BLOCK))]
    rate = int(executed.sum(dtype=np.int64)) / best
    limit = device.rate(precision) / ARITHMETIC
    return {
        "workload": name,
        "precision": precision,
        "method": usual.plan.method,
        "seconds": took,
        "large": list(plain.plan.size),
        "seconds_without_shortcuts": best,
        "iterations_per_second": rate,
        "max_iterations": limit,
        "share_of_limit": rate / limit if limit else None,
        "differing_counts": differing,
        "blocks": shapes,
        "host_left_out": {"seconds": usual_alone, **alone},
    }


def differing_counts(workload, request, usual):
    """Return how many counts differ between a picture with shortcuts and one without."""
    plain = start(workload.scene, request, interior_shortcuts=False)
    counts = [np.empty(usual.plan.size[::-1], np.int32) for _ in range(2)]
    for drawing, found in zip((usual, plain), counts, strict=True):
        drawing.backend.to_host(drawing.source.iterate(whole(drawing))[0], found)
    return int(np.count_nonzero(counts[0] != counts[1]))


def line_of(figures):
    share = figures["share_of_limit"]
    blocks = ", ".join(f"{name} {1e3 * took:.3g}" for name, took in figures["blocks"].items())
    return (
        f"{figures['workload']} {figures['precision']}: {1e3 * figures['seconds']:.4g} ms; without "
        f"shortcuts {figures['iterations_per_second']:.3g} iterations/s"
        + (f", {share:.2f} of the limit" if share else "")
        + f"; ms by block: {blocks}"
        + ("" if all(figures["host_left_out"].values()) else "; some with the host")
    )


def whole(drawing):
    return Tile(0, 0, *drawing.plan.size)


def seconds(drawing, runs):
    """Return the median seconds of a whole picture's iteration, and whether they are the GPU's."""
    tile = whole(drawing)
    return Clock(drawing.backend).median(lambda: drawing.source.iterate(tile), runs)


class Clock:
    """Times work of a device without the host that launches it, where that is possible."""

    def __init__(self, backend):
        self._backend, self._turns = backend, FEWEST
        self._run = backend.compile(make_busy)
        self._out = backend.to_device(np.zeros((8, 8), np.int32))
        self._busy()  # compiles

    def _busy(self):
        self._run(self._out, self._out, np.int32(self._turns))

    def seconds(self, work):
        """Return the seconds of a work, and whether the host is left out.

        The GPU is kept busy four times as long until all of the work is in its queue. Work that
        waits for the GPU itself never is: its host belongs to it.
        """
        while True:
            took, alone = self._backend.seconds(work, self._busy)
            if alone or self._turns >= MOST:
                return took, alone
            self._turns *= 4

    def median(self, work, runs):
        """Return the median seconds of a work, and whether the host is left out of all runs."""
        self.seconds(work)  # allocates, and finds how long the GPU has to be kept busy
        found = [self.seconds(work) for _ in range(runs)]
        return statistics.median(took for took, _ in found), all(alone for _, alone in found)


def make_busy(_target):
    """Return a program whose first thread computes random numbers, one after the other."""

    def body(x0, y0, dx, dy, out, like, turns):
        if x0 + y0 == 0:
            seed = like[0, 0]
            for _ in range(turns):
                seed = (1664525 * seed + 1013904223) & 0x7FFFFFFF
            out[0, 0] = seed

    return body


def make_nothing(_target):
    """Return a program that hardly does anything."""

    def body(x0, y0, dx, dy, out, like, n):
        if y0 < n:
            out[0, 0] = like[0, 0]

    return body


def launch(request, times):
    """Time launches, one after the other, until all are done."""
    from fractals.backends.devices import choose, open_backend

    backend = open_backend(choose(request).device, "float32")
    run = backend.compile(make_nothing)
    out = backend.to_device(np.zeros((8, 8), np.int32))
    run(out, out, np.int32(1))
    backend.synchronize()
    begun = perf_counter()
    for _ in range(times):
        run(out, out, np.int32(1))
    backend.synchronize()
    return (perf_counter() - begun) / times


def copies(request, size, runs):
    """Return bytes a second between the device and page-locked or ordinary host memory."""
    from fractals.backends.devices import choose, open_backend

    backend = open_backend(choose(request).device, "float32")
    slot, host = backend.slot, np.zeros(size, np.uint8)
    on_device = slot.empty((size,), np.uint8)
    (staged,) = slot.copy_to_host([on_device])

    def rate(copy):
        found = []
        for _ in range(runs):
            begun = perf_counter()
            copy()
            slot.synchronize()
            found.append(size / (perf_counter() - begun))
        return statistics.median(found)

    return {
        "to device": rate(lambda: slot.copy_in(host, on_device)),
        "to device, page-locked": rate(lambda: slot.copy_in(staged, on_device)),
        "to host": rate(lambda: slot.copy_out(on_device, host)),
        "to host, page-locked": rate(lambda: slot.copy_out(on_device, staged)),
    }


def frames(request, precision, size, count):
    """Draw a frame again and again, each brought to the host; return frames a second."""
    scene = bench.load_workload("default").scene.replace(
        size=size, supersampling=1, precision=precision
    )
    drawing = start(scene, request, shading=True)
    own = threading.local()

    def draw(_frame):
        if not hasattr(own, "pixels"):
            own.pixels = np.empty((size[1], size[0], 3), np.uint8)
        tile = whole(drawing)
        drawing.backend.to_host(shade_tile(drawing, tile, drawing.source.iterate(tile)), own.pixels)
        return {}

    run_tiles(range(4), draw, drawing.backend.threads)  # allocates
    begun = perf_counter()
    run_tiles(range(count), draw, drawing.backend.threads)
    return count / (perf_counter() - begun)


def on_device(request, size, runs):
    """Return the seconds that a large picture of workload f takes, iterated and colored."""
    scene = bench.load_workload("f").scene.replace(size=size)
    drawing = start(scene, request, shading=True)

    def draw():
        for tile in drawing.plan.tiles:
            shade_tile(drawing, tile, drawing.source.iterate(tile))

    return Clock(drawing.backend).median(draw, runs)[0]


# Scenes of the gallery that throw points, and of solids, with their samples a pixel.
THROWN, SOLIDS, SAMPLES = ("plume", "garland", "shroud", "saint"), ("ruin", "caldera", "reef"), 4


def pictures(request, size, runs):
    """Draw pictures of other families on the CPU and the device; return the seconds of each.

    The first picture of each device is not counted: it compiles.
    """
    found = {}
    for name in (*THROWN, *SOLIDS):
        samples = {"samples": SAMPLES} if name in SOLIDS else {}
        scene = load_scene(name).replace(size=size, **samples)
        figures = {"size": list(size), **samples}
        pixels = []
        for device in ("cpu", request):
            times = []
            for _ in range(runs + 1):
                begun = perf_counter()
                image = render(scene, device=device)
                times.append(perf_counter() - begun)
            pixels.append(image.pixels)
            figures[device] = {"first": times[0], "seconds": statistics.median(times[1:])}
        figures["differing_pixels"] = int(np.count_nonzero((pixels[0] != pixels[1]).any(axis=2)))
        found[name] = figures
    return found
