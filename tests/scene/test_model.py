"""Scenes: round trips, merging, and what is said of a bad one."""

import json
import math
import re
import tomllib
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fractals
from fractals import InputError, Scene, catalog
from fractals.color import palette
from fractals.errors import FractalsError, OptionError, SceneError
from fractals.io.load import load_scene
from fractals.kernels.formula import AnyFormula, Formula
from fractals.kernels.primitives import fma
from fractals.scene import table as made
from fractals.scene.model import TABLES, toml_text

decimals = st.decimals(
    allow_nan=False, allow_infinity=False, min_value=-(10**29), max_value=10**29
).map(str)
positive = decimals.map(lambda text: text.lstrip("-")).filter(lambda text: float(text) > 0)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
reals = st.floats(-1000, 1000)
colors = st.from_regex(r"#([0-9a-f]{3}|[0-9a-f]{6})", fullmatch=True)
palettes = st.sampled_from(catalog.names("palette")) | st.builds(
    lambda stops, cyclic, title: {"stops": stops, "cyclic": cyclic, "title": title},
    st.lists(colors, min_size=1, max_size=5),
    st.booleans(),
    texts,
)
formulas = st.sampled_from(catalog.names("formula")) | st.builds(
    lambda power: {"name": "multibrot", "power": power}, st.integers(2, 8)
)


def tables(**keys):
    return st.fixed_dictionaries({}, optional=keys)


views = tables(center=st.tuples(decimals, decimals).map(list), rotation=st.floats(-360, 360))
scenes = tables(
    title=texts,
    author=texts,
    note=texts,
    formula=formulas,
    julia=st.tuples(decimals, decimals).map(list),
    view=views | st.builds(lambda v, w: {**v, "width": w}, views, positive),
    image=tables(
        size=st.tuples(*[st.integers(1, 200_000)] * 2).map(list), supersampling=st.integers(1, 16)
    ),
    iteration=tables(
        max_iterations=st.just("auto") | st.integers(1, 2_000_000_000),
        escape_radius=st.floats(2, 1e9),
        precision=st.sampled_from(["auto", "float64", "float32"]),
    ),
    color=tables(
        coloring=st.sampled_from(catalog.names("coloring")),
        palette=palettes,
        transfer=st.sampled_from(["auto", "linear", "sqrt", "log"]),
        density=reals,
        offset=reals,
        inside=colors,
    ),
)


@settings(max_examples=80)
@given(scenes)
def test_round_trips(table):
    drawn = load_scene(table)
    assert load_scene(drawn) == drawn
    assert load_scene(drawn.to_table()) == drawn
    assert load_scene(json.loads(drawn.to_json())) == drawn
    assert load_scene(tomllib.loads(drawn.to_toml())) == drawn
    assert drawn.replace() == drawn
    for key, value in table.items():
        if isinstance(value, str):
            assert getattr(drawn, key) == value or key == "formula"


@settings(max_examples=60)
@given(scenes, scenes)
def test_the_later_source_wins(first, second):
    both = load_scene(first, second)
    assert load_scene(both, second) == both
    assert load_scene({}, first) == load_scene(first)
    for key in ("title", "formula", "julia"):
        if key in second:
            assert getattr(both, key) == getattr(load_scene(second), key)
    for key, value in second.get("image", {}).items():
        assert getattr(both.image, key) == (tuple(value) if key == "size" else value)
    for key in first.get("color", {}):
        if key not in second.get("color", {}):
            assert getattr(both.color, key) == getattr(load_scene(first).color, key)


def test_a_scene_comes_back_from_each_type_of_file(tmp_path):
    drawn = Scene().replace(
        title='Ein "Bild"\n\t\\ ∞',
        size=(8, 5),
        palette=["#012345", "#fff"],
        center=["-0.5", "1e-3"],
    )
    (tmp_path / "a.toml").write_text(drawn.to_toml(), "utf-8")
    (tmp_path / "b.json").write_text(drawn.to_json(), "utf-8")
    fractals.render(drawn, device="python").save(tmp_path / "c.png")
    for name in ("a.toml", "b.json", "c.png"):
        assert load_scene(tmp_path / name) == drawn
        assert load_scene(str(tmp_path / name)) == drawn
    assert "[8, 5]" in drawn.to_toml()  # as a person would write it


