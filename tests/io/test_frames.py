"""Views of other programs keep their height in pictures of any shape; ours keep their width."""

import json
from fractions import Fraction

import pytest

import fractals
from fractals import Scene
from fractals.errors import SceneError
from fractals.explorer import outside
from fractals.explorer.frames import FrameView, Move
from fractals.io.foreign import formats
from fractals.io.load import load_scene
from fractals.scene.geometry import place_of

pytestmark = pytest.mark.filterwarnings("ignore:lost")

# A file, and the width and height of its view; XaoS shows both in full.
FILES = {
    "a.kfr": ("Re: -0.5\nIm: 0.1\nZoom: 1e50\nIterations: 100\n", 0, Fraction("4e-50")),
    "sized.kfr": ("Re: 0\nIm: 0\nZoom: 4\nImageWidth: 640\nImageHeight: 360\n", 0, Fraction(1)),
    "a.xpf": ("(initstate)(view -0.75 0 2.5 2.5)", Fraction("2.5"), Fraction("2.5")),
    "tall.xpf": ("(initstate)(formula 'magnet)", Fraction(3), Fraction("4.4")),
    "a.par": ("n { type=mandel center-mag=-0.5/0/0.5/1 }", 0, Fraction(4)),
    "a.toml": ('real = "-0.5"\nimag = "0.1"\nzoom = "8"\n', 0, Fraction("0.5")),
    "a.f3.toml": ('location.real = "-0.5"\nlocation.zoom = "2"\n', 0, Fraction(2)),
}
SIZES = [(500, 500), (640, 480), (160, 90), (90, 160)]


def extent(scene):
    """Return width and height in the plane."""
    width, _ = place_of(scene)
    across, down = scene.image.size
    return width, width * down / across


def shows(scene, width, height):
    across, down = scene.image.size
    wanted = max(width, height * Fraction(across, down))
    return abs(extent(scene)[0] / wanted - 1) < 1e-20


@pytest.fixture(params=FILES)
def imported(request, tmp_path):
    path = tmp_path / request.param
    path.write_text(FILES[request.param][0])
    return path, *FILES[request.param][1:]


@pytest.mark.parametrize("size", SIZES)
def test_whatever_the_shape(imported, size):
    path, width, height = imported
    first = load_scene(path)
    assert shows(first, width, height)
    for scene in (
        load_scene(path, size=size),
        load_scene(path, {"image": {"size": list(size)}}),
        load_scene({"image": {"size": "4k"}}, path).replace(size=size),
        first.replace(size=size),
        first.replace(size=(7, 300)).replace(size=size),
        load_scene(first, size=size),
        load_scene(first.to_table(), size=size),
    ):
        assert scene.image.size == size
        assert shows(scene, width, height)
    assert (
        fractals.plan(path, size=size, device="python").width
        == extent(load_scene(path, size=size))[0]
    )


def test_a_file_of_the_scene_keeps_it(imported, tmp_path, run):
    path, width, height = imported
    code, _, _ = run("convert", str(path), str(tmp_path / "kept.toml"))
    assert code == 0
    scene = load_scene(tmp_path / "kept.toml")
    assert scene == load_scene(path)
    assert shows(scene.replace(size=(500, 500)), width, height)


def test_the_command_line(imported, run):
    path, width, height = imported
    code, out, _ = run("render", str(path), "--size", "60x60", "--dry-run", "--json")
    assert code == 0
    assert float(json.loads(out)["width"]) == pytest.approx(float(max(width, height)), rel=0.05)


def test_a_width_or_a_zoom_takes_its_place(imported):
    path, *_ = imported
    for keys in ({"width": "3"}, {"zoom": "2"}):
        for scene in (load_scene(path).replace(**keys), load_scene(path, **keys)):
            assert scene.view.frame is None
            square, wide = (extent(scene.replace(size=size))[0] for size in ((9, 9), (16, 9)))
            assert square == wide
    merged = load_scene(path, {"view": {"width": "3"}})
    assert (merged.view.frame, merged.view.width) == (None, "3")
    again = load_scene({"view": {"width": "3", "center": ["0", "0"]}}, path)
    assert again.view.frame == load_scene(path).view.frame


def test_pictures_and_films_hold_a_width(tmp_path):
    (tmp_path / "a.kfr").write_text("Zoom: 1\nIterations: 50\n")
    picture = fractals.render(tmp_path / "a.kfr", size=(20, 10), device="python")
    picture.save(tmp_path / "a.png")
    scene = load_scene(tmp_path / "a.png")
    assert (scene.view.frame, scene.view.width) == (None, "8")
    assert scene.replace(size=(10, 10)).view.width == "8"  # as of every scene of ours
    film = fractals.film(
        tmp_path / "a.kfr", to="1e-2", seconds=1, fps=2, size=(16, 8), device="python"
    )
    assert (film.scene.view.frame, film.scene.view.width) == (None, "8")


def test_our_scenes_keep_their_width():
    scene = load_scene("seahorse")
    assert scene.replace(size=(500, 500)).view.width == scene.view.width
    assert Scene().replace(width="2", size=(9, 9)).view.width == "2"


def test_a_window_of_the_explorer(imported):
    path, width, height = imported
    found = outside.read_upload(path.name, path.read_bytes())
    opened = outside.scene_of(outside.scene_of(found.table).to_table())  # as the page sends it back
    place = FrameView.of(opened, (400, 400))
    for size in ((400, 400), (800, 300), (300, 800)):
        place = place.moved(Move(), size)
        assert shows(place.scene(), width, height)
        zoomed = place.moved(Move(scale=64)).scene()  # by an octave
        assert zoomed.view.frame is None
        assert abs(extent(zoomed)[0] * 2 / extent(place.scene())[0] - 1) < 1e-5


@pytest.mark.parametrize(
    ("view", "words"),
    [
        ({"frame": ["1", "2"], "width": "3"}, "width and frame are both given: give one of them"),
        ({"frame": ["1", "2"], "zoom": "3"}, "zoom and frame are both given: give one of them"),
        ({"frame": ["0", "0"]}, "view.frame: one of the sides is greater than 0"),
        ({"frame": ["-1", "2"]}, "view.frame: '-1' is less than 0"),
        ({"frame": ["1"]}, "view.frame"),
    ],
)
def test_frames_that_are_none(view, words):
    with pytest.raises(SceneError) as caught:
        load_scene({"view": view})
    assert words in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_a_frame_too_deep_for_the_explorer_is_refused():
    with pytest.raises(SceneError, match=r"view\.frame"):
        outside.scene_of({"view": {"frame": ["0", "1e-30000"]}})


def test_stored_numbers_are_those_of_the_same_view(tmp_path):
    """A frame and the width that follows from it say the same."""
    from fractals.scene.geometry import differences

    (tmp_path / "a.kfr").write_text("Re: 0\nIm: 0\nZoom: 4\n")
    scene = load_scene(tmp_path / "a.kfr")
    assert differences(scene, scene.unframed()) == []
    assert formats.read(str(tmp_path / "a.kfr")).table["view"]["frame"] == ["0", "1"]
