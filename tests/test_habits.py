"""What people bring from other libraries: pickles, Pillow's habits, guessed names, notebooks."""

import concurrent.futures
import copy
import dataclasses
import importlib.metadata
import inspect
import io
import multiprocessing
import pickle
import warnings

import numpy as np
import PIL.Image
import pytest

import fractals
from fractals import catalog
from fractals.backends.cuda import gpus
from fractals.errors import to_install


def public_functions():
    """Yield the names of public functions and methods, and these."""
    for name in fractals.__all__:
        found = getattr(fractals, name)
        if inspect.isfunction(found):
            yield name, found
        elif inspect.isclass(found):
            if dataclasses.is_dataclass(found):
                yield name, found
            for key, method in vars(found).items():
                if inspect.isfunction(method) and not key.startswith("_"):
                    yield f"{name}.{key}", method


@pytest.mark.parametrize(("name", "function"), [*public_functions()])
def test_switches_are_given_by_name(name, function):
    for parameter in inspect.signature(function).parameters.values():
        if isinstance(parameter.default, bool) and not parameter.name.startswith("_"):
            assert parameter.kind is parameter.KEYWORD_ONLY, parameter


def public_values(folder):
    """Return a value of each public class that a program may send or keep."""
    scene = fractals.Scene().replace(size=(8, 6), supersampling=1, width="0.5", center=(-0.75, 0.1))
    raw = fractals.compute(scene, device="python")
    raw.save(folder / "a.fz")
    return {
        "Scene": scene,
        "View": scene.view,
        "Image": fractals.render(scene, device="python"),
        "EscapeData": raw,
        "EscapeData of a store": fractals.EscapeData.load(folder / "a.fz"),
        "Plan": fractals.plan(scene, device="python"),
        "Tile": fractals.plan(scene, device="python").tiles[0],
        "Palette": fractals.Palette(stops=((0.0, "#000"), (1.0, "#fff"))),
        "Formula": scene.make_formula(),
        "Device": fractals.devices()[0],
        "Minibrot": fractals.find_nucleus(scene),
        "Misiurewicz": fractals.find_misiurewicz(scene),
        "Film": fractals.film(scene, cycle=1, device="python"),
        "Rendered": fractals.render_to(folder / "a.png", scene, device="python"),
        "Computed": fractals.compute_to(folder / "b.fz", scene, device="python"),
        "Coloring": scene.color.coloring.make(),
        "raw numbers of a flame": fractals.compute(
            "garland", quality=0.1, size=(8, 6), device="cpu"
        ),
        "PointData": fractals.compute_points([0.3, ("-0.75", "0.1")], device="python"),
        "LineDrawing": fractals.trace(scene, contours=0, rays=2),
        "Pixel": fractals.verify(folder / "a.png", 1)[0],
        "OptionError": fractals.OptionError("a line"),
    }


def test_every_public_value_survives_pickle_and_copies(tmp_path):
    for name, value in public_values(tmp_path).items():
        for made in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
            assert type(made) is type(value), name
            if isinstance(value, Exception):
                assert str(made) == str(value)
            else:
                assert made == value, name


def made_values():
    """Yield formulas of all names, some of text, and colorings, whose functions have no names."""
    texts = ("z**3 + c", "x = x*x - y*y - z*z + a; y = 2*x*y + b; z = -2*x*z + c")
    names = (name for kind in catalog.FORMULAS for name in catalog.names(kind))
    for formula in (*names, *texts, {"name": "multibrot", "power": 5}):
        yield fractals.Scene(formula=formula).make_any_formula()
    for coloring in fractals.names("colorings"):
        yield fractals.Scene().replace(coloring=coloring).color.coloring.make()
    yield fractals.plan(formula="z**3 + c", size=(8, 6), device="python")
    yield fractals.Scene(formula=fractals.Scene(formula="z**3 + c").make_formula())


def test_formulas_and_colorings_survive_pickle_and_copies():
    for value in made_values():
        assert pickle.loads(pickle.dumps(value)) == value, value
        assert copy.copy(value) == copy.deepcopy(value) == value


def test_a_formula_without_a_name_is_pickled_by_its_functions():
    changed = dataclasses.replace(fractals.Scene(formula="z**3 + c").make_formula(), title="mine")
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(changed)  # never by the recipe of the formula that it is not
    assert copy.deepcopy(changed) == changed


