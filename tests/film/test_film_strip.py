"""Frames from a strip: against plane pictures, against each other, and on every backend."""

import itertools
import math
from functools import partial

import numpy as np
import pytest
from support.opencl import OPENCL
from support.strip_programs import outputs

import fractals
from fractals import load_scene
from fractals.backends.devices import choose, open_backend
from fractals.errors import OptionError
from fractals.films.bands import fixed_place, keeps_values, make_layout, obstacle
from fractals.films.frames import FilmConstants
from fractals.films.motion import make_motion, with_view
from fractals.films.plan import Timeline, make_frames
from fractals.films.strip import Shutter, Strip
from fractals.films.tracks import Tracks, scene_of
from fractals.kernels import strip as kernels
from fractals.rendering.options import RenderOptions

# Bands of these films take a thread less time than it takes to wake another one.
CPU = RenderOptions(device="cpu", threads=1)
START = {"at": 0, "center": ["-0.75", "0.1"], "width": "0.5"}
END = {"at": 1, "center": ["-0.7453", "0.1127"], "width": "0.05"}
SMALL = 32, 18  # of frames that are compared bit by bit: a strip has as many bands as at 64 x 36


def film_of(*keys, size=(64, 36), fps=20, **changes):
    own = {"palette": "ember", "density": 0.3, "transfer": "log", "max_iterations": 500}
    film = {"fps": fps, "keys": list(keys)}
    return load_scene("mandelbrot", {"film": film}, size=size, **{**own, **changes})


def maker_of(scene, density=2.0, shutter=0.0, segment=20, options=CPU, folder=None, colors=None):
    """Return what makes the frames of a film of one part."""
    (part,) = make_motion(scene, 0).parts
    facts = FilmConstants(scene.iteration.max_iterations, 0.0)
    strip = Strip(scene, part, density, shutter, segment, colors)
    return make_frames(strip, facts, options, folder)


def valued_of(*keys, tracks=None, **given):
    """Return what makes frames whose colors are those of their time, and a frame's scene."""
    own = {
        key: given.pop(key) for key in ("shutter", "segment", "options", "folder") if key in given
    }
    scene = film_of(*keys, **given)
    film = {**scene.film.model_dump(mode="json", exclude_none=True), "tracks": tracks or {}}
    tracks = Tracks(scene.replace(film=film))
    maker = maker_of(scene, colors=partial(scene_of, tracks, scene), **own)
    return maker, lambda moment: scene_of(
        tracks, with_view(maker.strip.scene, moment), moment.seconds
    )


def frames_of(maker):
    """Return all frames; those of deep views are made first."""
    numbers, found = maker.strip.part.frames, {}
    begins = range(0, len(numbers), maker.strip.segment)
    for begin in begins if maker.strip.part.octaves < 0 else reversed(begins):
        some = numbers[begin : begin + maker.strip.segment]
        found |= zip(some, maker.frames(some), strict=True)
    return [found[number] for number in numbers]


def plane(maker, number, supersampling=8, scene=None):
    view = scene or with_view(maker.strip.scene, maker.strip.part.moment(number))
    limit = maker.facts.max_iterations
    keys = {"supersampling": supersampling, "bits": 16, "max_iterations": limit}
    return fractals.render(view, **keys, device="cpu").pixels


def decibels(frame, other):
    """Return the peak signal to noise ratio of sRGB values."""
    error = (frame.astype(float) - other.astype(float)) / 65535
    return -10 * math.log10(float((error**2).mean()))


QUINTIC = {"name": "multibrot", "power": 5}
CHANGES = {
    "about the center": ({**START, "center": END["center"]}, END, {}),
    "off the center": (START, END, {}),
    "turned": ({**START, "rotation": 20}, {**END, "rotation": -100}, {}),
    "mirrored": (START, {**END, "rotation": 70}, {"mirror": True}),
    "stretched": (START, END, {"stretch": 1.6, "stretch_angle": 30}),
    "lit": (
        {**START, "rotation": 50},
        {**END, "rotation": 50},
        {"coloring": "slopes", "strength": 0.5},
    ),
    "of a Julia set": (
        {**START, "center": ["0.1", "0.2"]},
        {**END, "center": ["0.05", "0.3"]},
        {"julia": ["-0.4", "0.59"]},
    ),
}


