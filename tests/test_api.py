"""The public functions: their keywords, errors, results, and what type checkers see of them."""

import ast
import inspect
import io
import os
import pydoc
import re
import runpy
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from support.drawings import opened
from support.scenes import scene
from support.sources import nodes_of

import fractals
from fractals.backends.cpu import backend
from fractals.cli.keys import KEYS
from fractals.color.palette import srgb_from_linear
from fractals.errors import FractalsError, InputError, OptionError, SceneError
from fractals.explorer.options import ExploreOptions
from fractals.films.options import FilmOptions, SaveOptions
from fractals.io.escape_data import check_suffix
from fractals.io.image import PictureFile
from fractals.kernels.primitives import fma, number
from fractals.meant import ATTRIBUTES
from fractals.rendering import drawing, options
from fractals.rendering.options import RenderOptions
from fractals.scene.keywords import RenderKeywords
from fractals.scene.model import TABLES, Scene
from fractals.search.options import SearchOptions, SpiralOptions
from fractals.tools.options import TraceOptions
from fractals.tools.trace import check_drawing

HERE = Path(__file__).parent
TINY = {"size": (8, 6), "supersampling": 1, "device": "cpu"}
TAKE_SOURCES = (
    "render",
    "compute",
    "plan",
    "find_nucleus",
    "find_period",
    "find_misiurewicz",
    "load_scene",
)


def test_keywords_of_render_are_the_keys_of_a_scene_and_the_options():
    inner = {key for table in TABLES.values() for key in table.model_fields}
    fields = RenderOptions.fields.keys()
    keys = {*Scene.model_fields, *inner} - {"version"}
    assert RenderKeywords.__annotations__.keys() == fields | keys


def test_keywords_are_those_of_the_model_and_of_the_options():
    made = runpy.run_path(str(HERE.parent / "scripts" / "keywords.py"))["files"]()
    assert len(made) == 6
    for file, text in made.items():
        assert file.read_text("utf-8") == text, f"{file}: run python scripts/keywords.py"


def test_the_meaning_of_an_option_is_written_once():
    """Docstrings, help and the pages of the docs are made of it."""
    texts = []
    for path in Path(fractals.__file__).parent.rglob("*.py"):
        if path.name not in ("keywords.py", "keys.py"):
            constants = [node.value for node in nodes_of(path) if isinstance(node, ast.Constant)]
            texts += [" ".join(value.lower().split()) for value in constants if type(value) is str]
    whole = "\n".join(texts)
    classes = [options.Options]
    for each in classes:
        classes += each.__subclasses__()
    meanings = {each.command for kind in classes for each in kind.fields.values()}
    assert len(meanings) > 30
    for meaning in meanings | {text for text, _ in KEYS.values()}:
        found = whole.count(meaning.lower().removesuffix("."))
        assert found == 1, f"{found} times: {meaning}"


def test_options_are_values():
    given = RenderOptions(device="cpu", threads=2)
    same = RenderOptions(threads=2, device="cpu")
    assert (given, hash(given), repr(given)) == (same, hash(same), repr(same))
    other = given.replace(threads=3)
    assert (given.threads, other.threads, other.device) == (2, 3, "cpu")
    assert given != other
    with pytest.raises(AttributeError, match="threads can't be set"):
        given.threads = 4
    with pytest.raises(TypeError, match="RenderOptions has no treads"):
        RenderOptions(treads=1)


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (fractals.render, options.RenderOptions),
        (fractals.render_to, options.FileOptions),
        (fractals.recolor_to, options.ReplaceOptions),
        (fractals.compute_to, options.StoreOptions),
        (fractals.film, FilmOptions),
        (fractals.Film.save, SaveOptions),
        (fractals.find_nucleus, SearchOptions),
        (fractals.find_misiurewicz, SpiralOptions),
        (fractals.find_interesting, options.SuggestOptions),
        (fractals.explore, ExploreOptions),
        (fractals.trace, TraceOptions),
    ],
)
def test_help_lists_the_options(function, kind):
    text = inspect.getdoc(function)
    section = text.split("Parameters\n")[1].split("\nReturns\n")[0]
    shown = inspect.signature(function).parameters
    words = " ".join(section.split()).lower()
    for name, each in kind.fields.items():
        assert f"\n{name} : " in section
        assert each.meaning.lower() in words
        default = shown[name].default
        if callable(each.default):  # without its address
            assert repr(default) == each.default.__name__
        else:
            assert default == each.default
    assert all(len(line) <= 96 for line in section.splitlines())


