"""Values of a scene over time: monotone curves, names, CSV files, colors alone."""

import itertools
import tomllib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fractals
from fractals import SceneError, load_scene
from fractals.color.palette import load as load_palette
from fractals.color.palette import oklab_from_linear, srgb_from_linear
from fractals.explorer.work import reversed_tracks
from fractals.films.frames import DevelopedFrames
from fractals.films.plan import split_parts
from fractals.films.tracks import Curve, Tracks, replaced
from fractals.io import film_files

OFTEN = ("hokusai", "hokusai", "ember")
number = st.floats(-1e6, 1e6).map(lambda v: round(v, 3))
points = st.lists(
    st.tuples(st.integers(0, 1000), number), min_size=1, max_size=8, unique_by=lambda p: p[0]
).map(sorted)


def test_a_curve_goes_through_a_point_by_the_weighted_harmonic_mean_of_its_rises():
    """The weights are 2 * 2 + 1 and 2 + 2 * 1, by the steps 1 and 2 (Fritsch and Butland, 1984)."""
    curve = Curve([0, 1, 3], [0, 0.5, 0.6])
    assert curve.slopes == pytest.approx([0.5, 9 / (5 / 0.5 + 4 / 0.05), 0.05])
    nearby = (curve(1 + 1e-6) - curve(1 - 1e-6)) / 2e-6
    assert nearby == pytest.approx(0.1, rel=1e-4)


@given(points)
@settings(max_examples=100)
def test_a_curve_stays_between_its_points(given_points):
    times, values = zip(*given_points, strict=True)
    curve = Curve(times, values)
    assert [curve(time) for time in times] == list(values)
    assert curve(times[0] - 1) == values[0]
    assert curve(times[-1] + 1) == values[-1]
    for (t, v), (u, w) in itertools.pairwise(given_points):
        found = [curve(t + (u - t) * k / 50) for k in range(51)]
        assert min(v, w) <= min(found) <= max(found) <= max(v, w)
        rises = [(b - a) * (w - v) for a, b in itertools.pairwise(found)]
        assert min(rises) >= -1e-6 * max(1, abs(w - v)) ** 2  # never back


def test_a_curve_through_a_line_is_the_line():
    curve = Curve([0, 1, 3, 4], [0, 2, 6, 8])
    assert [curve(k / 4) for k in range(17)] == pytest.approx([k / 2 for k in range(17)])


def test_a_curve_has_no_corner():
    curve = Curve([0, 1, 2, 5], [0, 1, 4, 5])
    for time in (1, 2):
        before, after = curve(time) - curve(time - 1e-6), curve(time + 1e-6) - curve(time)
        assert before == pytest.approx(after, rel=1e-4)


@pytest.mark.parametrize(
    ("ease", "quarter", "most"),
    [("constant", 0.25, 0.875), ("in", 0.02734, 0.75366), ("out", 0.47266, 0.99634),
     ("both", 0.09375, 0.98633), ("hold", 0, 0)],
)  # fmt: skip
def test_a_point_says_how_the_value_comes_to_it(ease, quarter, most):
    """craft.test.js has the same numbers: the page draws these curves."""
    curve = Curve([0, 1, 3], [0, 2, 6], ["hold", "soft", ease])
    found = [(curve(1 + 2 * share) - 2) / 4 for share in (0.25, 0.875, 1)]
    assert found == pytest.approx([quarter, most, 1], abs=1e-5)
    assert curve(0.5) == Curve([0, 1, 3], [0, 2, 6])(0.5)


def test_eases_of_tracks_are_kept():
    points = [[0, 0.0], [1, 1.0, "hold"], [2, 0.5, "soft"]]
    scene = scene_with({"offset": points, "palette": [[0, "hokusai"], [1, "ember", "hold"]]})
    assert "hold" in scene.to_toml()
    assert load_scene(tomllib.loads(scene.to_toml())) == scene
    assert [Tracks(scene).at(at).color.offset for at in (0.9, 1, 2)] == [0, 1, 0.5]
    assert Tracks(scene).at(0.9).color.palette == load_palette("hokusai")
    backwards = reversed_tracks({"offset": [[0, 0], [1, 4, "in"], [3, 5, "constant"]]}, 3)
    assert backwards == {"offset": [[0, 5, "soft"], [2, 4, "constant"], [3, 0, "out"]]}
    with pytest.raises(SceneError, match="'swift' is not 'soft'"):
        scene_with({"offset": [[0, 0], [1, 1, "swift"]]})