def test_short_lists_of_numbers_stand_on_one_line():
    table = {
        "affine": [0.5, -1e-30, 2, 3.0, 4, 5],
        "names": ["a", "b", "c"],
        "on": [[1, 2], [3, 4]],
    }
    text = toml_text(table)
    assert "affine = [0.5, -1e-30, 2, 3.0, 4, 5]\n" in text
    assert tomllib.loads(text) == table
    long = [0.1] * 13
    assert tomllib.loads(toml_text({"long": long, "empty": []})) == {"long": long, "empty": []}


def test_palette_file(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('stops = ["#000", "#123456"]\ntitle = "Mine"\n')
    drawn = load_scene({"color": {"palette": str(file)}})
    assert drawn.color.make_palette() == palette.parse(
        {"stops": ["#000", "#123456"], "title": "Mine"}
    )
    assert load_scene(json.loads(drawn.to_json())) == drawn


def test_width_replaces_zoom_and_zoom_width():
    zoomed, wide = {"view": {"zoom": "4", "rotation": 5}}, {"view": {"width": "2"}}
    both = load_scene(zoomed, wide).view
    assert (both.width, both.zoom, both.rotation) == ("2", None, 5)
    both = load_scene(wide, zoomed).view
    assert (both.width, both.zoom) == (None, "4")
    assert load_scene(zoomed).replace(width="3").view.zoom is None
    assert load_scene(wide).replace(zoom="3").view.width is None
    assert load_scene(zoomed).replace(width="3", zoom=None).view.width == "3"
    assert load_scene(wide).replace(zoom=None).view.width == "2"


# A table, and all that must be said of it.
BAD = [
    ({"viw": {}}, ["viw: unknown key; did you mean 'view'?"]),
    ({"view": {"centre": ["0", "0"]}}, ["view.centre: unknown key; did you mean 'center'?"]),
    ({"color": {"pallete": "lagoon"}}, ["color.pallete: unknown key; did you mean 'palette'?"]),
    ({"palette": "lagoon"}, ["palette: unknown key; 'palette' belongs in the table [color]"]),
    ({"image": {"width": 100}}, ["image.width: unknown key; pixels are size = [width, height]"]),
    ({"view": {"size": [3, 4]}}, ["view.size: unknown key; 'size' belongs in the table [image]"]),
    (
        {"formula": "mandelbrt"},
        ["formula.name: unknown formula 'mandelbrt'; did you mean 'mandelbrot'?"],
    ),
    ({"formula": 3}, ["formula: "]),
    (
        {"formula": {"name": "mandelbrot", "power": 3}},
        ["known options: none; it is an option of halley, multibrot, newton, nova"],
    ),
    (
        {"formula": {"name": "multibrot", "pwer": 3}},
        ["unknown option 'pwer'; known options: 'power'"],
    ),
    ({"formula": {"name": "multibrot", "power": 9}}, ["power is a whole number from 2 to 8"]),
    ({"formula": {"name": "multibrot", "power": 2.5}}, ["power is a whole number from 2 to 8"]),
    ({"formula": {"name": "multibrot", "power": "3"}}, ["power is a whole number from 2 to 8"]),
    (
        {"color": {"palette": "lagon"}},
        ["color.palette: unknown palette 'lagon'; did you mean 'lagoon'?"],
    ),
    ({"color": {"palette": {"stops": ["#zzz"]}}}, ["color.palette: '#zzz' is not a color"]),
    ({"color": {"palette": "no-such-file.toml"}}, ["no-such-file.toml: no such file"]),
    ({"color": {"palette": None}}, ["color.palette: "]),
    (
        {"color": {"coloring": "smoth"}},
        ["color.coloring: unknown coloring 'smoth'; did you mean 'smooth'?"],
    ),
    ({"color": {"transfer": "cube"}}, ["color.transfer: ", "'cbrt', 'log' or 'atan'", "cube"]),
    ({"color": {"inside": "reddish"}}, ["color.inside: 'reddish' is not a color"]),
    ({"color": {"density": math.nan}}, ["color.density: ", "nan"]),
    ({"color": {"offset": math.inf}}, ["color.offset: ", "inf"]),
    (
        {"view": {"center": ["nan", "inf"]}},
        ["view.center.0: 'nan' is not a decimal", "view.center.1: 'inf'"],
    ),
    ({"view": {"center": "0;0"}}, ["view.center: "]),
    ({"view": {"center": ["0"]}}, ["view.center: value 2 is missing"]),
    ({"view": {"width": "0"}}, ["view.width: '0' is not greater than 0"]),
    ({"view": {"width": "-1"}}, ["view.width: '-1' is not greater than 0"]),
    ({"view": {"width": True}}, ["view.width: "]),
    ({"view": {"width": "1e99999999999999999999"}}, ["view.width: ", "1000000"]),
    ({"view": {"width": "1e-99999999999999999999"}}, ["view.width: ", "1000000"]),
    ({"view": {"width": "1e2000000"}}, ["view.width: '1e2000000' is beyond 1e±1000000"]),
    ({"view": {"width": "0x10"}}, ["view.width: '0x10' is not a decimal number"]),
    ({"view": {"width": "٣"}}, ["view.width: '٣' is not a decimal number"]),
    ({"view": {"width": "1", "zoom": "1"}}, ["view: width and zoom are both given"]),
    ({"view": {"rotation": 361}}, ["view.rotation: ", "361"]),
    ({"view": {"rotation": math.nan}}, ["view.rotation: "]),
    ({"image": {"size": [0, 1]}}, ["image.size.0: ", "0"]),
    ({"image": {"size": [1, 200_001]}}, ["image.size.1: ", "200000"]),
    ({"image": {"size": [1, 2, 3]}}, ["image.size: "]),
    ({"image": {"size": "50%"}}, ["image.size: '50%' is not a size such as 1920x1080, or 720p"]),
    ({"image": {"size": "0x9"}}, ["image.size.0: ", "0"]),
    ({"image": {"supersampling": 17}}, ["image.supersampling: ", "16"]),
    (
        {"iteration": {"max_iterations": 0}},
        ["iteration.max_iterations: '0' is not 'auto' or a whole number from 1"],
    ),
    ({"iteration": {"max_iterations": 1.5}}, ["iteration.max_iterations: '1.5'"]),
    ({"iteration": {"max_iterations": True}}, ["iteration.max_iterations: 'True'"]),
    ({"iteration": {"max_iterations": "2000000001"}}, ["iteration.max_iterations: '2000000001'"]),
    ({"iteration": {"max_iterations": 10**40}}, ["iteration.max_iterations: '1000"]),
    ({"iteration": {"max_iterations": "0000000000019999999999"}}, ["iteration.max_iterations: "]),
    ({"iteration": {"escape_radius": 1}}, ["iteration.escape_radius: ", "2"]),
    ({"iteration": {"escape_radius": math.inf}}, ["iteration.escape_radius: "]),
    ({"iteration": {"precision": "float16"}}, ["iteration.precision: ", "float16"]),
    ({"julia": ["a", "b"]}, ["julia.0: 'a'", "julia.1: 'b'"]),
    ({"title": "x" * 1001}, ["title: ", "1000"]),
    ({"title": 5}, ["title: "]),
    ({"view": 3}, ["view: "]),
    ({"version": 0}, ["version: "]),
    ({"version": "x"}, ["version: "]),
]


@pytest.mark.parametrize(
    ("table", "said"), BAD, ids=lambda value: re.sub(r"\W+", "-", str(value))[:50]
)
def test_what_is_wrong_is_said(table, said):
    with pytest.raises(InputError) as caught:
        load_scene(table)
    message = str(caught.value)
    for part in said:
        assert part in message
    assert len(message) < 600
    assert "FormulaName" not in message
    assert caught.value.exit_code == 3


def test_all_that_is_wrong_is_said_at_once(tmp_path):
    file = tmp_path / "bad.toml"
    file.write_text(
        'titel = "x"\nformula = "mandelbrt"\n[view]\nwidth = "a"\nrotation = 1000\n'
        "[image]\nsize = [0, 9]\n"
        '[color]\npalette = "lagon"\ninside = "reddish"\n'
    )
    with pytest.raises(SceneError) as caught:
        load_scene(file)
    lines = str(caught.value).splitlines()
    assert all(line.startswith(f"{file}: ") for line in lines)
    where = {line.removeprefix(f"{file}: ").split(":")[0] for line in lines}
    assert where == {
        "titel",
        "formula.name",
        "view.width",
        "view.rotation",
        "image.size.0",
        "color.palette",
        "color.inside",
    }
    assert len(lines) == len(where)


def test_a_newer_scene_is_not_misread():
    with pytest.raises(SceneError, match=r"version 2.*take a newer fractals"):
        load_scene({"version": 2, "some_new_key": 1})


def test_a_million_digits():
    with pytest.raises(
        SceneError, match=r"view.center.0: 1000000 characters: a number has at most 150000"
    ):
        load_scene({"view": {"center": ["1" * 1_000_000, "0"]}})
    long = "-0." + "12345" * 20_000
    drawn = load_scene({"view": {"center": [long, "0"], "width": "1"}})
    assert drawn.view.center[0] == long
    assert load_scene(tomllib.loads(drawn.to_toml())) == drawn
    planned = fractals.plan(drawn)  # many digits are no harm where the view is wide
    assert float(planned.center[0]) == float(long)


@pytest.mark.parametrize("given", ["4k", "3840x2160", " 4K "])
def test_a_size_may_be_given_as_text(tmp_path, given):
    path = tmp_path / "a.toml"
    path.write_text(f'[image]\nsize = "{given}"\n')
    for scene in (load_scene(path), load_scene("mandelbrot", size=given)):
        assert scene.image.size == (3840, 2160)
        assert "size = [3840, 2160]" in scene.to_toml()


def test_numbers_may_be_given_as_numbers():
    view = load_scene({"view": {"center": [-0.5, 1], "width": 3e-6}}).view
    assert view.center == ("-0.5", "1")
    assert float(view.width) == 3e-6


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.toml", b"[view\n", "a.toml: "),
        ("a.toml", b"\xff\xfe", "a.toml: "),
        ("a.json", b"{", "a.json: "),
        ("a.json", b"[1]", "a table of keys was expected, not a list"),
        ("a.json", b"[" * 100_000, "a.json: "),
        ("a.json", b'{"view": {"width": NaN}}', "view.width: 'nan'"),
        ("a.json", b'{"iteration": {"limit": ' + b"9" * 5000 + b"}}", "a.json: "),
        ("a.png", b"no picture", "not a PNG"),
        ("a.txt", b"", "ends in .toml .json .png"),
    ],
)
def test_bad_files(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SceneError) as caught:
        load_scene(tmp_path / name)
    assert said in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_missing_files(tmp_path):
    with pytest.raises(SceneError, match="no such file"):
        load_scene(tmp_path / "none.toml")
    with pytest.raises(fractals.FractalsError, match="unknown scene 'no_such_picture'"):
        load_scene("no_such_picture")