def test_help_begins_with_words():
    """The keywords would fill a screen; completion still has each of them."""
    for function in (fractals.render, fractals.compute_to, fractals.film, fractals.Film.save):
        text = pydoc.render_doc(function, renderer=pydoc.plaintext).splitlines()
        assert text[2].startswith(f"{function.__name__}(")
        assert len(text[2]) < 80
        assert text[3].strip() == inspect.getdoc(function).splitlines()[0]
        assert "device" in inspect.signature(function).parameters or function.__name__ == "save"
    assert {"palette", "threads"} <= inspect.signature(fractals.render).parameters.keys()


@pytest.mark.parametrize("name", TAKE_SOURCES)
def test_flat_keywords_and_sources(name):
    function = getattr(fractals, name)
    keys = {"center": -1.75 + 0j, "width": 0.1, "size": (8, 6)}
    more = {"device": "cpu"} if name in ("render", "compute", "plan") else {}
    found = function("mandelbrot", {"image": {"size": [4, 3]}}, **keys, **more)
    same = function(fractals.load_scene("mandelbrot", **keys), **more)
    if name == "plan":
        assert (found.size, found.center[0], found.width) == ((8, 6), -1.75, same.width)
    else:
        assert found == same


@pytest.mark.parametrize("name", [*TAKE_SOURCES, "render_to", "compute_to", "recolor"])
def test_an_unknown_keyword_is_an_option_error(name):
    first = {"render_to": [io.BytesIO()], "compute_to": ["a.fz"]}.get(name, [])
    if name == "recolor":
        first = [fractals.compute(**TINY)]
    with pytest.raises(OptionError, match="'palete'; did you mean 'palette'"):
        getattr(fractals, name)(*first, palete="ember")


@pytest.mark.parametrize("inner", ["raw", "streamed", "repeatable", "keeps", "stored"])
def test_internal_switches_are_not_keywords(inner):
    with pytest.raises(OptionError, match=f"unknown keyword '{inner}'"):
        fractals.render(**{inner: True})


def test_signatures_list_all_keywords():
    """Interactive completion reads them."""
    shown = inspect.signature(fractals.render).parameters
    assert {"device", "size", "palette", "center"} <= shown.keys()
    assert shown["threads"].default is None
    assert "overwrite" in inspect.signature(fractals.render_to).parameters
    assert "cache" not in inspect.signature(fractals.recolor).parameters


