"""The gallery, small: the counts of each scene are those that were hashed."""

import hashlib
import io
import json
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

import fractals
from fractals import catalog
from fractals.backends.devices import choose
from fractals.color.palette import linear_from_srgb, oklab_from_linear, oklch_from_oklab
from fractals.explorer.pages import THUMBNAILS
from fractals.io.load import load_scene
from fractals.rendering import plan
from fractals.tools import gallery

FOLDER = Path(__file__).parents[2] / "gallery"
KNOWN = json.loads((FOLDER / gallery.HASHES).read_text())
# Their reference orbits take seconds, or their kernels as long to compile.
COSTLY = ("arch", "burr", "caravan", "celtic", "clockwork", "daystar", "fan", "heirloom")
COSTLY += ("pinwheel", "tricorn", "multibrot")


def test_every_scene_has_a_hash():
    assert list(KNOWN) == sorted(catalog.names("gallery"))


def kernels():
    """Return the names of the scenes that are drawn by the same compiled code, a list a code."""
    found = {}
    for name in KNOWN:
        scene = load_scene(name)
        if scene.make_any_formula().family != "escape":
            continue
        deep = plan.make_plan(scene).method == "perturbation"
        key = scene.make_formula().label, scene.julia is not None, deep, name in COSTLY
        found.setdefault(key, []).append(name)
    return list(found.values())


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(names, marks=[pytest.mark.slow] * (names[0] in COSTLY), id=names[0])
        for names in kernels()
    ],
)
def test_counts_are_as_ever(names):
    """On the device that compiles fastest; `fractals gallery --check` takes any.

    That is the simulator, except where the CPU finds an automatic limit for it.
    """
    limits = {load_scene(name).iteration.max_iterations for name in names}
    device = "cpu" if "auto" in limits else "simulator"
    assert {name: gallery.hash_of(name, device) for name in names} == {
        name: KNOWN[name] for name in names
    }


@pytest.mark.slow
@pytest.mark.gpu
@pytest.mark.parametrize("name", KNOWN)
def test_a_gpu_has_the_counts_and_the_pixels_of_the_cpu(name):
    try:
        choose("cuda")
    except fractals.DeviceError as error:
        pytest.skip(str(error))
    scene = load_scene(name)
    across, down = scene.image.size
    small = scene.replace(size=(48, round(48 * down / across)))
    assert gallery.hash_of(name, "cuda") == KNOWN[name]
    drawn, expected = (fractals.render(small, device=each).pixels for each in ("cuda", "cpu"))
    assert drawn.tobytes() == expected.tobytes()


def solids():
    """Return the scenes of solids; all but two are slow, because each is compiled."""
    names = [name for name in KNOWN if load_scene(name).make_any_formula().family == "solid"]
    often = ("edelweiss", "arena")
    return [pytest.param(name, marks=[] if name in often else pytest.mark.slow) for name in names]


def test_there_are_twelve_solids_of_seven_kinds():
    made = [load_scene(each.values[0]).make_any_formula() for each in solids()]
    assert len(made) >= 12
    assert len({each.name for each in made}) >= 7


@pytest.mark.parametrize("name", solids())
def test_light_is_as_ever(name):
    assert gallery.hash_of(name, "cpu") == KNOWN[name]


def test_every_solid_has_light_of_its_own():
    """Skies all differ, and so do mean colors: in OKLab, the median of the distances of pairs."""
    names = [each.values[0] for each in solids()]
    assert len({load_scene(name).light.sky for name in names}) == len(names)
    means = np.array([oklab_of(THUMBNAILS / "scene" / f"{name}.webp").mean(0) for name in names])
    distances = np.linalg.norm(means[:, None] - means, axis=2)
    # It was 0.05 when almost all of them showed sand under a gray sky.
    assert np.median(distances[np.triu_indices(len(names), 1)]) > 0.1


def scattered():
    """Return the scenes of flames, attractors and Buddhabrots."""
    return [name for name in KNOWN if load_scene(name).make_any_formula().family == "scatter"]


def test_there_are_flames_attractors_and_buddhabrots():
    made = [load_scene(name).make_any_formula() for name in scattered()]
    kinds = [type(each).__name__ for each in made]
    assert kinds.count("Flame") >= 6
    assert kinds.count("Attractor") >= 3
    assert kinds.count("Buddhabrot") >= 3


@pytest.mark.parametrize("name", scattered())
def test_hits_are_as_ever(name):
    assert gallery.hash_of(name, "cpu") == KNOWN[name]


def test_the_explorer_lists_what_it_draws():
    from fractals.explorer.pages import catalog_table

    listed = {scene["name"] for scene in catalog_table()["scenes"]}
    assert listed == set(KNOWN)


def test_a_hash_is_of_the_bytes_of_counts():
    scene = load_scene("mandelbrot").replace(size=(96, 54), supersampling=1, coloring="count")
    counts = fractals.compute(scene, device="cpu").count
    plain = b"".join(int(n).to_bytes(4, "little") for n in counts.ravel())
    assert hashlib.sha256(plain).hexdigest()[:16] == KNOWN["mandelbrot"]
    assert len(np.unique(counts)) > 30