def test_replace_returns_a_changed_copy():
    drawn = Scene()
    other = drawn.replace(
        size=(64, 48), palette=["#000", "#fff"], title="T", rotation=5, max_iterations=7
    )
    assert (other.image.size, other.title, other.view.rotation) == ((64, 48), "T", 5)
    assert other.iteration.max_iterations == 7
    assert drawn == Scene()
    assert other.replace(julia=["0", "1"]).julia == ("0", "1")
    with pytest.raises(OptionError, match="no key 'siz'; did you mean 'size'"):
        drawn.replace(siz=(1, 1))
    with pytest.raises(OptionError, match="no key 'titel'; did you mean 'title'"):
        drawn.replace(titel="x")
    with pytest.raises(SceneError, match=r"image.size.0"):
        drawn.replace(size=(0, 1))


@pytest.mark.parametrize("table", ["view", "image", "iteration", "color"])
def test_scenes_are_frozen(table):
    drawn = Scene()
    with pytest.raises(AttributeError, match="scenes never change"):
        drawn.title = "x"
    part = getattr(drawn, table)
    for key in type(part).model_fields:
        with pytest.raises(AttributeError, match="scenes never change"):
            setattr(part, key, getattr(part, key))


def own_formula():
    def step(x, y, a, b):
        return fma(x, x, fma(-y, y, a)), fma(x + x, y, b)

    def derivative(x, y, p, q):
        return 2 * x * p - 2 * y * q, 2 * x * q + 2 * y * p

    return Formula("own", "z² + c again", step, derivative, 2, center=("-0.65", "0"), width="4.6")