@pytest.mark.parametrize(
    ("call", "error", "part"),
    [
        (lambda: Scene("seahorse"), OptionError, r"load_scene\('seahorse'\)"),
        (lambda: Scene(titel="x"), SceneError, "did you mean 'title'"),
        (lambda: Scene().replace(supersampling=0), SceneError, "image.supersampling"),
        (lambda: Scene().replace(center=True), SceneError, "not a point"),
        (lambda: fractals.View(width="1", zoom="2"), SceneError, "^width and zoom are both"),
        (lambda: Scene().replace(width=1, zoom=2), SceneError, "^width and zoom are both"),
        (lambda: fractals.plan(zoom=2, frame=(1, 1)), SceneError, "^zoom and frame are both"),
        (lambda: fractals.load_scene(3), OptionError, "3 is no scene"),
        (lambda: fractals.render(threads=0), OptionError, "give 1 to 1024"),
        (lambda: fractals.plan(threads=10**400), OptionError, "give 1 to 1024"),
        (lambda: fractals.plan(threads=Decimal("sNaN")), OptionError, "whole number"),
        (lambda: fractals.render(threads="2"), OptionError, "whole number"),
        (lambda: fractals.render(device=1), OptionError, "device=1"),
        (lambda: fractals.render(force="no"), OptionError, "True or False"),
        (lambda: fractals.render(progress=3), OptionError, "a function"),
        (lambda: fractals.recolor(7), OptionError, "the path of a file"),
        (lambda: fractals.render_to(3), OptionError, "name of a file"),
        (lambda: fractals.render(preview="a" * 300 + ".png"), FractalsError, "can't be written"),
        (lambda: fractals.render_to("a.png", preview="\0.png"), FractalsError, "embedded null"),
        (lambda: fractals.render_to("\ud800.png", preview="a.png"), FractalsError, "surrogates"),
        (lambda: fractals.render_to(io.StringIO()), OptionError, "an open binary file"),
        (lambda: fractals.plan(device="a" * 300), OptionError, "unknown device 'a{40}...'"),
        (lambda: fractals.load_formula("a" * 300 + ".py"), InputError, "no such file"),
        (lambda: fractals.compute_to("a" * 300 + ".fz", **TINY), FractalsError, "too long"),
        (lambda: fractals.recolor("."), InputError, "^.: Is a directory"),
        (lambda: fractals.save_scene("seahorse", "a.toml"), OptionError, "no Scene"),
        (lambda: fractals.fit_colors(None), OptionError, "None is no Scene"),
        (lambda: fractals.names(["palettes"]), OptionError, "unknown kind"),
        (lambda: fractals.nuclei(10**400), OptionError, "give at most 15"),
        (lambda: fractals.nuclei(2, degree=10**400), OptionError, "give at most 1 for degree"),
        (lambda: fractals.verify("a.png", -1), OptionError, "pixels=-1"),
        (lambda: fractals.verify("a.png", seed="x"), OptionError, "seed='x'"),
        (lambda: fractals.find_nucleus(progress=True), OptionError, "give a function"),
        (lambda: fractals.find_interesting(progress=1), OptionError, "give a function"),
        (lambda: fractals.find_interesting(count=10**400), OptionError, "give 1 to 100"),
        (lambda: fractals.film(cycle=10**400), OptionError, "more than 308 digits"),
        (lambda: fractals.film(cycle=1).still(None), OptionError, "None s: the film has 1 s"),
        (lambda: fractals.film(cycle=1).still(Decimal("sNaN")), OptionError, "sNaN s: the film"),
        (lambda: fractals.film(cycle=1).frames(1.5), OptionError, "give whole numbers"),
        (
            lambda: fractals.save_scene(Scene(), "a.toml", overwrite="no"),
            OptionError,
            "True or False",
        ),
        (lambda: fractals.compute(**TINY).save("a.fz", overwrite=1), OptionError, "True or False"),
        (lambda: fractals.film(cycle=1).save("a.mp4", frames=3), OptionError, "two whole numbers"),
        (lambda: fractals.film(cycle=1).save("a.mp4", codec=["av1"]), OptionError, "unknown codec"),
        (lambda: fractals.Palette(["blau"]), InputError, "'blau' is not a color"),
        (lambda: fractals.Palette(["#000"], space="rgb"), InputError, "space is one of"),
        (lambda: fractals.Palette(["#000"], blend=np.ones(2)), InputError, "blend is one of"),
        (lambda: fractals.Image(np.zeros((2, 2)), Scene()), OptionError, "shape \\(2, 2\\)"),
        (lambda: fractals.Image(np.zeros((1, 1, 3), np.uint8), 0), OptionError, "no Scene"),
        (
            lambda: fractals.Image(np.zeros((10, 160, 3), np.uint8), Scene()),
            OptionError,
            r"pixels of 160x10, .* size is 1920x1080: give scene.replace\(size=\(160, 10\)\)",
        ),
    ],
)
def test_errors_are_those_of_the_package(call, error, part):
    with pytest.raises(error, match=part) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("given", [None, 3, b"a.fz", ["a.fz"], Scene()])