@pytest.mark.parametrize("case", CHANGES)
def test_frames_are_plane_pictures(case):
    first, last, changes = CHANGES[case]
    changes = dict(changes)
    strength = changes.pop("strength", None)
    if strength:
        changes["coloring"] = {"name": "slopes", "strength": strength}
    maker = maker_of(film_of(first, last, **changes))
    for number in (19, 9, 0):
        (frame,) = maker.frames([number])
        other = plane(maker, number)
        quality = decibels(frame, other)
        assert quality > decibels(plane(maker, number, 2), other) + 1, number
        assert abs(frame.mean((0, 1)) - other.mean((0, 1))).max() < 1.5 * 257
        for axis, by in ((0, 1), (0, -1), (1, 1), (1, -1)):
            assert quality > decibels(frame, np.roll(other, by, axis)) + 3, (axis, by)


OFFSET = {"offset": [[0, 0], [1, 0.7]], "density": [[0, 0.3], [1, 0.4]]}
LIGHT = {"coloring.direction": [[0, 100], [1, 300]]}
SLOPES = {"name": "slopes", "strength": 0.5}
VALUES = {
    "offset and density": (START, END, OFFSET, {}),
    "distance": (START, END, None, {"coloring": "distance"}),
    "distance, turned": ({**START, "rotation": 20}, END, None, {"coloring": "distance"}),
    "a light while it turns": (START, {**END, "rotation": 90}, None, {"coloring": SLOPES}),
    "mirrored": (START, {**END, "rotation": 90}, None, {"coloring": SLOPES, "mirror": True}),
    "a light that turns": (START, END, LIGHT, {"coloring": SLOPES, "stretch": 1.6}),
    "ranks": (START, {**END, "rotation": 40}, None, {"coloring": "rank", "density": 1}),
    "histogram": (START, END, None, {"coloring": "histogram", "density": 1}),
    "layers": (
        START,
        END,
        OFFSET,
        {"layers": [{"coloring": "slopes"}, {"coloring": "stripe_average", "opacity": 0.3}]},
    ),
}


SLOW = {"layers": [pytest.mark.slow]}  # two more programs are compiled


@pytest.mark.parametrize("case", [pytest.param(case, marks=SLOW.get(case, [])) for case in VALUES])
def test_frames_have_the_colors_of_their_time_and_width(case):
    first, last, tracks, changes = VALUES[case]
    maker, scene_at = valued_of(first, last, tracks=tracks, **changes)
    for number in (19, 0):
        (frame,) = maker.frames([number])
        scene = scene_at(maker.strip.part.moment(number))
        other = plane(maker, number, scene=scene)
        quality = decibels(frame, other)
        assert quality > decibels(plane(maker, number, 2, scene), other) - 2, number
        assert quality > 27
        assert abs(frame.mean((0, 1)) - other.mean((0, 1))).max() < 1.5 * 257
        for axis, by in ((0, 1), (0, -1), (1, 1), (1, -1)):
            assert quality > decibels(frame, np.roll(other, by, axis)) + 3, (axis, by)


@pytest.mark.slow
def test_values_are_those_of_a_deep_frame():
    first = {"at": 0, "center": load_scene("clockwork").view.center, "width": "1e-40"}
    changes = {"palette": "ember", "max_iterations": 50_000, "size": (48, 27), "density": 0.2}
    last = {**first, "at": 1, "width": "3e-41", "rotation": 30}
    layers = [{"coloring": "slopes"}]
    maker, scene_at = valued_of(first, last, coloring="distance", layers=layers, **changes)
    (frame,) = maker.frames([15])
    assert maker.bands._source.plan.deep
    scene = scene_at(maker.strip.part.moment(15))
    other = plane(maker, 15, scene=scene)
    assert decibels(frame, other) > decibels(plane(maker, 15, 2, scene), other) - 1


def test_frames_of_values_do_not_depend_on_order_segments_and_folders(in_parts, tmp_path):
    keys, facts = (START, {**END, "width": "0.01"}), {"tracks": OFFSET, "shutter": 0.5}
    facts |= {"coloring": "distance", "fps": 10, "size": SMALL}
    whole = frames_of(valued_of(*keys, **facts)[0])
    assert len(np.unique(whole[3])) > 100
    threads = CPU.replace(threads=3)
    other, _ = valued_of(*keys, **facts, segment=3, options=threads)
    assert np.array_equal(whole, frames_of(other))
    forward, _ = valued_of(*keys, **facts, segment=4)
    assert np.array_equal(whole, list(forward.frames(range(10))))
    last = list(valued_of(*keys, **facts, segment=3, folder=tmp_path)[0].frames(range(6, 10)))
    assert list(tmp_path.glob("*.npy"))
    again, _ = valued_of(*keys, **facts, segment=3, folder=tmp_path)
    assert np.array_equal([*again.frames(range(3, 6)), *last], whole[3:])


