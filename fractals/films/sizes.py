"""The size of a film's file, from some of its frames that are encoded before it is made.

How many bits a pixel takes differs by a factor of ten between films: it depends on the detail, on
the speed of the zoom and on the size of the frames. So a number for each codec is no forecast.
"""

import io
import math
import tempfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from time import perf_counter

import numpy as np

from fractals.films import encode
from fractals.films.encode import Video
from fractals.films.plan import FilmPlan, Timeline, frame_scenes, segments_of
from fractals.films.planes import Frame, rounded
from fractals.films.writing import SUFFIXES, check_loop, write_loop
from fractals.io.image import Image
from fractals.rendering.families import family_of

PLACES, RUN = 3, 5  # places of a film, and frames there that follow each other
ACROSS = 320  # pixels, to which wider frames are made smaller
LEAST = max(codec.least for codec in encode.CODECS.values())  # pixels of a side, of any codec
PATIENCE = 10.0  # seconds that these frames may take by their forecast
ENOUGH = 4.0  # seconds that they took, after which no other place is begun
# Bits of a frame grow with its pixels to this power (measured: zooms of 320x180 and 1280x720).
GROWTH = 0.78
LARGER = 1.2  # files of whole films were 1.05 to 1.37 times as large as such short ones tell


def with_measured_file(film: Timeline, plan: FilmPlan, path: str | Path) -> FilmPlan:
    """Return a plan with the bytes of the film's pictures, and the seconds of writing a loop.

    The plan is unchanged if frames to measure would take more than PATIENCE seconds.
    `OptionError`: the file can't hold frames of this size.
    """
    if plan.video:
        plan.video.check_size(film.size)
    elif (suffix := Path(path).suffix.lower()) in SUFFIXES:
        check_loop(suffix, film.fps, film.size, len(film))
    small = _reduced(film)
    if _seconds(small) > PATIENCE:
        return plan
    count, video = len(small), plan.video
    run = min(RUN, count)
    begins = np.unique(np.linspace(0, count - run, PLACES).astype(int)).tolist()
    keys: list[float] = []
    others: list[float] = []
    spent, started = 0.0, perf_counter()
    for begin in [*begins[1:], *begins[:1]]:  # the first frames of a zoom tell least
        if keys and perf_counter() - started > ENOUGH:
            break
        frames = list(small.frames(begin, begin + run))
        first = _bytes(small, frames[:1], video, path)
        begun = perf_counter()
        whole = _bytes(small, frames, video, path)
        spent += perf_counter() - begun
        keys.append(first)
        others.append((whole - first) / max(1, run - 1))
    segments = 1
    if video:
        segments = sum(len(segments_of(chosen, range(count))) for chosen in plan.parts)
    scale = math.prod(film.size) / math.prod(small.size)
    found = segments * float(np.mean(keys)) + (count - segments) * float(np.mean(others))
    found *= LARGER * scale**GROWTH if video else scale
    seconds = 0.0 if video else spent * scale * count / (run * len(keys))
    return replace(plan, measured=round(found), writing=seconds)


def _reduced(film: Timeline) -> Timeline:
    """Return a film of smaller frames, drawn as its own are."""
    width, height = film.size
    if width <= ACROSS:
        return film
    sides = ACROSS, max(LEAST, round(ACROSS * height / width / 2) * 2)
    options = film.options.replace(progress=None, on_message=lambda line: None)
    return replace(film, scene=film.scene.replace(size=sides), options=options)


def _seconds(film: Timeline) -> float:
    """Return a forecast of the seconds that the frames take that are encoded."""
    quiet = film.options.replace(on_message=lambda line: None)
    family, part = family_of(film.scene), film.parts[-1].part
    scenes = frame_scenes(film, part, film.facts)[-2:]
    drawn = max(family.plan(scene, quiet, "pixels").seconds for scene in scenes)
    return float(PLACES * RUN * drawn)


def _bytes(film: Timeline, frames: list[Frame], video: Video | None, path: str | Path) -> float:
    """Return the bytes of some frames in a file of the film's type."""
    suffix = Path(path).suffix.lower()
    if video:
        with tempfile.TemporaryDirectory(prefix="fractals-") as folder:
            file = Path(folder, f"part{video.suffix}")
            rate = Fraction(film.fps).limit_denominator(1001)
            encoder = encode.Encoder(file, video, film.size, rate)
            encoder.write_all(frames)
            encoder.close()
            return float(file.stat().st_size)
    if suffix in SUFFIXES:
        buffer = io.BytesIO()
        write_loop(buffer, suffix, frames, film.fps, len(frames))
        return buffer.tell()
    return float(sum(len(Image(rounded(frame), film.scene).encode()) for frame in frames))
