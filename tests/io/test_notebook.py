"""Notebooks: what our values show of themselves, and the example, cell by cell."""

import ast
import base64
import html
import io
import json
import re
from pathlib import Path
from unittest import mock

import numpy as np
import PIL.Image
import pytest
from support.scenes import scene

import fractals
from fractals.errors import to_install
from fractals.io.raw_data import axes_of
from fractals.rendering import sampling

EXAMPLE = Path(__file__).parents[2] / "examples" / "first_steps.ipynb"


@pytest.fixture(scope="module")
def raw():
    return fractals.compute(scene(title="<sea> & sky", size=(12, 8)), device="cpu")


def run(source, names):
    """Run a cell; return the value of its last line, as a notebook does."""
    *body, last = ast.parse(source).body
    exec(compile(ast.Module(body, []), "cell", "exec"), names)
    if isinstance(last, ast.Expr):
        return eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    exec(compile(ast.Module([last], []), "cell", "exec"), names)
    return None


def test_the_example_runs(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    cells = json.loads(EXAMPLE.read_text("utf-8"))["cells"]
    codes = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] for cell in cells if cell["cell_type"] == "code")
    names = {}
    shown = [run(code, names) for code in codes]
    kinds = [type(value).__name__ for value in shown if value is not None]
    assert kinds == ["Image", "Scene", "EscapeData", "Image", "Image", "bool", "Image"]
    assert True in shown
    for value in shown:
        if hasattr(value, "_repr_html_"):
            assert value._repr_html_().startswith("<")
    for picture in (value for value in shown if isinstance(value, fractals.Image)):
        assert len(np.unique(picture.pixels)) > 100


def test_picture_shows_itself(raw):
    image = fractals.recolor(raw, device="cpu")
    text = image._repr_html_()
    (data,) = re.findall(r'src="data:image/png;base64,([^"]*)"', text)
    with PIL.Image.open(io.BytesIO(base64.b64decode(data))) as picture:
        assert np.array_equal(np.asarray(picture), image.pixels)
    assert "12x8, cpu" in text
    assert "<th>color</th>" in text
    assert "&lt;sea&gt; &amp; sky" in text
    assert "<sea>" not in text


def test_scene_and_numbers_show_themselves(raw):
    (folded,) = re.findall(r"<pre>(.*)</pre>", raw.scene._repr_html_(), re.DOTALL)
    assert html.unescape(folded) == raw.scene.to_toml()
    text = raw._repr_html_()
    assert "12x8 samples (count, z, dz) in float64" in text
    assert f"limit {raw.max_iterations}" in text


def test_a_suggested_view_shows_itself(raw):
    text = fractals.Suggestion(raw.scene, 0.25, "spiral")._repr_html_()
    assert text == f"<p>spiral, score 0.25</p>{raw.scene._repr_html_()}"


def test_scene_that_cannot_be_written_says_so():
    own = fractals.Scene().make_formula()
    assert "function of yours" in fractals.Scene(formula=own)._repr_html_()


def test_pixels_are_not_copied(raw):
    image = fractals.recolor(raw, device="cpu")
    assert np.shares_memory(np.asarray(image), image.pixels)
    assert not np.shares_memory(np.array(image), image.pixels)
    assert np.asarray(image, float).dtype == float
    with pytest.raises(ValueError, match="without a copy"):
        image.__array__(float, copy=False)


def test_numbers_go_to_xarray(raw):
    pytest.importorskip("xarray", reason="xarray is not installed")
    found = raw.to_xarray()
    assert found["count"].dims == ("im", "re")
    assert np.shares_memory(found["count"].values, raw.count)
    assert np.shares_memory(found["z_real"].values, raw.z)
    assert np.array_equal(found["z_real"] + 1j * found["z_imag"], raw.z)
    assert np.shares_memory(raw.to_xarray(pairs=False)["z"].values, raw.z)
    assert json.loads(found.attrs["scene"])["title"] == "<sea> & sky"
    assert found.attrs["max_iterations"] == raw.max_iterations


def positions(**keys):
    """Return the dataset of a scene without supersampling, and its samples' exact positions."""
    drawn = scene(size=(8, 6), max_iterations=2, coloring="count", **keys)
    raw = fractals.compute(drawn, device="python")
    grid = sampling.coordinates(fractals.plan(raw.scene, device="python"))
    return raw.to_xarray(), grid[0][:, None, :] + grid[1][:, :, None]


def test_xarray_coordinates_are_positions_in_the_plane():
    pytest.importorskip("xarray", reason="xarray is not installed")
    for mirror in (False, True):
        found, (re, im) = positions(center=(-0.5, 0.25), width=2, mirror=mirror)
        assert np.allclose(found["re"], re[0], atol=1e-15)
        assert np.allclose(found["im"], im[:, 0], atol=1e-15)
    found, (re, im) = positions(center=(-0.5, 0.25), width=2, rotation=30, stretch=1.5)
    assert found["count"].dims == found["re"].dims == ("row", "column")
    assert np.allclose(found["re"], re, atol=1e-15)
    assert np.allclose(found["im"], im, atol=1e-15)
    assert "re" not in positions(projection="exponential")[0].coords


def test_xarray_coordinates_of_deep_views_are_offsets():
    pytest.importorskip("xarray", reason="xarray is not installed")
    scene_ = fractals.load_scene(center=("-1.99", "0"), width="1e-30", size=(4, 3))
    dimensions, found = axes_of(scene_, (3, 4))
    assert dimensions == ("im", "re")
    assert found["re"][1].tolist() == [-0.375, -0.125, 0.125, 0.375]
    assert found["im"][1].tolist() == [0.25, 0, -0.25]
    assert found["re"][2] == {
        "long_name": "offset of re from the center",
        "units": "widths of the view",
    }
    shallow = axes_of(scene_.replace(width="1e-9"), (3, 4))[1]
    assert shallow["re"][2] == {"long_name": "re"}
    assert len(set(shallow["re"][1].tolist())) == 4


def test_xarray_plots_are_the_right_way_up():
    pytest.importorskip("xarray", reason="xarray is not installed")
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed")
    pyplot.switch_backend("agg")
    drawn = positions(center=(-0.5, 0.25), width=2)[0]["count"].plot()
    assert (drawn.axes.get_xlabel(), drawn.axes.get_ylabel()) == ("re", "im")
    low, high = drawn.axes.get_ylim()
    assert low < 0.25 < high
    pyplot.close("all")


def test_xarray_that_is_missing(raw):
    with (
        mock.patch.dict("sys.modules", xarray=None),
        pytest.raises(fractals.OptionError, match=re.escape(to_install("notebook"))),
    ):
        raw.to_xarray()