def test_own_formula_is_drawn():
    keys = {"size": (12, 8), "max_iterations": 50}
    own = Scene(formula=own_formula()).replace(**keys)
    assert own.make_formula().name == "own"
    assert load_scene(own, {"title": "x"}).formula is own.formula
    drawn = fractals.render(own, device="python").pixels
    assert np.array_equal(drawn, fractals.render(Scene().replace(**keys), device="python").pixels)


def test_own_formula_cannot_be_saved(tmp_path):
    own = Scene(formula=own_formula())
    for save in (own.to_toml, own.to_json, own.to_table):
        with pytest.raises(SceneError, match="the formula 'own' is a function of yours"):
            save()
    picture = fractals.render({"formula": own.formula, "image": {"size": [4, 3]}}, device="python")
    picture.save(tmp_path / "own.png")
    with pytest.raises(SceneError, match="carries no scene"):
        load_scene(tmp_path / "own.png")


def test_a_key_with_a_bracket_is_unknown_as_others():
    with pytest.raises(SceneError, match=r"^note\[: unknown key; did you mean 'note'\?$"):
        load_scene({"note[": 1})


WRONG_VALUES = [
    *(None, True, -1, 3, 1.5, float("nan"), 10**5000, "", "x", "x" * 20_000),
    *([], [1], [1] * 99, {}, {"x": 1}, b"x", object()),
]


