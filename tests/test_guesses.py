"""Names that people type first, by habits of other libraries: each works, or says what is meant."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from support.scenes import scene

import fractals
from fractals import meant
from fractals.cli.verbs import COMMANDS
from fractals.errors import FractalsError, FractalsWarning
from fractals.films import writing
from fractals.io import escape_data, image, load, palettes

WORKS = ""
SMALL = {"size": (8, 6), "max_iterations": 20, "device": "python"}
# What is typed, and what the message says; an empty text where it works.
KEYWORDS = {
    "max_iter=9": "did you mean 'max_iterations'?",
    "maxiter=9": "did you mean 'max_iterations'?",
    "iterations=9": "did you mean 'max_iterations'?",
    "limit=9": "did you mean 'max_iterations'?",
    "cmap='ember'": "did you mean 'palette'?",
    "colormap='ember'": "did you mean 'palette'?",
    "colors='ember'": "did you mean 'palette'?",
    "c=-0.8": "julia=(x, y)",
    "julia=-0.8 + 0.156j": WORKS,
    "julia=True": "give two numbers",
    "xmin=-2": "center=(x, y) and width=",
    "xlim=(-2, 1)": "center=(x, y) and width=",
    "extent=(-2, 1, -1, 1)": "center=(x, y) and width=",
    "bounds=(-2, 1, -1, 1)": "center=(x, y) and width=",
    "height=600": "size=(width, height)",
    "shape=(6, 8)": "size=(width, height)",
    "resolution=8": "size=(width, height)",
    "coords=[0]": "fractals.compute_points",
    "points=[0, 1j]": "fractals.compute_points",
    "dx=0.1": "width=",
    "center=-0.5 + 0.1j": WORKS,
    "zoom=10": WORKS,
    "workers=2": "did you mean 'threads'?",
    "n_jobs=2": "did you mean 'threads'?",
    "parallel=True": "did you mean 'threads'?",
    "chunks=100": "fractals.compute_to(path",
    "gpu=True": "device='gpu'",
    "backend='numba'": "device='cpu'",
    "dtype='float32'": "precision='float32'",
    "precision=100": "views of any depth are exact",
    "bailout=2": "did you mean 'escape_radius'?",
    "radius=2": "did you mean 'escape_radius'?",
    "power=3": "formula={'name': 'multibrot', 'power': 3}",
    "depth=16": "did you mean 'bits'?",
    "verbose=True": "progress=True",
    "output='a.png'": "fractals.render_to(path",
    "filename='a.png'": "fractals.render_to(path",
    "smooth=True": "coloring='smooth'",
    "period=3": "coloring='period'",
    "fields=['count']": "coloring=",
    "antialias=True": "supersampling=N",
    "ssaa=4": "did you mean 'supersampling'?",
    "samples=4": "for solids and reliefs; not used here",
    "background='navy'": "for scatter images; not used here",
    "title='x'": WORKS,
    "author='x'": WORKS,
    "signature='x'": "did you mean 'author'?",
    "name='x'": "did you mean 'title'?",
    "palette='photo.jpg'": "no such file",
    "palette='#102030,#e07020, navy'": WORKS,
    "palette=['#102030', '#e07020']": WORKS,
    "palette='#102030,#e0702'": "'#e0702' is not a color",
    "gamut='display-p3'": WORKS,
    "gamut='Display P3'": WORKS,
    "gamut='sRGB'": WORKS,
    "gamut='adobe-rgb'": WORKS,
    "curve='filmc'": "did you mean 'filmic'?",
    "formula=lambda z, c: z * z + c": "give an expression such as",
}
EXPRESSIONS = {
    "fractals.render('newton', **SMALL)": "formula='newton'",
    "fractals.find_nucleus(7)": "center=(-0.75, 0.1)",
    "fractals.find_period(-1)": "center=(-0.75, 0.1)",
    "fractals.find_nucleus(period=7)": "returns the lowest period in a view",
    "fractals.find('seahorse')": "fractals.find_nucleus",
    "fractals.nuclei(7)": "fractals.find_nucleus",
    "fractals.verify": "verb of the command line",
    "fractals.trace": "verb of the command line",
    "fractals.tiles": "verb of the command line",
    "fractals.area()": "inside.mean()",
    "fractals.orbit(-1)": "fractals.compute_points",
    "fractals.external_angle(1j)": "fractals.compute_points",
    "fractals.escape_time(1j)": "fractals.compute_points",
    "fractals.points": "fractals.compute_points",
    "fractals.mandelbrot()": "fractals.render",
    "fractals.julia(-0.8)": "fractals.render",
    "fractals.Mandelbrot()": "fractals.render",
    "fractals.draw()": "fractals.render",
    "fractals.plot": "fractals.render",
    "fractals.gallery()": "verb of the command line",
    "fractals.list()": "fractals.names()",
    "fractals.palettes()": "fractals.names('palettes')",
    "fractals.colormaps": "fractals.names('palettes')",
    "fractals.palette('ember')": "palette='ember'",
    "fractals.load('a.fz')": "fractals.EscapeData.load",
    "fractals.open('a.fz')": "fractals.EscapeData.load",
    "fractals.read('a.toml')": "fractals.load_scene",
    "fractals.save(image, 'a.png')": "image.save",
    "fractals.show(image)": "image.show()",
    "fractals.animate()": "fractals.film",
    "fractals.zoom()": "fractals.film",
    "fractals.version": "fractals.__version__",
    "fractals.config": "help(fractals.render)",
    "fractals.rendr": "did you mean 'render'?",
    "fractals.Scene('seahorse')": "fractals.load_scene('seahorse')",
    "fractals.Scene(center=(0, 0))": "scene.replace(center=",
    "fractals.Palette('ember')": "load_scene(palette='ember')",
    "fractals.Image.fromarray(pixels)": "fractals.Image(pixels)",
    "fractals.Image.open('a.png')": "fractals.load_scene(path)",
    "fractals.EscapeData.open('a.fz')": "fractals.EscapeData.load(path)",
    "raw.statistics": WORKS,
    "raw.to_xarray": WORKS,
    "np.asarray(raw)": WORKS,
    "raw.counts": "did you mean 'count'?",
    "raw.iterations": "did you mean 'count'?",
    "raw.statistic": "did you mean 'statistics'?",
    "raw.mask": "did you mean 'inside'?",
    "raw.escaped": "~raw.inside",
    "raw.smooth": "raw.values(",
    "raw.distance": "raw.values(",
    "raw.period": "raw.values(",
    "raw.metadata": "raw.scene",
    "raw.attrs": "raw.scene",
    "raw.data": "raw.count",
    "raw.array": "raw.count",
    "raw.dtype": "raw.count",
    "raw.to_numpy()": "raw.count",
    "raw.coords": "raw.extent",
    "raw.real": "raw.extent",
    "raw.width": "raw.shape",
    "raw.size": "shape: (height, width)",
    "raw.to_pandas()": "to_dataframe()",
    "raw.image()": "fractals.recolor(raw)",
    "raw.plot()": "fractals.recolor(raw)",
    "raw.recolor('ember')": "fractals.recolor(raw, ...)",
    "sums.planes": WORKS,
    "sums.z": "raw.planes has them by name",
    "sums.sum": "did you mean 'sums'?",
    "image.tobytes()": WORKS,
    "image.to_pil()": WORKS,
    "image.encode()": WORKS,
    "image.to_png()": "image.encode('png')",
    "image.to_bytes()": "image.encode('png')",
    "image.png()": "image.encode('png')",
    "image.array": "image.pixels",
    "image.to_numpy()": "image.pixels",
    "image.data": "image.pixels",
    "image.pil": "image.to_pil()",
    "image.resize((2, 2))": "image.to_pil()",
    "image.mode": "image.to_pil()",
    "image.plot()": "image.show()",
    "image.timing": "did you mean 'timings'?",
    "drawn.to_toml()": WORKS,
    "drawn.render()": "fractals.render(scene)",
    "drawn.compute()": "fractals.compute(scene)",
    "drawn.plan()": "fractals.plan(scene)",
    "drawn.save('a.toml')": "fractals.save_scene(scene, path)",
    "drawn.zoom(2)": "scene.replace(zoom=...)",
    "drawn.width": "scene.view.width",
    "drawn.palette": "scene.color.palette",
    "drawn.to_dict()": "did you mean 'to_table'?",
    "drawn.to_yaml()": "'to_toml'",
    "drawn.update(width=2)": "scene.replace(",
    "drawn.formla": "did you mean 'formula'?",
}
COMMAND_LINES = {
    "render --gamut display-p3": WORKS,
    "render --palette #102030,#e07020,#f8e8b0": WORKS,
    "render --palette Ember": WORKS,
    "render --palette sea.png": WORKS,
    "render --palette photo.png": WORKS,
    "render --palette no.jpg": "no.jpg: no such file",
    "render --exposure 1.4": WORKS,
    "render --exposure bright": "is not 'auto' or a number",
    "render --colormap ember": "did you mean '--palette'?",
    "render --iterations 9": "did you mean '--max-iterations'?",
    "render --power 5": "--formula multibrot,power=5",
    "render mandelbulb --power 5": "--formula mandelbulb,power=5",
    "render edelweiss --power 5": "--formula mandelbulb",
    "render --formula newton --power 5": "--formula newton,power=5",
    "render edelweiss --quality 6": "--samples",
    "render --note text": "note is a key of a scene's file",
    "render --layers 2": "layers is a key of a scene's file",
    "render --curve filmc": "did you mean 'filmic'?",
    "render --pixel 3,3": "did you mean '--at'?",
    "render --file a.png": "did you mean '--output'?",
    "draw seahorse": "did you mean 'render'?",
    "animate seahorse": "did you mean 'film'?",
    "info a.png": "did you mean 'show'?",
    "film curve.toml -o a.mp4": "did you mean 'ease'?",
    "trace edelweiss": "'fractals render' draws it",
    "trace seahorse --paper A9": "size of paper: a0",
}


@pytest.fixture(scope="module")
def values():
    """Return the names that an expression may use."""
    drawn = fractals.load_scene("seahorse")
    image = fractals.render("mandelbrot", **SMALL)
    raw = fractals.compute("mandelbrot", **SMALL)
    sums = fractals.compute(formula="clifford", size=(8, 6), quality=1, device="cpu")
    names = {"fractals": fractals, "np": np, "SMALL": SMALL, "sums": sums}
    return {**names, "raw": raw, "image": image, "drawn": drawn, "pixels": image.pixels}


def answer(expression, values):
    """Return the message of an expression's error, or an empty text if it works."""
    try:
        eval(expression, dict(values))
    except (AttributeError, FractalsError, FractalsWarning) as error:
        return str(error)
    return WORKS