def test_other_counts_are_found(run, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("g").mkdir()
    code, _, err = run("gallery", "julia", "--check", "-o", "g", "--device", "cpu")
    assert (code, "counts.json', the file with the hashes of counts: not found" in err) == (1, True)
    Path("g/counts.json").write_text(json.dumps({"julia": "0" * 16, "gone": ""}))
    code, _, err = run("gallery", "julia", "--check", "-o", "g", "--device", "cpu")
    assert (code, "the counts of julia differ" in err) == (5, True)
    code, _, err = run("gallery", "rabbit", "--check", "-o", "g", "--device", "cpu")
    assert (code, "has no 'rabbit': 'fractals gallery rabbit'" in err) == (1, True)
    # Drawing a scene makes its hash anew, and forgets scenes that are gone.
    arguments = ("gallery", "julia", "-o", "g", "--size", "16x", "--device", "cpu")
    assert run(*arguments)[0] == 0
    assert json.loads(Path("g/counts.json").read_text()) == {"julia": KNOWN["julia"]}
    assert run("gallery", "julia", "--check", "-o", "g", "--device", "cpu")[0] == 0


@pytest.mark.parametrize("name", KNOWN)
def test_a_picture_is_that_of_its_scene(name):
    """Its size, and the scene that it carries; the explorer's tests compare thumbnails with it."""
    path, scene = FOLDER / gallery.picture_file(name), gallery.load(name)
    with PIL.Image.open(path) as picture:
        size = picture.size
    assert size[0] == 1280
    assert fractals.load_scene(path) == scene.replace(size=size).unframed()


def test_a_smooth_picture_is_kept_without_loss_and_noise_is_not():
    y, x = np.mgrid[:360, :480]
    smooth = np.stack([x // 8 + y // 16] * 3, axis=2).astype(np.uint8)
    noise = np.random.default_rng(1).integers(0, 256, smooth.shape, np.uint8)
    for pixels, same in ((smooth, True), (noise, False)):
        scene = fractals.load_scene("julia", size=(480, 360))
        data = gallery.encoded(fractals.Image(pixels, scene))
        with PIL.Image.open(io.BytesIO(data)) as picture:
            assert picture.format == "WEBP"
            assert np.array_equal(np.asarray(picture.convert("RGB")), pixels) == same


def test_at_most_a_third_of_the_pictures_are_blue_and_orange():
    """Those whose color is mostly of these two hues, and of both; seen in the thumbnails."""
    found = [name for name in KNOWN if blue_and_orange(THUMBNAILS / "scene" / f"{name}.webp")]
    assert "seahorse" in found
    assert "leaves" not in found
    assert len(found) <= len(KNOWN) / 3


def oklab_of(path):
    """Return the colors of a picture, made small, in OKLab."""
    with PIL.Image.open(path) as picture:
        small = picture.convert("RGB").resize((64, 36), PIL.Image.Resampling.BOX)
    return oklab_from_linear(linear_from_srgb(np.asarray(small).reshape(-1, 3) / 255))


def blue_and_orange(path):
    _, chroma, hue = oklch_from_oklab(oklab_of(path)).T
    blue, orange = (
        chroma[(low <= hue % 360) & (hue % 360 <= high)].sum() / chroma.sum()
        for low, high in ((225, 290), (35, 100))
    )
    return min(blue, orange) >= 0.15 and blue + orange >= 0.6


def test_all_pictures_together_are_small():
    paths = [FOLDER / gallery.picture_file(name) for name in KNOWN]
    assert sum(path.stat().st_size for path in paths) < 25_000_000


def test_the_page_shows_the_films_that_are_there(tmp_path):
    assert (FOLDER / gallery.PAGE).read_text("utf-8") == gallery.page(FOLDER)
    assert gallery.page(FOLDER).count("fractals film ") == 3
    assert "fractals film" not in gallery.page(tmp_path)


@pytest.mark.parametrize("path", sorted((FOLDER / "films").glob("*.toml")), ids=lambda p: p.stem)
def test_the_films_are_those_of_their_scenes(path):
    """The page's picture has the length, the speed and the first frame of the film."""
    film = fractals.film(path, device="cpu", on_message=lambda line: None)
    with PIL.Image.open(path.with_suffix(".webp")) as picture:
        # Frames that are equal to the one before make it longer.
        assert len(film) - 2 <= picture.n_frames <= len(film)
        assert picture.size == film.size
        first = coarse(picture.convert("RGB"))
        assert picture.info["duration"] == round(1000 / film.fps)
    assert np.abs(first - coarse(film.still(0).to_pil())).mean() < 6


def coarse(picture):
    """Return means of 16x16 pixels, in which samples and compression hardly differ."""
    size = (picture.width // 16, picture.height // 16)
    return np.asarray(picture.resize(size, PIL.Image.Resampling.BOX)).astype(float)