def scene_with(tracks, **keys):
    return load_scene("mandelbrot", size=(16, 9), film={"tracks": tracks}, **keys)


@pytest.mark.parametrize(
    ("name", "find"),
    [
        ("offset", lambda scene: scene.color.offset),
        ("color.density", lambda scene: scene.color.density),
        ("layers.0.opacity", lambda scene: scene.color.layers[0].opacity),
        ("coloring.direction", lambda scene: scene.color.coloring.model_extra["direction"]),
        ("view.stretch", lambda scene: scene.view.stretch),
    ],
)
def test_names_of_numbers(name, find):
    layers = [{"coloring": "smooth", "opacity": 0.5}]
    tracks = Tracks(scene_with({name: [[0, 0.25], [2, 0.75]]}, coloring="slopes", layers=layers))
    assert find(tracks.at(0)) == 0.25
    assert find(tracks.at(1)) == pytest.approx(0.5)
    assert tracks.length == 2


ENDS = {"stops": ["#000000", "#ffffff"], "cyclic": False}
SUNSET = {"stops": [[0, "#ff8000"], [0.4, "#102040"]]}


def test_palettes_become_each_other():
    points = [[0, "hokusai"], [2, "ember"], [3, SUNSET]]
    scene = scene_with(
        {"palette": points, "layers.0.palette": [[1, ENDS], [2, ENDS | {"stops": ["#00f"]}]]},
        layers=[{"coloring": "count"}],
    )
    assert load_scene(tomllib.loads(scene.to_toml())) == scene
    tracks = Tracks(scene)
    assert [tracks.at(at).color.palette for at in (-1, 0, 2)] == [*map(load_palette, OFTEN)]
    assert tracks.at(9).color.palette.stops == ((0, "#ff8000"), (0.4, "#102040"))
    places = np.arange(64) / 64
    for at, one, two in ((1, 0, 2), (2.5, 2, 3)):
        labs = [
            oklab_from_linear(tracks.at(t).color.palette.linear(places)) for t in (one, at, two)
        ]
        share = tracks.tracks[0].curves[0](at) % 1
        assert 0.3 < share < 0.7
        assert np.abs(labs[1] - (labs[0] + share * (labs[2] - labs[0]))).max() < 0.01
    blue = [tracks.at(at).color.layers[0].palette.linear(places)[-1] for at in (0, 1.5, 5)]
    assert blue[0] == pytest.approx([1, 1, 1], abs=0.1)
    assert blue[0][0] > blue[1][0] > blue[2][0] == pytest.approx(0, abs=0.01)
    assert tracks.recolors(0, 3)


def test_frames_have_the_palettes_of_their_moments(tmp_path):
    film = fractals.film(
        scene_with({"palette": [[0, "hokusai"], [1, "ember"]], "density": [[0, 1], [1, 2]]}),
        fps=4,
        device="python",
        on_message=str,
    )
    frames = list(film.frames())
    assert len(frames) == 4
    for k in (0, 2):
        still = fractals.render(film.scene_at(k), bits=16, device="python").pixels
        assert np.array_equal(frames[k], still)
    assert (frames[0] != frames[2]).any()


def test_a_palette_of_a_track_may_be_a_file(tmp_path):
    (tmp_path / "own.gpl").write_text("GIMP Palette\n255 0 0 red\n0 0 255 blue\n")
    (tmp_path / "a.toml").write_text('[film.tracks]\npalette = [[0, "own.gpl"], [1, "ember"]]\n')
    scene = load_scene(tmp_path / "a.toml")
    (tmp_path / "own.gpl").unlink()
    assert Tracks(scene).at(0).color.palette.stops[0][1] == "#ff0000"
    assert load_scene(tomllib.loads(scene.to_toml())) == scene