@pytest.mark.parametrize("typed", KEYWORDS)
def test_a_keyword_works_or_the_message_names_what_is_meant(values, typed):
    own = ", ".join(f"{key}={value!r}" for key, value in SMALL.items() if f"{key}=" not in typed)
    said = answer(f"fractals.render('mandelbrot', {typed}, {own})", values)
    assert KEYWORDS[typed] in said
    assert bool(KEYWORDS[typed]) == bool(said)


@pytest.mark.parametrize("typed", EXPRESSIONS)
def test_a_name_works_or_the_message_says_what_is_meant(values, typed):
    said = answer(typed, values)
    if not EXPRESSIONS[typed]:
        assert said == WORKS
    # What is added later works, and needs no hint.
    elif not hasattr(fractals, typed.removeprefix("fractals.").partition("(")[0]):
        assert EXPRESSIONS[typed] in said


@pytest.mark.parametrize("typed", COMMAND_LINES)
def test_an_option_works_or_the_message_names_what_is_meant(run, values, typed):
    values["image"].save("sea.png")
    values["image"].to_pil().save("photo.png")
    keys = "[[film.keys]]\nat = 0\n[[film.keys]]\nat = 1\ncurve = 'both'\nwidth = 1\n"
    Path("curve.toml").write_text(keys, "utf-8")
    words = typed.split()
    code, _, said = run(*words, *["--dry-run"] * (words[0] == "render"))
    assert COMMAND_LINES[typed] in said
    if not COMMAND_LINES[typed]:
        assert (code, said) == (0, "")