def test_a_zoom_is_divided_where_colors_stay(monkeypatch):
    monkeypatch.setattr("fractals.films.plan.LEAST", 5)
    scene = film_of(START, END, supersampling=3)
    tracks = {"offset": [[0, 0.2], [0.3, 0.2], [0.7, 0.5]]}
    film = scene.film.model_dump(mode="json", exclude_none=True)
    film |= {"tracks": tracks, "shutter": 0, "density": 2}
    film = fractals.film(scene.replace(film=film), device="cpu")
    frames = [chosen.part.frames for chosen in film.parts]
    assert frames == [range(6), range(6, 14), range(14, 20)]
    assert [chosen.method for chosen in film.parts] == ["strip"] * 3
    assert ["keeps values" in chosen.reason for chosen in film.parts] == [False, True, False]
    assert film.parts[2].samples < film.parts[1].samples  # bands above its frames are not made
    found = list(film.frames(4, 16))
    for number in (5, 6, 13, 14):
        frame = found[number - 4]
        scene = film.scene_at(number)
        other = fractals.render(scene, supersampling=8, bits=16, device="cpu").pixels
        assert decibels(frame, other) > 27, number


def test_the_shutter_blurs_colors_of_values():
    keys = {**START, "ease": "constant"}, {**END, "rotation": 0, "ease": "constant"}
    for last in (keys[1], {**keys[1], "rotation": 25}):
        maker = maker_of(film_of(keys[0], last), shutter=0.7)
        valued, _ = valued_of(keys[0], last, shutter=0.7)
        sharp = maker_of(film_of(keys[0], last))
        (one,), (other,), (still,) = (each.frames([8]) for each in (maker, valued, sharp))
        assert decibels(one, other) > 33
        assert decibels(one, other) > decibels(one, still) + 2


def test_a_film_out_is_a_film_in_backwards(in_parts):
    there = film_of(START, END, size=SMALL)
    back = film_of({**END, "at": 0}, {**START, "at": 1}, size=SMALL)
    there, back = (frames_of(maker_of(scene, shutter=0.5)) for scene in (there, back))
    assert np.array_equal(there, back[::-1])


def test_frames_do_not_depend_on_segments_and_threads(in_parts):
    scene = film_of(START, {**END, "rotation": 30}, size=SMALL)
    whole = frames_of(maker_of(scene))
    threads = CPU.replace(threads=3)
    for other in (maker_of(scene, segment=3), maker_of(scene, segment=7, options=threads)):
        assert np.array_equal(whole, frames_of(other))
    for number in (17, 4):  # a part of a film
        (alone,) = maker_of(scene).frames([number])
        assert np.array_equal(alone, whole[number])


@pytest.mark.parametrize("turn", [15, 0])
def test_the_shutter_takes_the_mean_of_the_frames_in_its_time(turn):
    scene = film_of(START, {**END, "rotation": turn, "ease": "constant"}, size=(96, 54))
    maker = maker_of(scene, shutter=0.5)
    (blurred,) = maker.frames([10])
    sharp = maker_of(scene, shutter=0.0)
    (still,), many = sharp.frames([10]), []
    decode = fractals.color.palette.linear_from_srgb
    for k in range(17):
        moment = maker.strip.part.moment(10 + 0.5 * k / 16)
        sharp.hold([moment])
        weight = 0.5 if k in (0, 16) else 1.0
        many.append(weight * decode(sharp.frame(moment) / 65535))
    mean = fractals.color.palette.srgb_from_linear(sum(many) / 16) * 65535
    assert decibels(blurred, mean) > 40
    assert decibels(blurred, mean) > decibels(still, mean) + 10


