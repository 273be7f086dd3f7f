"""Parts of a film are divided where its tracks begin and end to move.

A zoom in which nothing but the view changes is made from a strip that keeps colors. So a track that
moves for some seconds does not have the whole zoom keep values, or be iterated frame by frame.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace

from fractals.films.bands import keeps_values
from fractals.films.motion import Motion, Part
from fractals.films.tracks import Tracks

# Frames without a change that are made apart: another strip costs some octaves of samples.
LEAST = 120


def split_parts(motion: Motion, tracks: Tracks) -> list[Part]:
    """Return the parts that have frames; a zoom is divided where its tracks stand still."""
    found: list[Part] = []
    for part in motion.parts:
        if part.kind == "zoom" and _gains(motion, tracks, part):
            found += _pieces(tracks, part)
        elif part.frames:
            found.append(part)
    return found


def _gains(motion: Motion, tracks: Tracks, part: Part) -> bool:
    """Tell whether frames of a part without a change can be made faster than others."""
    if not tracks.moving(part.first, part.last):
        return False
    return not (tracks.recolors(part.first, part.last) and keeps_values(motion.scene, part))


def _pieces(tracks: Tracks, part: Part) -> Iterator[Part]:
    frames = part.frames
    times = {time for track in tracks.tracks for time in track.curves[0].times}
    inner = sorted(time for time in times if part.first < time < part.last)
    begin = frames.start
    for one, two in itertools.pairwise([part.first, *inner, part.last]):
        if tracks.moving(one, two):
            continue
        first = frames.start if one == part.first else math.floor(one * part.rate) + 1
        stop = frames.stop if two == part.last else math.ceil(two * part.rate)
        if stop - first < LEAST:
            continue
        if begin < first:
            yield replace(part, frames=range(begin, first))
        yield replace(part, frames=range(first, stop))
        begin = stop
    if begin < frames.stop:
        yield replace(part, frames=range(begin, frames.stop))