@pytest.mark.parametrize(
    "call",
    [
        fractals.compute_to,
        fractals.load_formula,
        fractals.verify,
        fractals.EscapeData.load,
        check_suffix,
        lambda path: check_drawing(path, overwrite=False),
        lambda path: fractals.save_scene(Scene(), path),
        lambda path: fractals.film(cycle=1).save(path),
    ],
)
def test_what_is_no_path_is_told(call, given):
    named = re.escape(repr(given)[:60])
    with pytest.raises(OptionError, match=f"^{named}: give the name of a file"):
        call(given)


def test_input_error_is_the_base_of_scene_error():
    assert issubclass(SceneError, InputError)
    assert (InputError.exit_code, SceneError.exit_code) == (3, 3)


def test_a_palette_that_is_built_is_that_of_a_table():
    built = fractals.Palette(["#000", "#fff"])
    assert built.stops == ((0.0, "#000"), (0.5, "#fff"))
    drawn = fractals.load_scene(palette=built)
    assert drawn == fractals.load_scene(palette=["#000", "#fff"])


def test_complex_points():
    found = fractals.load_scene(center=-0.5 + 0.1j, julia=np.complex128(-0.8 + 0.156j))
    assert found.view.center == ("-0.5", "0.1")
    assert found.julia == ("-0.8", "0.156")
    with pytest.raises(SceneError, match="nan"):
        fractals.load_scene(center=complex("nan"))