@pytest.mark.parametrize("width", ["1e-3", "1e-60"])
@pytest.mark.parametrize("density", [1.0, 1.5, 2.7])
def test_frames_take_texels_that_are_held(width, density):
    scene = film_of(START, {**END, "width": width}, size=(160, 90))
    (part,) = make_motion(scene, 0).parts
    depth = part.moment(part.frames[-1]).octaves
    fixed = fixed_place(scene, part, (160, 90))
    layout = make_layout(fixed, density, depth)
    octaves = np.linspace(0, depth, 7)
    for shallow, deep in itertools.combinations(octaves, 2):
        held = [layout.needed(level, shallow, deep) for level in range(layout.bits + 1)]
        for octave in (shallow, (shallow + deep) / 2, deep):
            for below in np.linspace(0, layout.reach, 500):
                size = layout.rim_level + below
                row = 2 + (octave + below) * layout.octave
                level = min(int(size), layout.bits)
                upper = math.floor(row / 2**level - 0.5)
                last = (layout.bands << (layout.bits - level)) - 1
                for texel in range(max(upper - 1, 0), min(upper + 2, last) + 1):
                    band = (texel << level) >> layout.bits
                    assert band in held[level]
                    assert layout.finest(band) <= level
    assert (
        sum(map(layout.band_samples, range(layout.bands)))
        < 1.3 * layout.bands * layout.columns * layout.rows
    )


@pytest.mark.parametrize("width", ["1e-3", "1e-60"])
@pytest.mark.parametrize("shutter", [0.0, 0.5])
@pytest.mark.parametrize("size", [(160, 90), (1920, 1080)])
def test_frames_take_samples_that_are_held(width, shutter, size):
    scene = film_of(START, {**END, "width": width}, size=size)
    (part,) = make_motion(scene, 0).parts
    strip = Strip(scene, part, 2.0, shutter, colors=lambda seconds: scene)
    layout, depth = strip.layout, strip.layout.depth
    blurred = Shutter(strip).longest
    borders = [0.0, *layout.borders, layout.reach]
    for shallow, deep in itertools.combinations(np.linspace(0, depth, 7), 2):
        regions = layout.regions(shallow, deep)
        for octave, ring in itertools.product(
            np.linspace(shallow, deep, 5), itertools.pairwise(borders)
        ):
            for level in range(layout.bits + 1):
                rows = layout.ring_rows(level, octave, ring)
                last = min(
                    rows.stop - 1 + math.ceil(blurred / 2**level) + bool(shutter),
                    (layout.bands << (layout.bits - level)) - 1,
                )
                fine = max(0, level - layout.finer)
                for row in (rows.start, last) if rows else ():
                    finer = [region for region in regions[: fine + 1] if region]
                    assert finer[0].start <= row << level
                    assert (row + 1) << level <= finer[-1].stop
                    assert layout.finest(row >> (layout.bits - level)) <= fine


@pytest.fixture
def in_parts(monkeypatch):
    """Have small strips held in parts, as large ones are."""
    monkeypatch.setattr("fractals.films.strip.WHOLE", 0)


def test_frames_in_their_order_are_the_same(in_parts):
    scene = film_of(START, {**END, "width": "1e-4"}, size=SMALL)
    expected = frames_of(maker_of(scene, segment=4))
    forward = maker_of(scene, segment=4)
    opened, opens = [], forward.bands.open
    forward.bands.open = lambda band, more: opened.append(band) or opens(band, more)
    found = list(forward.frames(range(20)))
    assert np.array_equal(expected, found)
    assert sorted(opened) == list(range(forward.strip.layout.bands))  # each once
    assert forward.files.folder.is_dir()


def test_a_strip_held_as_a_whole_has_the_same_frames(monkeypatch):
    scene = film_of(START, {**END, "width": "1e-4"}, size=SMALL)
    whole = maker_of(scene, segment=4)
    assert whole.strip.whole
    expected = list(whole.frames(range(20)))
    monkeypatch.setattr("fractals.films.strip.WHOLE", 0)
    assert np.array_equal(expected, frames_of(maker_of(scene, segment=4)))


def test_a_strip_goes_on_from_its_folder(tmp_path, in_parts):
    scene = film_of(START, END, size=SMALL)
    whole = frames_of(maker_of(scene))
    first = maker_of(scene, segment=5, folder=tmp_path)
    last = list(first.frames(range(15, 20)))
    files = sorted(tmp_path.glob("*.npy"))
    assert files
    files[-1].write_bytes(files[-1].read_bytes()[:-9])  # torn by a power failure
    again = maker_of(scene, segment=5, folder=tmp_path)
    made = list(again.frames(range(10, 15)))
    assert np.array_equal([*made, *last], whole[10:])
    assert len(list(tmp_path.glob("*.npy"))) <= again.strip.layout.bands