def keys_of(model, path=()):
    for name in model.model_fields:
        if not path and name in TABLES:
            yield from keys_of(TABLES[name], (name,))
        yield (*path, name)


@pytest.mark.parametrize("path", list(keys_of(Scene)), ids=".".join)
def test_errors_are_in_our_words(path):
    """None is a sentence of the library that validates."""
    for value in WRONG_VALUES:
        table = {path[-1]: value}
        for name in reversed(path[:-1]):
            table = {name: table}
        try:
            load_scene(table)
        except FractalsError as error:
            for line in str(error).splitlines():
                assert not re.search(r"Input|should|required|valid|after validation", line), line
                assert re.match(rf"{re.escape('.'.join(path))}[.:]|{path[-1]}|.*'|.* ", line)


def test_each_type_of_error_names_what_is_expected():
    given = {
        "julia": ["1"],
        "image": {"size": [0, "a"], "supersampling": 2.5, "bits": 7},
        "view": {"mirror": "perhaps", "rotation": 400},
        "color": {"layers": [3], "range": [1, 2, 3], "mask": "x", "offset": float("inf")},
        "title": 3,
    }
    with pytest.raises(SceneError) as caught:
        load_scene(given)
    assert str(caught.value).splitlines() == [
        "title: '3' is not a text",
        "julia: value 2 is missing",
        "view.rotation: '400' is not 360 or less",
        "view.mirror: 'perhaps' is not true or false",
        "image.size.0: '0' is not 1 or more",
        "image.size.1: 'a' is not a whole number",
        "image.supersampling: '2.5' is not a whole number",
        "image.bits: '7' is not 8 or 16",
        "color.offset: 'inf' is not a finite number",
        "color.mask: 'x' is not 'auto', 'escaped', 'inside' or 'all'",
        "and 2 more",
    ]


@pytest.mark.parametrize("suffix", [".toml", ".json"])
def test_coordinates_that_are_not_quoted_keep_all_digits(tmp_path, suffix):
    x, y, width = "-0.74830757786137882639446123456789", "0.25", "1.00000000000000000001e-30"
    path = tmp_path / f"a{suffix}"
    path.write_text(
        f"[view]\ncenter = [{x}, {y}]\nwidth = {width}\n[color]\ndensity = 1.5\n"
        if suffix == ".toml"
        else f'{{"view": {{"center": [{x}, {y}], "width": {width}}}, "color": {{"density": 1.5}}}}'
    )
    found = load_scene(path)
    assert found.view.center == (x, y)
    assert found.view.width == width
    assert type(found.to_table()["color"]["density"]) is float
    assert load_scene(found.to_table()) == found
    path = tmp_path / "b.toml"
    path.write_text("[view]\nwidth = 1_0.5\n[color]\ndensity = inf\n")
    with pytest.raises(SceneError, match="'inf' is not a finite number"):
        load_scene(path)
    path.write_text("[view]\nwidth = 1_0.5\n")
    assert load_scene(path).view.width == "10.5"


def test_formulas_of_many_options_are_not_kept_for_ever(monkeypatch):
    """A server meets as many as its visitors type."""

    class Named(NamedTuple):
        model_extra: dict[str, int]

        def make(self):
            """Return what the recipe of a pickle returns: not needed here."""

    monkeypatch.setattr(made, "MAX_MADE", 3)
    monkeypatch.setattr(made, "_MADE", {})
    built = []
    for k in (0, 1, 2, 3, 4, 4, 3, 0):
        named = Named({"power": k})
        made.make_once(named, Formula, lambda k=k: (built.append(k), AnyFormula())[1])
    assert built == [0, 1, 2, 3, 4, 0]