def test_a_gallery_scene_can_be_named_surely(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("seahorse").mkdir()
    Path("other").write_text("")
    expected = fractals.load_scene("gallery:seahorse")
    assert expected.title == "Seahorse valley"
    assert fractals.load_scene("seahorse") == expected
    with pytest.raises(OptionError, match="unknown scene 'seahorze'"):
        fractals.load_scene("gallery:seahorze")


def test_images_compare_and_show_themselves_shortly():
    first, second = (fractals.render("seahorse", **TINY) for _ in range(2))
    assert first == second
    assert first != fractals.render("seahorse", palette="ember", **TINY)
    assert first != "seahorse"
    second.pixels[0, 0] ^= 1
    assert first != second
    assert repr(first) == "Image(8x6, 'Seahorse valley', cpu, direct)"
    assert first.size == (8, 6)


def test_scenes_show_themselves_shortly():
    assert repr(fractals.load_scene("seahorse")) == (
        "Scene(title='Seahorse valley', formula='mandelbrot', width='0.0065')"
    )
    assert len(str(fractals.load_scene("daystar"))) < 100  # its center has 8300 digits
    assert f"{Scene()}" == "Scene(formula='mandelbrot')"


@pytest.mark.parametrize("suffix", ["toml", "json"])
def test_a_scene_is_saved_and_loaded_again(tmp_path, suffix):
    path = tmp_path / f"sea.{suffix}"
    scene = fractals.load_scene("daystar", size=(8, 6), palette=["#000", "#fff"])
    fractals.save_scene(scene, path)
    assert fractals.load_scene(path) == scene
    before = path.read_bytes()
    with pytest.raises(fractals.FractalsError, match="exists"):
        fractals.save_scene(Scene(), path)
    assert path.read_bytes() == before
    fractals.save_scene(Scene(), str(path), overwrite=True)
    assert fractals.load_scene(path) == Scene()
    with pytest.raises(OptionError, match=r"\.toml or \.json"):
        fractals.save_scene(scene, tmp_path / "sea.png")


def test_a_scene_is_loaded_from_its_json():
    scene = fractals.load_scene("daystar", size=(8, 6), palette=["#000", "#fff"])
    assert fractals.load_scene(scene.to_json()) == scene
    assert fractals.load_scene(f"\n {scene.to_json()}", size=(9, 6)) == scene.replace(size=(9, 6))
    for wrong, words in (("{", "the JSON of a scene: "), ('{"imag": 1}', "^imag: unknown key")):
        with pytest.raises(SceneError, match=words):
            fractals.load_scene(wrong)
    with pytest.raises(InputError, match="not in the folder"):  # a stranger's, as a file may be
        fractals.load_scene('{"color": {"palette": "../../etc/a.map"}}')


def test_raw_numbers_compare_and_show_themselves_shortly():
    first, second = (fractals.compute("seahorse", coloring="distance", **TINY) for _ in range(2))
    assert first == second
    assert first != fractals.compute("seahorse", **TINY)  # without dz
    second.count[0, 0] += 1
    assert first != second
    assert repr(first) == (
        f"EscapeData(8x6 samples, max_iterations={first.max_iterations}, "
        "'Seahorse valley', cpu, direct)"
    )


def test_names_are_listed():
    assert "ember" in fractals.names("palettes")
    assert "smooth" in fractals.names("colorings")
    assert "mandelbrot" in fractals.names("formulas")
    assert "seahorse" in fractals.names("scenes")
    assert "multiply" in fractals.names("blends")
    for kind in ("scenes", "palettes", "blends"):
        assert list(fractals.names(kind)) == sorted(fractals.names(kind))
    with pytest.raises(OptionError, match="unknown kind 'pallets': choose one of formulas"):
        fractals.names("pallets")


def test_points_are_complex_numbers():
    for point in (-0.8 + 0.156j, np.complex128(-0.8 + 0.156j), ("-0.8", "0.156"), (-0.8, 0.156)):
        found = fractals.load_scene(julia=point, center=point)
        assert found.julia == found.view.center == ("-0.8", "0.156")


def test_palettes_are_arrays_and_lists_of_colors():
    floats = np.array([[0, 0, 0], [1, 0.5, 0], [1, 1, 1]])
    bytes_ = np.array([[0, 0, 0, 255], [255, 128, 0, 255], [255, 255, 255, 255]], np.uint8)
    for given in (floats, np.hstack([floats, floats[:, :1]]), bytes_, floats.tolist()):
        found = fractals.load_scene(palette=given).color.palette
        assert [color for _, color in found.stops] == ["#000000", "#ff8000", "#ffffff"]
        assert (found.space, found.cyclic) == ("srgb", True)
    scene_ = fractals.load_scene(palette=floats)
    assert fractals.load_scene(scene_.to_table()) == scene_
    for wrong, words in (
        (np.zeros((2, 2)), r"not of shape \(2, 2\)"),
        (np.full((2, 3), 2.0), "from 0 to 1"),
        (np.full((2, 3), np.nan), "from 0 to 1"),
        (np.full((2, 3), -1), "from 0 to 1"),
        (np.zeros((5000, 3)), "at most 4096 colors"),
        (np.array([["a", "b", "c"]]), "not of <U1"),
    ):
        with pytest.raises(SceneError, match=words):
            fractals.load_scene(palette=wrong)


@pytest.mark.parametrize("package", ["matplotlib", "cmap"])
def test_palettes_are_color_maps(package):
    module = pytest.importorskip(package, reason=f"{package} is not installed")
    maps = module.colormaps if package == "matplotlib" else None
    turns = np.array([0.1, 0.25, 0.4])
    for name, mirrored, bands in (("viridis", 2, 0), ("twilight", 1, 0), ("tab10", 1, 1)):
        given = maps[name] if maps else module.Colormap(name)
        found = fractals.load_scene(palette=given).color.palette
        assert found.source.startswith(f"{package}: ")
        exact = np.array([given(float(at)) for at in mirrored * turns + 0.01 * bands])
        exact = exact if package == "matplotlib" else np.array([tuple(c) for c in exact])
        drawn = srgb_from_linear(found.linear(turns + 0.01 * bands))
        assert np.abs(drawn - exact[:, :3]).max() < 2 / 255, name
        ends = srgb_from_linear(found.linear(np.array([1e-4, 1 - 1e-4])))
        assert bands or np.abs(ends[0] - ends[1]).max() < 0.05, name


def test_a_formula_of_ones_own_is_compiled_once_in_a_process(tmp_path, monkeypatch):
    from numba.core import event

    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))  # empty: the first picture compiles
    monkeypatch.setattr(backend, "FUSED", False)  # plain loops, which compile sooner

    little = 1e-9 * np.random.default_rng().random()  # so no run before has kept its code

    def step(x, y, a, b):
        return fma(x, x, fma(-y, y, a)), fma(x + x, -y, b + number(little, x))

    def draw(**keys):
        with event.install_recorder("numba:compile") as recorder:
            own = fractals.Formula("own", "own", step, None, 2, holomorphic=False)
            keys = {"max_iterations": 30, "coloring": "count", **TINY, **keys}
            fractals.render(formula=own, **keys)
        return len(recorder.buffer)

    assert draw() > 0
    draw()  # compiles the loop over tiles, which has no formula, if no test did before
    assert draw() == draw(width=1) == draw(palette="ember", size=(9, 7)) == 0