@pytest.mark.parametrize("valued", [False, True], ids=["colors", "values"])
def test_frames_after_an_interruption_are_the_same(valued, monkeypatch):
    """A worker of a cluster goes on with the same strip after a task was cancelled."""
    keys = START, {**END, "width": "0.01"}

    def opened():
        small = {"size": SMALL}
        return valued_of(*keys, **small)[0] if valued else maker_of(film_of(*keys, **small))

    maker, name = opened(), "draw" if valued else "rows"
    drawing = maker.sampler if valued else maker.bands
    draw, calls = getattr(drawing, name), itertools.count()

    def interrupted(*given):
        if next(calls) == 9:
            raise InterruptedError
        return draw(*given)

    monkeypatch.setattr(drawing, name, interrupted)
    with pytest.raises(InterruptedError):
        list(maker.frames(range(20)))
    found = list(maker.frames(range(20)))
    assert np.array_equal(found, list(opened().frames(range(20))))


def test_the_forecast_of_memory_holds(in_parts):
    keys = START, {**END, "width": "1e-6"}
    maker = maker_of(film_of(*keys, size=SMALL), segment=5)
    forecast = maker.strip.memory
    frames_of(maker)
    assert maker.pool.texels.nbytes < forecast
    maker, _ = valued_of(*keys, size=SMALL, segment=5)
    forecast, most = maker.strip.memory, 0
    for begin in reversed(range(0, 20, 5)):
        list(maker.frames(range(begin, begin + 5)))
        most = max(most, maker.held.size + maker._texels.nbytes)
    assert forecast / 2 < most < forecast


@pytest.mark.parametrize(
    ("changes", "turn", "reason"),
    [
        ({}, 90, ""),
        ({"coloring": "slopes"}, 0, ""),
        ({"coloring": "interior_distance"}, 0, "widths"),
        ({"coloring": "rank", "formula": QUINTIC, "escape_radius": 1e9}, 0, "escape radius"),
        ({"coloring": "rank", "escape_radius": 1e9}, 0, ""),
        ({"stretch": 2}, 90, "stretched"),
        ({"stretch": 2}, 0, ""),
    ],
)
def test_obstacles_have_a_reason(changes, turn, reason):
    scene = film_of(START, {**END, "rotation": turn}, **changes)
    (part,) = make_motion(scene, 0).parts
    found = obstacle(scene, part)
    assert reason in found
    assert bool(reason) == bool(found)


@pytest.mark.parametrize("zeros", [14, 160, 400])
def test_a_move_with_a_little_zoom_has_no_strip(zeros):
    """The point that stands still is farther away than float64 reaches."""
    near = {"at": 0, "width": "1", "center": ["0", "0"]}
    scene = film_of(near, {"at": 1, "width": f"1.{zeros * '0'}1", "center": ["1", "0"]})
    film = Timeline(scene, CPU)
    (chosen,) = film.parts
    assert (chosen.method, chosen.reason) == (
        "frames",
        "the point that stands still is far outside of the frames",
    )


@pytest.mark.parametrize(
    ("changes", "turn", "reason"),
    [
        ({}, 90, ""),
        ({"coloring": "slopes"}, 0, ""),
        ({"coloring": "slopes"}, 90, "light"),
        ({"coloring": "distance"}, 0, "widths"),
        ({"coloring": "rank"}, 0, "ranks"),
    ],
)
def test_values_are_kept_for_a_reason(changes, turn, reason):
    scene = film_of(START, {**END, "rotation": turn}, **changes)
    (part,) = make_motion(scene, 0).parts
    found = keeps_values(scene, part)
    assert reason in found
    assert bool(reason) == bool(found)


def test_a_still_point_is_where_both_views_have_it():
    scene = film_of(START, {**END, "rotation": 90})
    (part,) = make_motion(scene, 0).parts
    fixed = fixed_place(scene, part, (64, 36))
    for number in (0, 7, 19):
        moment = part.moment(number)
        x, y = (
            float((there - here) / moment.width) * 64
            for there, here in zip(part.fixed, moment.center, strict=True)
        )
        turn = math.radians(moment.rotation)
        right = x * math.cos(turn) + y * math.sin(turn)
        up = y * math.cos(turn) - x * math.sin(turn)
        assert (32 + right, 18 - up) == pytest.approx((fixed.x, fixed.y), abs=1e-9)


@pytest.mark.parametrize("kind", ["cpu", "simulator"])
def test_programs_are_equal_on_every_backend(kind):
    expected = outputs(open_backend(choose("python").device, "float64"))
    found = outputs(open_backend(choose(kind).device, "float64"))
    for one, other in zip(expected, found, strict=True):
        assert np.array_equal(one, other)


