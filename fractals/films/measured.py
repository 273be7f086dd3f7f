"""The seconds that the parts of a film take, from some samples of them."""

import itertools
from dataclasses import replace
from time import perf_counter

import numpy as np

from fractals.films.bands import BandMaker
from fractals.films.facts import Facts
from fractals.films.motion import Motion
from fractals.films.plan import (
    GUESS,
    LOOKS,
    Chosen,
    frame_scenes,
    millions,
    open_strip,
    threads_of,
)
from fractals.films.strip import Strip
from fractals.films.tracks import Tracks
from fractals.rendering.drawing import Drawing
from fractals.rendering.measured import is_measurable
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import make_plan
from fractals.rendering.render import measure
from fractals.rendering.tiles import Tile

BANDS = 6  # of a strip, of which some samples are iterated
PIECES, ACROSS, DOWN = 8, 64, 8  # of a band: how many, and their samples
STRIP_COLORED = (
    40e6  # samples a second that a thread colors, blurs and averages for a strip (measured)
)


def is_soon_measured(
    chosen: Chosen, motion: Motion, tracks: Tracks, options: RenderOptions
) -> bool:
    """Tell whether some samples of a part are soon iterated, and tell the seconds of all.

    A GPU is not used to capacity by some samples, and the orbit of a very deep view takes long.
    """
    scenes = frame_scenes(motion, tracks, chosen.part, Facts(GUESS, 0.0))
    plans = (make_plan(scene, chosen.device, options.interior_shortcuts) for scene in scenes)
    return chosen.device == "cpu" and all(not plan.deep or is_measurable(plan) for plan in plans)


def with_measured_seconds(
    chosen: Chosen, motion: Motion, tracks: Tracks, facts: Facts, options: RenderOptions
) -> Chosen:
    """Return the same with measured seconds in place of those of a formula."""
    quiet = replace(options, force=True, progress=None, on_message=lambda line: None)
    if chosen.method == "strip":
        strip = open_strip(motion, tracks, chosen.part, facts, quiet)
        samples, seconds = _strip_samples(strip, threads_of(options))
        more = f"; texels in noise take about {millions(samples - chosen.samples)} more"
        reason = chosen.reason + more * (samples > chosen.samples)
        return replace(chosen, iterating=seconds, samples=samples, reason=reason)
    found = []
    for scene in frame_scenes(motion, tracks, chosen.part, facts):
        planned = make_plan(scene, "cpu", options.interior_shortcuts, threads_of(options))
        measured = measure(scene, quiet) if is_measurable(planned) else None
        found.append((measured or planned).seconds)
    frames = len(chosen.part.frames) if chosen.method == "frames" else 1
    return replace(chosen, iterating=frames * sum(found) / LOOKS)


def _strip_samples(strip: Strip, threads: int) -> tuple[int, float]:
    """Return the samples of all bands, with those added in noise, and their seconds."""
    maker, layout = strip.prepare().maker, strip.layout
    texels = np.array(list(map(layout.band_samples, strip.bands)))
    looks = np.unique(np.linspace(strip.bands[0], layout.bands - 1, BANDS).astype(int))
    looks = looks[::-1].tolist()
    opened, found = 0.0, []
    for band in looks:
        begun = perf_counter()
        drawing = maker.open(band, 0)
        drawing.source.iterate(Tile(0, 0, 1, 1), 1)  # compiles
        if band != looks[0]:  # the first one also computes the orbit
            opened += perf_counter() - begun
        found.append(_look(maker, drawing, not strip.colors))
    seconds, added = (
        np.interp(strip.bands, looks[::-1], each[::-1]) for each in zip(*found, strict=True)
    )
    tables = len(set(map(maker.group, strip.bands)))
    opened *= tables / max(1, len(looks) - 1)
    samples = texels * (1 + added)
    return round(samples.sum()), opened + float(
        np.dot(samples, seconds + 1 / STRIP_COLORED)
    ) / threads


def _look(maker: BandMaker, drawing: Drawing, refined: bool) -> tuple[float, float]:
    """Return a thread's seconds for a sample of a band, and the samples added for a texel."""
    columns, rows = drawing.plan.size
    across, down = min(ACROSS, columns), min(DOWN, rows)
    places = np.linspace(0, columns - across, PIECES).astype(int)
    heights = itertools.cycle((0, (rows - down) // 2, rows - down))
    tiles = [Tile(int(x), y, across, down) for x, y in zip(places, heights, strict=False)]
    seconds, added = 0.0, 0.0
    for tile in tiles:
        begun = perf_counter()
        raw = drawing.source.iterate(tile)
        seconds += perf_counter() - begun
        if refined:
            added += maker.refiner.added(drawing, tile, raw)
    return seconds / (len(tiles) * across * down), added / len(tiles)
