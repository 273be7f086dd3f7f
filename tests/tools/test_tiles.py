"""Tiles that one can zoom: their pixels, what is resumed, what is refused, and the page."""

import json
import re

import numpy as np
import PIL.Image
import pytest
from click.testing import CliRunner
from support import browser as browsers

import fractals
from fractals.cli.verbs import cli
from fractals.errors import SceneError
from fractals.io import png
from fractals.io.stores.lock import FolderLock
from fractals.tools import tiles
from fractals.tools.pixels import read_pixels

SIZE = (301, 150)
SCENE = fractals.load_scene("seahorse", size=SIZE, supersampling=1, max_iterations=200)


def run(*arguments):
    done = CliRunner().invoke(cli, ["tiles", *map(str, arguments)], catch_exceptions=True)
    return done


@pytest.fixture(scope="module")
def picture(tmp_path_factory):
    path = tmp_path_factory.mktemp("picture") / "sea.png"
    fractals.render_to(path, SCENE, device="cpu")
    return path


@pytest.fixture(scope="module")
def whole(picture, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "sea"
    done = run(picture, "--tile", 64, "-o", folder)
    assert done.exit_code == 0, done.output
    return folder


def contents(folder):
    return {path.name + str(path.parent.name): path.read_bytes() for path in folder.rglob("*.*")}


def pixels_of(path):
    return np.asarray(PIL.Image.open(path).convert("RGB"))


def test_tiles_are_parts_of_levels_and_levels_are_halved(picture, whole):
    """Each tile holds its pixels and one more on each side where there is a neighbor."""
    level = read_pixels(picture)
    names = sorted((int(path.name) for path in (whole / "picture_files").iterdir()), reverse=True)
    assert names == list(range(9, -1, -1))  # 2 ** 9 is the first power of two over 301
    for number in names:
        height, width = level.shape[:2]
        found = {path.name for path in (whole / f"picture_files/{number}").iterdir()}
        assert found == {
            f"{x}_{y}.png" for x in range(-(-width // 64)) for y in range(-(-height // 64))
        }
        for name in found:
            x, y = map(int, re.findall(r"\d+", name))
            part = level[max(0, 64 * y - 1) : 64 * y + 65, max(0, 64 * x - 1) : 64 * x + 65]
            assert np.array_equal(pixels_of(whole / f"picture_files/{number}/{name}"), part)
        level = tiles.halved(level)


def test_halving_keeps_light():
    """A board of black and white becomes the gray of half the light, not of half the number."""
    board = np.indices((6, 4)).sum(0)[..., None].repeat(3, 2) % 2 * 255
    assert (tiles.halved(board.astype(np.uint8)) == 188).all()


def test_the_page_and_the_file_for_other_viewers(whole):
    page = (whole / "index.html").read_text()
    image = json.loads(re.search(r"Image: (\{.*\}) \}", page)[1])
    assert image["Size"] == {"Width": "301", "Height": "150"}
    assert image["TileSize"] == "64"
    assert "Seahorse" in page
    assert "http" not in page.replace(image["xmlns"], "")
    xml = (whole / "picture.dzi").read_text()
    assert 'TileSize="64"' in xml
    assert 'Width="301" Height="150"' in xml
    assert (whole / "openseadragon.min.js").stat().st_size > 100_000


def test_a_scene_and_raw_numbers_give_the_tiles_of_the_picture(picture, whole, tmp_path):
    fractals.save_scene(SCENE, tmp_path / "sea.toml")
    assert run(tmp_path / "sea.toml", "--cpu", "--tile", 64, "-o", tmp_path / "a").exit_code == 0
    fractals.compute_to(tmp_path / "sea.fz", SCENE, device="cpu")
    assert run(tmp_path / "sea.fz", "--cpu", "--tile", 64, "-o", tmp_path / "b").exit_code == 0
    for name in "ab":
        found = contents(tmp_path / name / "picture_files")
        assert found == contents(whole / "picture_files")
        assert not (tmp_path / name / ".picture.png").exists()


def test_an_interrupted_job_goes_on_to_equal_files(picture, whole, tmp_path, monkeypatch):
    folder = tmp_path / "sea"
    write, left = tiles.Pyramid.write, [7]

    def stop(self, *arguments):
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt
        write(self, *arguments)

    monkeypatch.setattr(tiles.Pyramid, "write", stop)
    assert run(picture, "--tile", 64, "--threads", 1, "-o", folder).exit_code != 0
    monkeypatch.setattr(tiles.Pyramid, "write", write)
    assert len(list(folder.rglob("*_*.png"))) == 6
    assert not (folder / "index.html").exists()
    kept = (folder / "picture_files/9/0_0.png").stat().st_mtime_ns
    assert run(picture, "--tile", 64, "-o", folder).exit_code == 0
    assert contents(folder) == contents(whole)
    assert (folder / "picture_files/9/0_0.png").stat().st_mtime_ns == kept
    assert "is complete" in run(picture, "--tile", 64, "-o", folder).output


def test_another_picture_needs_overwrite_and_removes_nothing_else(whole, tmp_path):
    folder, other = tmp_path / "sea", tmp_path / "other.png"
    gray = np.full((70, 90, 3), 99, np.uint8)
    PIL.Image.fromarray(gray).save(other)
    assert run(other, "-o", folder).exit_code == 0
    (folder / "notes.txt").write_text("mine")
    PIL.Image.fromarray(gray[:50]).save(other)
    refused = run(other, "-o", folder)
    assert isinstance(refused.exception, fractals.FractalsError)
    assert "another picture" in str(refused.exception)
    assert run(other, "-o", folder, "--overwrite").exit_code == 0
    assert (folder / "notes.txt").exists()
    assert pixels_of(folder / "picture_files/7/0_0.png").shape == (50, 90, 3)


@pytest.mark.parametrize("suffix", ["jpg", "webp"])
def test_types_of_tiles_and_pictures_of_16_bits(suffix, tmp_path):
    fractals.render_to(tmp_path / "sea.png", SCENE, bits=16, device="cpu")
    assert run(tmp_path / "sea.png", "--type", suffix, "-o", tmp_path / "sea").exit_code == 0
    found = pixels_of(tmp_path / f"sea/picture_files/9/0_0.{suffix}")
    expected = read_pixels(tmp_path / "sea.png", 16) >> 8
    assert np.abs(found.astype(int) - expected).mean() < (4 if suffix == "jpg" else 0.01)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["seahorse", "--tile", "7"], "64"),
        (["seahorse", "--type", "gif"], "gif"),
        (["missing.png"], "missing.png"),
        (["text.png"], "no picture"),
        (["seahorse", "-o", "full"], "holds no tiles"),
        (["seahorse", "-o", "text.png"], "holds no tiles"),
    ],
)
def test_what_is_refused(arguments, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full/letter.txt").touch()
    (tmp_path / "text.png").write_text("text")
    refused = run(*arguments, "--cpu")
    assert refused.exit_code != 0
    assert words in refused.output + str(refused.exception)


@pytest.mark.browser
@pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing() or "-")
def test_the_page_opens_from_a_disk(whole, browser):
    """All of the picture is seen, then tiles of the last level; nothing is an error."""
    page = browser.new_page(viewport={"width": 301, "height": 150})
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text))
    page.goto((whole / "index.html").as_uri())
    page.wait_for_function("viewer.world.getItemAt(0)?.getFullyLoaded()")
    page.click("#in")
    page.wait_for_function("viewer.viewport.getZoom() > 1.9")
    page.wait_for_function("viewer.world.getItemAt(0).getFullyLoaded()")
    drawn = page.evaluate("viewer.drawer.canvas.width * viewer.drawer.canvas.height")
    assert drawn >= 301 * 150
    assert not errors
    page.click("#home")
    page.wait_for_function("viewer.viewport.getZoom(true) < 1.1")
    page.close()