def test_a_shutter_of_no_time_changes_nothing():
    backend = open_backend(choose("cpu").device, "float64")
    sharp = np.random.default_rng(1).integers(0, 65536, (9, 15), dtype=np.uint16)
    texels, light = np.empty((8, 9), np.uint16), np.empty((1, 9), np.float32)
    still = np.zeros(8, np.float32)
    backend.compile(kernels.make_blur_body)(texels, sharp, light, still, still)
    assert np.array_equal(texels, sharp[:8, 3:12])


def test_a_smear_is_the_integral_of_the_line_through_texels():
    backend = open_backend(choose("cpu").device, "float64")
    sharp = np.random.default_rng(1).integers(0, 65535, (90, 15), dtype=np.uint16)
    found, sums = np.empty((64, 15), np.uint16), np.empty((90, 15), np.int32)
    backend.compile(kernels.make_sums_body)(sums, sharp)
    down = np.linspace(0, 24, 64).astype(np.float32)
    backend.compile(kernels.make_smear_body)(found, sharp, sums, down)
    assert np.array_equal(found[0], sharp[0])
    for j in (1, 17, 63):
        y = np.linspace(j, j + down[j], 20_001)
        lines = [np.interp(y, range(90), sharp[:, i]) for i in range(15)]
        assert found[j] == pytest.approx(np.mean(lines, 1), abs=4)


def kept_of(*keys, options):
    return maker_of(film_of(*keys), options=options)


@pytest.mark.parametrize(
    "make",
    [kept_of, lambda *keys, options: valued_of(*keys, options=options)[0]],
    ids=["kept", "colored"],
)
def test_a_gpu_takes_as_many_texels_as_its_programs_can_index(monkeypatch, make):
    """They index arrays by 32 bits, and those of the CPU by 64."""
    monkeypatch.setattr(kernels, "MAX_TEXELS", 1000)
    narrow = {**END, "width": "0.3"}
    (frame,) = make(START, narrow, options=CPU).frames([19])
    assert frame.shape == (36, 64, 3)
    with pytest.raises(
        OptionError, match=r"^frames of this size need .* and a GPU takes 1,000: give"
    ):
        list(make(START, narrow, options=CPU.replace(device="simulator")).frames([19]))


each_other_device = pytest.mark.parametrize("device", ["simulator", OPENCL])


@each_other_device
@pytest.mark.parametrize(("shutter", "turn"), [(0.5, 20), (0.5, 0), (0.0, 0)])
def test_every_device_makes_the_same_frames_of_values(shutter, turn, device):
    keys = START, {**END, "width": "0.2", "rotation": turn}
    small = {"size": (24, 14), "max_iterations": 60, "coloring": "slopes", "tracks": LIGHT}
    other = RenderOptions(device=device)
    expected, _ = valued_of(*keys, shutter=shutter, **small)
    found, _ = valued_of(*keys, shutter=shutter, options=other, **small)
    for number in (19, 0):
        (one,), (other,) = expected.frames([number]), found.frames([number])
        assert np.array_equal(one, other)


@each_other_device
def test_every_device_makes_the_same_frames(device):
    scene = film_of(START, {**END, "width": "0.2"}, size=(24, 14), max_iterations=60)
    expected = maker_of(scene, shutter=0.5)
    found = maker_of(scene, shutter=0.5, options=RenderOptions(device=device))
    for number in (19, 0):
        (one,), (other,) = expected.frames([number]), found.frames([number])
        assert np.array_equal(one, other)


def test_small_frames_take_texels_of_one_turn():
    scene = film_of(START, END, size=(4, 3))
    maker = maker_of(scene, density=0.25)
    assert maker.strip.layout.turn == 4
    for number in (19, 0):
        (frame,) = maker.frames([number])
        assert abs(frame.mean((0, 1)) - plane(maker, number).mean((0, 1))).max() < 30 * 257


@pytest.mark.parametrize("density", [0.25, 8.0])
def test_frames_of_few_and_of_many_texels(density):
    scene = film_of(START, {**END, "rotation": 45})
    maker = maker_of(scene, density=density)
    for number in (19, 0):
        (frame,) = maker.frames([number])
        exact = plane(maker, number)
        assert decibels(frame, exact) > (30 if density > 1 else 17)
        assert abs(frame.mean((0, 1)) - exact.mean((0, 1))).max() < 4 * 257
