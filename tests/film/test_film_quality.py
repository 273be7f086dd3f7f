"""The quality of frames at real sizes, against pictures of 8x8 samples: slow."""

import itertools

import numpy as np
import pytest
from test_film_strip import CPU, decibels, film_of, maker_of, plane

import fractals
from fractals.films.frames import find_facts
from fractals.films.motion import make_motion, with_view
from fractals.films.plan import make_frames
from fractals.films.strip import Strip
from fractals.films.tracks import Tracks

pytestmark = pytest.mark.slow

DIVE = ({"at": 0, "width": "3"}, {"at": 10, "center": ["-0.7453", "0.1127"], "width": "0.01"})
AWAY = (
    {"at": 0, "center": ["-0.4", "0"], "width": "3", "rotation": 40},
    {**DIVE[1], "rotation": 0},
)
LOOKS = {"palette": "hokusai", "density": 0.7, "offset": 0.5, "max_iterations": 3000}
# Counts from 20,000 to 400,000; the exponents of numbers change on the way, at 1e-271.
DEEP = ({"at": 0, "width": "1e-266"}, {"at": 10, "width": "1e-276"})


def quality_of(maker, number):
    (frame,) = maker.frames([number])
    return frame, plane(maker, number)


@pytest.mark.parametrize("keys", [DIVE, AWAY], ids=["dive", "off the center, turned"])
@pytest.mark.parametrize(("density", "least"), [(1.5, 33), (2.0, 35)])
@pytest.mark.parametrize("valued", [False, True], ids=["colors", "values"])
def test_frames_are_close_to_pictures_of_many_samples(keys, density, least, valued):
    scene = film_of(*keys, size=(640, 360), **LOOKS)
    maker = maker_of(scene, density=density, colors=(lambda seconds: scene) if valued else None)
    for number in (100, 65, 0):
        frame, other = quality_of(maker, number)
        assert decibels(frame, other) > least, number
        assert abs(frame.mean((0, 1)) - other.mean((0, 1))).max() < 0.5 * 257


NOISY = {"elephant": 0.007, "seahorse": 0.007}  # where 2 x 2 samples have less than 25 dB


@pytest.mark.parametrize("name", NOISY)
@pytest.mark.parametrize(("density", "least"), [(1.5, 35), (2.0, 37)])
def test_frames_of_noise_are_close_to_pictures_of_many_samples(name, density, least):
    keys = [{"at": at, "width": str(NOISY[name] * by)} for at, by in ((0, 2), (1, 0.5))]
    scene = fractals.load_scene(name, {"film": {"fps": 60, "keys": keys}}, size=(480, 270))
    motion = make_motion(scene, 0)
    facts = find_facts(motion, Tracks(scene), CPU)
    maker = make_frames(Strip(scene, motion.parts[0], density, 0.0, 20), facts, CPU)
    (frame,) = maker.frames([30])
    other = plane(maker, 30, 15)  # 8 x 8 samples are noisy themselves: 36 to 37 dB
    assert decibels(frame, other) > least
    assert decibels(plane(maker, 30, 2), other) < 25


def test_frames_across_the_change_of_exponents():
    base = fractals.load_scene("clockwork", palette="ember", transfer="linear", density=0.0012)
    scene = fractals.load_scene(
        base, {"film": {"fps": 10, "keys": list(DEEP)}}, size=(320, 180), max_iterations=500_000
    )
    maker = maker_of(scene, density=1.5)
    methods = set()
    for number in (99, 50, 0):
        frame, other = quality_of(maker, number)
        methods.add(maker.bands._source.plan.extended)
        assert decibels(frame, other) > 33, number
    assert methods == {True, False}


def test_no_seam_at_the_borders_of_bands():
    maker = maker_of(film_of(*DIVE, size=(640, 360), **LOOKS), density=1.5)
    strip = maker.strip
    layout = strip.layout
    lines = [[] for _ in range(8)]  # errors at the borders of bands, and at lines between them
    for number in (130, 100, 65, 30):
        frame, other = quality_of(maker, number)
        error = ((frame.astype(float) - other) ** 2).mean(2)
        below = maker.places[1]
        depths = below + layout.octave * strip.part.moment(number).octaves + 2
        # Rows that are 2 pixels long where the frame has them.
        pixels = 2 * layout.columns / (2 * np.pi * strip.fixed.rim) * np.exp2(below / layout.octave)
        for line, errors in enumerate(lines):
            at = (depths - line / len(lines) * layout.rows) % layout.rows
            errors.append(error[np.minimum(at, layout.rows - at) < pixels])
    border, *others = (np.concatenate(errors).mean() for errors in lines)
    assert len(np.concatenate(lines[0])) > 1000
    assert border < 1.2 * np.mean(others)


@pytest.mark.parametrize("valued", [False, True], ids=["colors", "values"])
def test_frames_flicker_less_than_jittered_frames(valued):
    keys = [{**key, "ease": "constant"} for key in DIVE]
    scene = film_of(*keys, size=(480, 270), fps=60, **LOOKS)
    maker = maker_of(scene, density=1.5, colors=(lambda seconds: scene) if valued else None)
    numbers = range(300, 312)
    frames = list(maker.frames(numbers))

    def pictures(**keys):
        return [
            fractals.render(
                with_view(maker.strip.scene, maker.strip.part.moment(number)),
                bits=16,
                device="cpu",
                **keys,
            ).pixels
            for number in numbers
        ]

    exact = pictures(supersampling=8)
    jittered = pictures(supersampling=3, antialias="jittered")

    def flicker(found):
        errors = [one.astype(float) - other for one, other in zip(found, exact, strict=True)]
        return np.sqrt(np.mean([(b - a) ** 2 for a, b in itertools.pairwise(errors)]))

    assert flicker(frames) < flicker(jittered)