def test_a_damaged_store_is_no_pickle(tmp_path):
    raw = fractals.compute(size=(8, 6), device="python")
    raw.save(tmp_path / "a.fz")
    stored = fractals.EscapeData.load(tmp_path / "a.fz")
    path = next((tmp_path / "a.fz").glob("count*.npy"))
    contents = bytearray(path.read_bytes())
    contents[-3] ^= 1
    path.write_bytes(contents)
    with pytest.raises(fractals.SceneError, match="damaged"):
        pickle.dumps(stored)


@pytest.mark.parametrize("method", sorted({"spawn", "forkserver", "fork"}))
def test_raw_numbers_come_from_processes(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {method}")
    context = multiprocessing.get_context(method)
    own = fractals.Scene(formula="z**3 + c").make_formula()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of fork in a process of threads
        with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
            raw = pool.submit(fractals.compute, formula=own, size=(8, 6), device="python").result()
    assert raw == fractals.compute(formula=own, size=(8, 6), device="python")


def test_images_are_saved_and_encoded_as_by_pillow(tmp_path):
    image = fractals.render(size=(16, 12), supersampling=1, device="python")
    buffer = io.BytesIO()
    image.save(buffer, format="png", quality=90)
    assert buffer.getvalue()[:4] == b"\x89PNG"
    assert image.encode("jpg")[:2] == image.encode("JPEG")[:2] == b"\xff\xd8"
    assert len(image.encode("jpeg", quality=10)) < len(image.encode("jpeg"))
    assert len(image.encode("webp", quality=10)) < len(image.encode("webp"))
    assert image.encode(".png") == image.encode()
    image.save(tmp_path / "a.dat", format="PNG")
    assert (tmp_path / "a.dat").read_bytes() == image.encode()
    with pytest.raises(TypeError):
        image.save(tmp_path / "a.png", "PNG")
    with pytest.raises(fractals.OptionError, match="quality=0: give a whole number from 1 to 100"):
        image.encode("jpg", quality=0)
    with pytest.raises(fractals.OptionError, match="unknown type of picture 'gif'"):
        image.encode("gif")
    with pytest.raises(fractals.OptionError, match="give the name of a file"):
        image.save(7)


def test_other_libraries_take_pictures_and_raw_numbers():
    image = fractals.render(size=(16, 12), supersampling=1, device="python")
    assert np.array_equal(PIL.Image.fromarray(image), image.pixels)
    assert np.shares_memory(np.asarray(image), image.pixels)
    assert (image.width, image.height) == image.size == (16, 12)
    raw = fractals.compute(size=(16, 12), supersampling=1, device="python")
    assert np.array_equal(np.asarray(raw), raw.count)
    assert np.array_equal(image[3:, 4], image.pixels[3:, 4])
    assert raw.shape == (12, 16)
    assert np.array_equal(raw.inside, raw.count == raw.max_iterations)


def test_recolor_takes_a_path(tmp_path):
    raw = fractals.compute(size=(8, 6), device="python")
    raw.save(tmp_path / "a.npz")
    expected = fractals.recolor(raw, palette="ember", device="python")
    assert fractals.recolor(tmp_path / "a.npz", palette="ember", device="python") == expected
    fractals.recolor_to(tmp_path / "a.png", str(tmp_path / "a.npz"), palette="ember", device="cpu")
    assert np.array_equal(np.asarray(PIL.Image.open(tmp_path / "a.png")), expected.pixels)


def test_progress_may_be_a_bar(capsys):
    fractals.render(size=(8, 6), device="python", progress=True)
    shown = capsys.readouterr().err
    assert shown.endswith("█ 1/1\n")
    fractals.render(size=(8, 6), device="python", progress=False)
    assert capsys.readouterr().err == ""


def test_notes_are_warnings_of_one_class(monkeypatch):
    monkeypatch.setattr(gpus, "found", lambda: ([], "none"))
    with pytest.warns(fractals.FractalsWarning, match="drawing in the simulator"):
        fractals.render(size=(4, 3), device="gpu")


def test_a_note_is_shown_once_for_each_line_of_the_caller():
    """Python's key for "once" is the line, so it must be that of the caller, at any depth."""

    def draw():
        fractals.render(size=(4, 3), device="python", seed=3)

    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("default")
        first = draw.__code__.co_firstlineno + 1
        for _ in range(3):
            draw()
        fractals.plan(size=(4, 3), device="python", seed=3)
        fractals.render(size=(4, 3), device="python", seed=4)
    assert {note.filename for note in notes} == {__file__}
    assert [note.lineno for note in notes] == [first, first + 7, first + 8]


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"width": 640, "height": 480}, "give size=(width, height) in pixels"),
        ({"cmap": "ember"}, "did you mean 'palette'?"),
        ({"iterations": 50}, "did you mean 'max_iterations'?"),
        ({"extent": (0, 1, 0, 1)}, "give center=(x, y) and width=..."),
        ({"gpu": True}, "give device='gpu'"),
        ({"n_jobs": 2}, "did you mean 'threads'?"),
        ({"dtype": "float32"}, "give precision='float32' or 'float64'"),
        ({"out": "a.png"}, "give fractals.render_to(path, ...)"),
        ({"palete": "ember"}, "did you mean 'palette'?"),
        ({"backend": "cpu"}, "give device='cpu', 'gpu' or another"),
        ({"c": (0, 1)}, "give julia=(x, y)"),
        ({"formula": "multibrot", "power": 4}, "give formula={'name': 'multibrot', 'power': 4}"),
        ({"fov": 30}, "did you mean 'field'?"),
        ({"formula": "multibrot,power=4"}, "{'name': 'multibrot', 'KEY': VALUE}"),
        ({"coloring": "stripe_average,density=4"}, "{'name': 'stripe_average', 'KEY': VALUE}"),
        ({"device": "mps"}, "Apple's GPUs are reached through OpenCL"),
        ({"progress": 3}, "give True, a function, or None"),
        ({"zoom": "x10"}, "only options of the command line are relative to a scene"),
        ({"formula": "julia"}, "of any formula: julia=(X, Y)"),
    ],
)
def test_guesses_are_answered_with_what_is_meant(keywords, words):
    with pytest.raises(fractals.FractalsError) as raised:
        fractals.render(**keywords)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("name", "words"),
    [("newton", "it is a formula"), ("ember", "it is a palette"), ("seahorze", "did you mean")],
)
def test_the_name_of_another_kind_is_no_scene(name, words):
    with pytest.raises(fractals.OptionError, match=words):
        fractals.load_scene(name)