def test_the_palette_of_a_picture_is_that_of_its_scene(run, values):
    values["image"].save("sea.png")
    fractals.render("seahorse", palette="#102030,#e07020", **SMALL).save("two.png")
    for name in ("sea.png", "two.png"):
        own = fractals.load_scene(name).color.make_palette()
        assert fractals.load_scene(palette=name).color.make_palette() == own
    assert [color for _, color in own.stops] == ["#102030", "#e07020"]
    Path("of.toml").write_text("[color]\npalette = 'two.png'\n", "utf-8")
    assert fractals.load_scene("of.toml").color.make_palette() == own


def test_color_maps_of_matplotlib_are_palettes_without_cmap(monkeypatch):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    by_cmap = fractals.load_scene(palette="viridis").color.make_palette()
    monkeypatch.setattr(palettes, "cmap_installed", lambda: False)
    found = fractals.load_scene(palette="viridis").color.make_palette()
    assert found.source == "matplotlib: viridis"
    places = np.linspace(0, 1, 20)
    assert np.abs(found.linear(places) - by_cmap.linear(places)).max() < 0.01
    with pytest.raises(fractals.SceneError, match="unknown palette 'virdis'"):
        fractals.load_scene(palette="virdis")


def test_a_trace_fills_a_paper(run):
    pytest.importorskip("contourpy")
    how = ("--size", "40x20", "-n", "30", "--contours", "3", "--shortest", "0")
    for paper, wide in (("A3", 'width="420mm"'), ("100mm", 'width="100mm"')):
        assert run("trace", *how, "--paper", paper, "-o", f"{paper}.svg")[0] == 0
        assert wide in Path(f"{paper}.svg").read_text("utf-8")