def test_an_image_is_a_pillow_image():
    for bits in (8, 16):
        image = fractals.render(bits=bits, **TINY)
        found = image.to_pil()
        assert (found.mode, found.size) == ("RGB", image.size)
        expected = image.pixels if bits == 8 else image.pixels >> 8
        assert np.array_equal(np.asarray(found), expected)


def test_an_image_is_shown(monkeypatch):
    import PIL.Image

    shown = []
    monkeypatch.setattr(PIL.Image.Image, "show", lambda self, title: shown.append(self.size))
    fractals.render(bits=16, **TINY).show()
    assert shown == [(8, 6)]


@pytest.mark.parametrize("mirror", [False, True])
def test_extent_is_where_the_picture_lies(mirror):
    raw = fractals.compute(center=-0.5 + 0.25j, width=2, mirror=mirror, **TINY)
    low, high = (1.0, -0.5) if mirror else (-0.5, 1.0)
    assert raw.extent == (-1.5, 0.5, low, high)
    turned = fractals.compute(rotation=10, **TINY)
    with pytest.raises(OptionError, match="rotation"):
        _ = turned.extent


def test_a_plan_is_short():
    planned = fractals.plan("seahorse", device="cpu")
    assert len(repr(planned)) < 150
    assert repr(planned).startswith("Plan(method='direct', precision='float64', digits=")
    solid = fractals.plan(formula="menger", device="cpu")
    assert len(repr(solid)) < 150
    assert repr(solid).startswith("SolidPlan(method='rays', precision='float")
    relief = fractals.plan("mandelbrot", heights="smooth", device="cpu")
    assert len(repr(relief)) < 150
    assert repr(relief).startswith("ReliefPlan(Plan(method='direct', ")


def test_no_file_is_replaced_unless_asked(tmp_path):
    image, raw = fractals.render(**TINY), fractals.compute(**TINY)
    writes = {
        "a.png": image.save,
        "b.npz": raw.save,
        "c.fz": raw.save,
        "d.png": lambda path, **keys: fractals.render_to(path, **keys, **TINY),
        "e.png": lambda path, **keys: fractals.recolor_to(path, raw, **keys, device="cpu"),
    }
    for name, write in writes.items():
        write(tmp_path / name)
        with pytest.raises(fractals.FractalsError, match="exists"):
            write(tmp_path / name)
        write(tmp_path / name, overwrite=True)


def test_a_tile_is_a_function_of_the_plan():
    """Any rectangle, again, and in any order: the same pixels and counts."""
    drawn = scene(size=(40, 30), supersampling=2)
    image, raw = fractals.render(drawn, device="cpu"), fractals.compute(drawn, device="cpu")
    found = opened(drawn)
    for tile in [
        fractals.Tile(7, 3, 20, 11),
        fractals.Tile(0, 0, 1, 1),
        fractals.Tile(7, 3, 20, 11),
    ]:
        pixels = np.empty((tile.height, tile.width, 3), np.uint8)
        drawing.draw_tile(found, tile, pixels)
        np.testing.assert_array_equal(pixels, image.pixels[tile.window()])
        count = np.empty((2 * tile.height, 2 * tile.width), np.int32)
        drawing.compute_tile(found, tile, {"count": count})
        np.testing.assert_array_equal(count, raw.count[tile.window(2)])


def test_a_picture_file_is_checked_once(tmp_path, monkeypatch):
    """Limits of the type and the existing file are looked at before anything is drawn."""
    from fractals.io import image

    asked = []
    check = image.check_output
    monkeypatch.setattr(image, "check_output", lambda *a: asked.append(a) or check(*a))
    for name in ("a.png", "a.jpg"):
        fractals.render_to(tmp_path / name, **TINY)
    assert len(asked) == 2
    with pytest.raises(OptionError, match="holds 8 bits"):
        PictureFile(tmp_path / "b.jpg", Scene().replace(bits=16).image)


