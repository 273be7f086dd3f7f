"""Contact sheets, and the density that fits a coloring."""

from pathlib import Path

import numpy as np
import PIL.Image
import pytest
from support.scenes import scene

import fractals
from fractals import catalog
from fractals.errors import OptionError
from fractals.rendering.fit import SIZE, curved_values, fit_values
from fractals.tools import sheet

SPIRAL = {"center": ("-0.743643887037151", "0.131825904205330"), "width": "0.003"}


def test_the_fit_of_a_coloring_spreads_its_values_over_the_palette():
    drawn = scene(coloring="stripe_average", density=0.7, offset=0.5, **SPIRAL)
    fitted = fractals.fit_colors(drawn)
    density, offset = fitted.color.density, fitted.color.offset
    places = density * curved_values(drawn) + offset
    assert density > 2
    assert np.quantile(places, [0.01, 0.99]) == pytest.approx([0, 1], abs=0.01)


def test_the_fit_does_not_depend_on_the_size_of_the_picture():
    drawn = scene(coloring="stripe_average", **SPIRAL)
    larger = drawn.replace(size=(320, 240), supersampling=3)
    assert fractals.fit_colors(larger).color == fractals.fit_colors(drawn).color


def test_the_fit_of_a_wide_coloring_is_the_usual_density():
    fitted = fractals.fit_colors(scene(coloring="smooth", density=7, offset=0.5, **SPIRAL))
    assert (fitted.color.density, fitted.color.offset) == (1, 0)


def test_a_palette_with_two_ends_given_as_a_keyword_is_fitted():
    """As on the command line: but for a density that is given, and for another family."""
    drawn = fractals.load_scene("seahorse", size=(48, 32), supersampling=1)
    found = fractals.render(drawn, palette="fog", device="cpu")
    fitted = fractals.fit_colors(drawn.replace(palette="fog", author=""))
    assert found.scene == fitted
    assert fitted.color.density < 0.5
    assert fractals.recolor(fractals.compute(drawn, device="cpu"), palette="fog") == found
    assert fractals.render(drawn, palette="fog", density=2, device="cpu").scene.color.density == 2
    assert fractals.render(drawn, palette="bone", device="cpu").scene.color.density == 0.7
    solid = fractals.render("mandelbulb", palette="fog", size=(16, 12), samples=1, device="cpu")
    assert solid.scene.color.density == 1


def test_a_palette_with_two_ends_is_never_blank():
    drawn = scene(coloring="smooth", palette="furnace", density=5, offset=3, **SPIRAL)
    blank = fractals.render(drawn, device="cpu", on_message=str).pixels
    fitted = fractals.render(fractals.fit_colors(drawn), device="cpu", on_message=str).pixels
    colors = [len(np.unique(pixels.reshape(-1, 3), axis=0)) for pixels in (blank, fitted)]
    assert colors[0] < 4  # with the inside color
    assert colors[1] > 30


def test_the_curves_are_those_of_the_shading_program():
    assert curved_values(scene(coloring="histogram")).max() == 1
    assert curved_values(scene(coloring="smooth")).size <= SIZE[0] * SIZE[1]


@pytest.mark.parametrize(
    ("kind", "count"), [("palettes", 42), ("density,offset", 25), ("blends", 11)]
)
def test_cells_of_a_sheet(kind, count):
    found = list(sheet.cells(scene(**SPIRAL), kind))
    assert len(found) == count
    assert len({cell.label for cell in found}) == count
    assert len({cell.pixels.tobytes() for cell in found}) == count
    assert all((cell.strip is not None) == (kind == "palettes") for cell in found)


@pytest.mark.slow
def test_cells_of_colorings():
    labels = [cell.label for cell in sheet.cells(scene(**SPIRAL), "colorings")]
    assert {"smooth", "stripe_average", "slopes"} <= set(labels) <= set(catalog.names("coloring"))
    assert not {"period", "speed"} & set(labels)  # of the inside, and of orbits that converge


@pytest.mark.parametrize("kind", sheet.KINDS)
def test_a_sheet_of_another_family_is_one_line(kind):
    with pytest.raises(OptionError, match="'flame' makes images of another family"):
        list(sheet.cells(fractals.load_scene("bonfire"), kind))


def test_a_sheet_of_colorings_that_show_nothing_is_one_line(monkeypatch):
    monkeypatch.setattr(catalog, "names", lambda kind: ["smooth"])
    inside = scene(center=("0", "0"), width="1e-4")
    with pytest.raises(OptionError, match="no coloring shows anything"):
        list(sheet.cells(inside, "colorings"))


def test_an_unknown_kind_of_sheet():
    with pytest.raises(OptionError, match="choose palettes"):
        list(sheet.cells(scene(), "formulas"))


def test_sheet_on_the_command_line(run):
    code, _, err = run("sheet", "seahorse", "--of", "density,offset", "-o", "a.png")
    assert (code, err) == (0, "fractals: a.png: 25 pictures\n")
    with PIL.Image.open("a.png") as picture:
        assert picture.size[0] == sheet.COLUMNS * (sheet.WIDTH + sheet.GAP) + sheet.GAP
    assert run("sheet", "seahorse", "--of", "formulas")[0] == 2
    assert run("sheet", "seahorse", "-o", "a.jpg")[0] == 2
    assert run("sheet", "seahorse", "-o", "a.png")[0] == 1