def test_points_and_options_of_a_name():
    tracks = Tracks(scene_with({"julia": [[0, ["-0.8", "0.156"]], [1, [-0.7, 0.2]]]}))
    assert [float(part) for part in tracks.at(1).julia] == [-0.7, 0.2]
    assert replaced({"formula": "multibrot"}, ("formula", "power"), 3) == {
        "formula": {"name": "multibrot", "power": 3}
    }


def test_values_that_are_whole_numbers_go_in_whole_steps():
    """None could move: a power of 2.0 was refused, and 835 iterations were 834.9999999999999."""
    tracks = {"formula.power": [[0, 2], [6, 8]], "max_iterations": [[0, 10], [6, 1000]]}
    table = {"formula": {"name": "multibrot", "power": 2}, "film": {"tracks": tracks}}
    found = Tracks(load_scene(table, {"film": {"tracks": tracks | {"offset": [[0, 0], [6, 1]]}}}))
    shown = [found.at(second) for second in (0, 2.6, 5, 6)]
    assert [each.make_formula().parameters["power"] for each in shown] == [2, 5, 7, 8]
    assert [each.iteration.max_iterations for each in shown] == [10, 439, 835, 1000]
    assert shown[1].color.offset == pytest.approx(2.6 / 6)


@pytest.mark.parametrize(
    ("tracks", "words"),
    [
        ({"offzet": [[0, 1]]}, "did you mean 'offset'"),
        ({"center": [[0, 1]]}, "views are set by"),
        ({"view.rotation": [[0, 1]]}, "views are set by"),
        ({"size": [[0, [16, 9]]]}, "not a number of the scene"),
        ({"palette": [[0, 1]]}, "film.tracks.palette.0.1: a palette has 1 to 4096 stops"),
        ({"palette": [[0, "hokusay"]]}, "did you mean 'hokusai'"),
        ({"palette": [[0, "auto"]]}, "'auto' is the coloring's palette"),
        ({"palette": [[0]]}, "film.tracks.palette.0: value 2 is missing"),
        ({"palette": [[1, "ember"], [0, "ember"]]}, "seconds must grow"),
        ({"palette": [[0, ENDS], [1, "ember"]]}, "do not become each other"),
        ({"layers.0.palette": [[0, "ember"]]}, "the scene has no such value"),
        ({"coloring.nothing": [[0, 1]]}, "has no option 'nothing'"),
        ({"layers.3.opacity": [[0, 1]]}, "the scene has no such value"),
        ({"density": [[0, 1], [0, 2]]}, "seconds must grow"),
        ({"density": []}, "a track without points"),
        ({"density": "x"}, "or the name of a .csv"),
        ({"density": [[0, 1], [1, [1, 2]]]}, "different numbers of values"),
        ({"density": [[0, "1e999"]]}, "beyond float64"),
        ({"density": [[0, 1e7]]}, "1e\\+06 or less"),
    ],
)
def test_invalid_tracks(tracks, words):
    with pytest.raises(SceneError, match=words):
        Tracks(scene_with(tracks)).check(1.0)


def test_what_can_be_recolored():
    def recolors(tracks, **keys):
        return Tracks(scene_with(tracks, **keys)).recolors(0, 1)

    moving = [[0, 0], [1, 0.5]]
    assert recolors({})
    assert recolors({"offset": moving})
    assert recolors({"coloring.direction": moving}, coloring="slopes")
    assert not recolors({"julia": [[0, [0, 0]], [1, [0, 1]]]})
    assert not recolors({"coloring.x": moving}, coloring="orbit_trap")
    assert recolors({"julia": [[0, [0, 0]], [1, [0, 0]]]})  # it stays the same


@pytest.mark.parametrize("stops", [3.0, 3.05, 3.07])
def test_a_zoom_is_divided_at_the_first_frame_after_its_tracks_moved(stops):
    keys = [{"at": 0, "width": "4"}, {"at": 12, "width": "1e-3"}]
    film = fractals.film(
        "seahorse",
        film={"fps": 30, "keys": keys, "tracks": {"offset": [[0, 0], [stops, 0.5]]}},
    )
    moved, still = split_parts(film)
    assert moved.frames.stop == still.frames.start
    assert moved.last <= stops < still.first <= stops + 1 / 29
    assert film.tracks.moving(moved.first, moved.last)
    assert not film.tracks.moving(still.first, still.last)