def test_one_process_at_a_time_writes_a_folder(picture, tmp_path):
    folder = tmp_path / "sea"
    folder.mkdir()
    lock = FolderLock(folder)
    done = run(picture, "--tile", 64, "-o", folder)
    assert done.exit_code == 1
    assert str(done.exception).startswith(f"'{folder}' is being computed by another process")
    assert not any(folder.iterdir())
    lock.release()
    assert run(picture, "--tile", 64, "-o", folder).exit_code == 0


def test_what_fails_before_the_first_tile_leaves_no_folder(tmp_path, monkeypatch):
    def full(*_, **__):
        raise fractals.FractalsError("No space left on device")

    monkeypatch.setattr(fractals, "render_to", full)
    assert run("--size", "64x48", "-n", 50, "--cpu", "-o", tmp_path / "sea").exit_code == 1
    assert not any(tmp_path.iterdir())


def profiles(folder):
    for path in folder.glob("picture_files/*/*.*"):
        with PIL.Image.open(path) as tile:
            yield tile.info["icc_profile"]


@pytest.mark.parametrize("suffix", tiles.TYPES)
@pytest.mark.parametrize("source", ["scene", "picture", "raw"])
def test_tiles_say_which_colors_they_have(tmp_path, source, suffix):
    scene = SCENE.replace(size=(40, 30), gamut="p3", max_iterations=50)
    name = {"scene": "a.toml", "picture": "a.png", "raw": "a.npz"}[source]
    if source == "scene":
        fractals.save_scene(scene, tmp_path / name)
    elif source == "picture":
        fractals.render_to(tmp_path / name, scene, device="cpu")
    else:
        fractals.compute(scene, device="cpu").save(tmp_path / name)
    done = run(tmp_path / name, "--type", suffix, "-o", tmp_path / "sea", "--cpu")
    assert done.exit_code == 0, done.output
    assert {*profiles(tmp_path / "sea")} == {png.icc_profile("p3")}


def test_tiles_have_no_high_dynamic_range(tmp_path):
    scene = SCENE.replace(size=(40, 30), hdr=True, max_iterations=50)
    fractals.save_scene(scene, tmp_path / "a.toml")
    fractals.render_to(tmp_path / "a.png", scene, device="cpu")
    refused = run(tmp_path / "a.png", "-o", tmp_path / "picture")
    assert "high dynamic range" in str(refused.exception)
    assert run(tmp_path / "a.toml", "-o", tmp_path / "sea", "--cpu").exit_code == 0
    plain = fractals.render(scene, hdr=False, bits=8, device="cpu").pixels
    (tile,) = tmp_path.glob("sea/picture_files/6/*.png")
    with PIL.Image.open(tile) as found:
        assert np.array_equal(np.asarray(found), plain)


def test_a_picture_that_is_cut_short_is_one_line(picture, tmp_path):
    (tmp_path / "cut.png").write_bytes(picture.read_bytes()[:-20])
    refused = run(tmp_path / "cut.png", "-o", tmp_path / "sea")
    assert isinstance(refused.exception, SceneError), repr(refused.exception)
    assert "cut short" in str(refused.exception)
    assert not (tmp_path / "sea").exists()


def test_a_program_in_postscript_is_no_picture(tmp_path):
    """Pillow would have Ghostscript run it."""
    (tmp_path / "a.png").write_bytes(
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n%%EOF\n"
    )
    refused = run(tmp_path / "a.png", "-o", tmp_path / "sea")
    assert "no picture" in str(refused.exception)