def test_a_new_coloring_is_fitted_unless_a_density_is_given(run):
    small = "--size", "32x18", "--cpu"
    code, _, err = run("render", "seahorse", "--coloring", "stripe_average", *small, "-o", "a.png")
    assert code == 0
    assert "are fitted to the coloring stripe_average" in err
    color = fractals.load_scene("a.png").color
    assert color.density > 1.5
    assert color.palette == "auto"
    given = "--coloring", "stripe_average", "--density", "0.7", "--palette", "ember"
    code, _, err = run("render", "seahorse", *given, *small, "-o", "b.png")
    assert (code, "fitted" in err) == (0, False)
    color = fractals.load_scene("b.png").color
    assert (color.density, color.offset, color.palette) == (0.7, 0.5, "ember")


def test_a_coloring_as_keyword_is_fitted_in_python(tmp_path):
    small = {"size": (32, 18), "supersampling": 1, "device": "cpu", "on_message": str}
    image = fractals.render("seahorse", coloring="stripe_average", **small)
    color = image.scene.color
    assert color.density > 1.5
    assert (color.palette, color.transfer) == ("auto", "auto")
    raw = fractals.compute("seahorse", coloring="stripe_average", **small)
    assert fractals.recolor(raw, device="cpu") == image
    fractals.render_to(tmp_path / "a.png", "seahorse", coloring="stripe_average", **small)
    assert fractals.load_scene(tmp_path / "a.png") == image.scene
    fractals.compute_to(tmp_path / "a.fz", "seahorse", coloring="stripe_average", **small)
    assert fractals.EscapeData.load(tmp_path / "a.fz").scene == image.scene
    plain = fractals.compute("seahorse", layers=[{"coloring": "stripe_average"}], **small)
    again = fractals.recolor(plain, coloring="stripe_average", layers=[], device="cpu")
    assert again.scene.color == color


@pytest.mark.parametrize("given", [{"density": 0.7}, {"offset": 0.1}, {"coloring": "smooth"}])
def test_what_is_given_is_not_fitted_in_python(given):
    small = {"size": (32, 18), "supersampling": 1, "device": "cpu", "on_message": str}
    drawn = fractals.render("seahorse", **{"coloring": "stripe_average", **given}, **small)
    assert drawn.scene.color.density == 0.7
    assert drawn.scene.color.palette == "hokusai"


def test_values_that_hardly_differ_are_fitted_by_numbers_that_a_scene_takes():
    close = 0.3 + np.linspace(0, 1e-9, 100)
    density, offset = fit_values(close, cyclic=True)
    assert (density, offset) == (1e6, -3e5)
    assert scene(density=density, offset=offset).color.density == density
    assert fit_values(np.full(9, 0.3), cyclic=True) == (1.0, 0.0)


def test_the_layers_are_fitted_where_this_is_asked_for(run):
    layer = {"coloring": "stripe_average", "palette": "ink", "opacity": 0.5}
    drawn = scene(coloring="smooth", layers=[layer], **SPIRAL)
    alone = fractals.fit_colors(scene(coloring="stripe_average", palette="ink", **SPIRAL)).color
    assert alone.density > 1.5
    fitted = fractals.fit_colors(drawn, layers=True).color
    assert fitted.layers[0].density == alone.density
    assert fitted.layers[0].offset == alone.offset
    assert fitted.layers[0].opacity == 0.5
    assert fractals.fit_colors(drawn).color.layers == drawn.color.layers
    Path("a.toml").write_text(drawn.to_toml())
    code, _, err = run("render", "a.toml", "--fit", "--cpu", "-o", "a.png")
    assert code == 0
    assert "are fitted to the layer stripe_average" in err
    assert fractals.load_scene("a.png").color == fitted


def test_no_fit_keeps_the_density_of_the_scene(run):
    small = "--size", "32x18", "--cpu", "-o", "a.png"
    assert run("render", "seahorse", "--coloring", "stripe_average", "--no-fit", *small)[0] == 0
    color = fractals.load_scene("a.png").color
    assert (color.density, color.palette) == (0.7, "hokusai")


def test_recolor_takes_the_colors_and_layers_of_scenes(run):
    assert run("compute", "mandelbrot", "--size", "32x18", "--cpu", "-o", "a.npz")[0] == 0
    with open("colors.toml", "w") as file:
        file.write(
            '[view]\nwidth = "1"\n[color]\npalette = "ember"\n'
            '[[color.layers]]\ncoloring = "count"\n'
        )
    code, _, err = run("recolor", "a.npz", "colors.toml", "--cpu", "-o", "a.png")
    assert code == 0, err
    drawn, raw = fractals.load_scene("a.png"), fractals.EscapeData.load("a.npz")
    assert drawn.view == raw.scene.view
    assert drawn.color.palette == "ember"
    assert [layer.coloring.name for layer in drawn.color.layers] == ["count"]
    assert drawn.color.density == raw.scene.color.density


def test_solids_in_a_sheet_have_few_samples():
    """As many as the picture's own took five times as long, for grain that hardly shows."""
    solid = fractals.load_scene("edelweiss")
    assert fractals.plan(solid, size=(16, 10)).samples_per_pixel > 2 * sheet.SAMPLES
    assert sheet.reduced(solid).light.samples == sheet.SAMPLES
    assert sheet.reduced(solid.replace(samples=3)).light.samples == 3