def test_a_track_moves_only_between_unequal_points():
    (track,) = Tracks(scene_with({"offset": [[1, 0], [2, 1], [3, 1]]})).tracks
    assert not track.moves(0, 1)
    assert track.moves(0, 1.5)
    assert not track.moves(2, 9)
    (bump,) = Tracks(scene_with({"offset": [[1, 0], [2, 1], [3, 0]]})).tracks
    assert bump.moves(0.5, 3.5)


def write(folder, csv, name="track.csv"):
    (folder / name).write_text(csv)
    (folder / "film.toml").write_text(f'[film.tracks]\ncolor.offset = "{name}"\n')
    return folder / "film.toml"


@pytest.mark.parametrize(
    "csv", ["seconds,value\n0,1\n2.5,3e-1\n", "# note\n0;1\n\n2.5;3e-1", "0 1\n2.5   3e-1\n"]
)
def test_tracks_of_csv_files(tmp_path, csv):
    scene = load_scene(write(tmp_path, csv))
    assert scene.film.tracks == {"color.offset": ((0, "1", "soft"), (2.5, "3e-1", "soft"))}
    assert load_scene(scene.to_table()) == scene


@pytest.mark.parametrize(
    ("csv", "words"),
    [
        ("0,1\n1,x\n", "line 2: '1,x' is no point"),
        ("0\n", "line 1: a point is seconds and a value"),
        ("a,b\n", "no points"),
        ("", "no points"),
    ],
)
def test_invalid_csv_files(tmp_path, csv, words):
    with pytest.raises(SceneError, match=words):
        load_scene(write(tmp_path, csv))


@pytest.mark.parametrize(
    ("bound", "most", "words"),
    [("MAX_BYTES", 10, "larger than 10 bytes"), ("MAX_POINTS", 2, "more than 2 points")],
)
def test_a_long_csv_file_is_refused(tmp_path, monkeypatch, bound, most, words):
    monkeypatch.setattr(film_files, bound, most)
    with pytest.raises(SceneError, match=words):
        load_scene(write(tmp_path, "0,1\n2,3\n4,5\n"))


def test_a_scene_names_files_of_its_own_folder_only(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "secret.csv").write_text("0,1\n")
    for name in ("../secret.csv", str(tmp_path / "secret.csv")):
        path = tmp_path / "inner" / "film.toml"
        path.write_text(f"[film.tracks]\noffset = '{name}'\n")
        with pytest.raises(SceneError, match="is not in the folder of the scene"):
            load_scene(path)
        path.write_text(f"[film.sound]\nfile = '{name}'\n")
        with pytest.raises(SceneError, match="is not in the folder of the scene"):
            load_scene(path)


def test_a_table_names_files_anywhere(tmp_path):
    (tmp_path / "beat.csv").write_text("0,1\n")
    scene = load_scene(film={"tracks": {"offset": str(tmp_path / "beat.csv")}})
    assert scene.film.tracks == {"offset": ((0, "1", "soft"),)}
    with pytest.raises(SceneError, match="no such file"):
        load_scene(film={"tracks": {"offset": str(tmp_path / "gone.csv")}})


def test_frames_of_a_strip_are_developed():
    """Each as its own scene says; a frame that needs nothing stays as it is."""
    white = np.full((4, 6, 3), 65535, np.uint16)
    exposures = [1, 0.5]
    made = DevelopedFrames(
        lambda numbers: iter([white] * len(numbers)),
        lambda number: load_scene(size=(6, 4), exposure=exposures[number]),
        threads=1,
    )
    first, second = made.frames([0, 1])
    assert first is white
    expected = round(65535 * float(srgb_from_linear(0.5)))
    assert np.abs(second.astype(int) - expected).max() <= 1


def test_exposure_may_be_a_track():
    film = {"tracks": {"exposure": [[0, 0.5], [2, 2]]}}
    tracks = Tracks(load_scene({"film": film}))
    assert tracks.develops
    assert tracks.recolors(0, 2)
    assert tracks.at(2).develop.exposure == 2
    assert not Tracks(load_scene()).develops