def test_the_verbs_that_are_no_functions_are_verbs():
    assert {*meant.ONLY_VERBS} <= {*COMMANDS}


def test_each_word_is_said_for_one_thing():
    for table in meant._SAID.values():
        words = [*itertools.chain(*(said.split() for said in table))]
        assert len(words) == len({*words})


def test_private_names_and_copies_are_not_hinted_at(values):
    for each in (values["raw"], values["image"], values["drawn"]):
        assert not hasattr(each, "_no_such_name")
        with pytest.raises(AttributeError, match=r"'_repr_no'$"):
            _ = each._repr_no
    assert scene() == scene().model_copy()


def test_every_type_of_file_has_a_function_that_writes_it():
    def ends(function):
        return {end for end, written in meant.WRITERS.items() if written == function}

    assert ends("render") == set(image.FORMATS)
    assert ends("compute") == set(escape_data.SUFFIXES)
    assert ends("film") == set(writing.SUFFIXES) - set(image.FORMATS)
    assert ends("save_scene") == set(load.SCENE_SUFFIXES)
    assert all(callable(getattr(fractals, function)) for function in meant.WRITERS.values())
    with pytest.raises(fractals.OptionError, match=r"; for \.exr there is fractals\.compute\(\)$"):
        fractals.render(**SMALL).save("a.exr")