def test_names_of_formulas_are_folded():
    assert fractals.Scene(formula="Burning Ship").formula.name == "burning_ship"
    assert fractals.names("scene") == fractals.names("scenes")
    assert "palettes" in fractals.names()


def test_guessed_attributes_name_what_was_meant():
    raw = fractals.compute(size=(8, 6), device="python")
    for name, meant in {"recolor": "fractals.recolor", "size": "shape", "cmap": "'cmap'$"}.items():
        with pytest.raises(AttributeError, match=meant):
            getattr(raw, name)
    with pytest.raises(AttributeError, match="load_scene"):
        _ = fractals.Image.open


def test_a_scene_says_that_it_never_changes():
    with pytest.raises(AttributeError, match="scenes never change"):
        fractals.Scene().title = "x"


def test_signatures_fit_a_screen():
    public = {name: getattr(fractals, name) for name in fractals.__all__}
    for name, found in public.items():
        if name in ("__version__", "RenderKeywords") or name.endswith(("Error", "Warning")):
            continue  # these have none of their own
        shown = str(inspect.signature(found))
        assert len(shown) < 24 * 80, name
        assert " at 0x" not in shown, name


@pytest.mark.parametrize(
    ("origin", "installer", "command"),
    [
        (None, "pip", "pip install 'fractals-numba[gpu]'"),
        ('{"url": "file:///a%20b", "dir_info": {"editable": true}}', "pip", "-e '/a b[gpu]'"),
        ('{"url": "file:///a", "dir_info": {"editable": true}}', "uv", "uv sync --inexact --extra"),
        ('{"url": "file:///a", "dir_info": {}}', "uv", "pip install '/a[gpu]'"),
        ('{"url": "https://x/y", "vcs_info": {"vcs": "git"}}', "pip", "[gpu] @ git+https://x/y'"),
        ("damaged", "pip", "pip install 'fractals-numba[gpu]'"),
    ],
)
def test_an_extra_is_installed_from_where_the_package_came(monkeypatch, origin, installer, command):
    class Installed:
        def read_text(self, name):
            return {"INSTALLER": f"{installer}\n", "direct_url.json": origin}[name]

    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: Installed())
    assert command in to_install("gpu")