LIBRARY = "fractals.render_to({path!r}, 'seahorse', size=(8, 6), device='cpu')"
COMMAND = """
from fractals.cli import main
try:
    main(["render", "seahorse", "--size", "8x6", "--cpu", "-o", {path!r}])
except SystemExit as ended:
    assert ended.code == 0
"""


@pytest.mark.parametrize(
    ("draw", "validated"),
    [(LIBRARY, 1), (COMMAND, 2)],  # a command's options may depend on the scene as it is read
    ids=["library", "command"],
)
def test_each_thing_is_done_once(tmp_path, draw, validated):
    """Count the entries of what is dear while a picture is drawn into a file."""
    once = ["check_output", "choose"]  # a PNG holds every picture: its format is not checked
    twice = ["make_layers", "make_plan", "place_of"]  # also for the samples that find the limit
    code = (
        "import sys, fractals, collections\n"
        "found = collections.Counter()\n"
        "def note(frame, event, argument):\n"
        "    if event == 'call' and 'fractals' in frame.f_code.co_filename:\n"
        "        found[frame.f_code.co_qualname] += 1\n"
        "sys.setprofile(note)\n"
        f"{draw.format(path=str(tmp_path / 'a.png'))}\n"
        "sys.setprofile(None)\n"
        f"print({{name: found[name] for name in {['validate', *once, *twice]!r}}})\n"
        "print(*sorted(name for name in sys.modules if 'io.foreign.' in name), sep=',')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    counts, foreign = done.stdout.splitlines()
    expected = {"validate": validated} | dict.fromkeys(once, 1) | dict.fromkeys(twice, 2)
    assert ast.literal_eval(counts) == expected
    assert foreign == "", "no format of another program is imported where none is named"


@pytest.mark.slow  # the step "types" of .ci/run runs it, beside what it repeats
@pytest.mark.parametrize("settings", [True, False])
def test_type_checkers_see_useful_types(tmp_path, settings):
    """Callers have other settings; with those of this package, what was checked is known."""
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file"]
    command += [str(HERE.parent / "pyproject.toml") if settings else os.devnull]
    right, wrong = HERE / "typing" / "caller.py", tmp_path / "wrong.py"
    wrong.write_text(
        "import fractals\nfractals.render(siz=(1, 2))\nx: int = fractals.plan()\nfractals.lod\n"
    )
    done = subprocess.run([*command, str(right), str(wrong)], capture_output=True, text=True)
    assert "caller.py" not in done.stdout, done.stdout
    assert sum("wrong.py" in line and "error" in line for line in done.stdout.splitlines()) == 3


def test_pictures_say_how_they_were_iterated():
    """A loop 10 to 25 times slower is never taken in silence."""
    small = {"size": (8, 6), "supersampling": 1, "device": "cpu"}
    assert fractals.render("mandelbrot", **small).loop == "packs"
    drawn = fractals.render(coloring="picture_trap", **small)
    assert drawn.loop.startswith("plain: no SIMD form of ")
    assert fractals.render("mandelbrot", **{**small, "device": "python"}).loop == "python"


@pytest.mark.parametrize("owner", ATTRIBUTES)
def test_names_that_people_type_first_lead_to_names_that_are_there(owner):
    owners = {"raw": fractals.EscapeData, "image": fractals.Image, "scene": fractals.Scene}
    owners["fractals"] = fractals
    for hint in ATTRIBUTES[owner].values():
        for module, name in re.findall(r"\b(fractals|raw|image|scene)\.(\w+)", hint):
            known = {*dir(owners[module]), *getattr(owners[module], "__dataclass_fields__", ())}
            assert name in known, hint


def test_an_image_has_the_shape_of_its_pixels():
    image = fractals.render(size=(8, 6), device="python", max_iterations=10)
    assert image.shape == image.pixels.shape == (6, 8, 3)
    assert image.size == (8, 6)
