"""Raw numbers of all families: planes by name, values of colorings, files of other tools."""

import json
import re
import warnings

import mpmath
import numpy as np
import pytest
from support.scenes import scene

import fractals
from fractals.errors import OptionError

SMALL = {"size": (16, 10), "supersampling": 1, "device": "cpu"}
LAYERS = [{"coloring": name} for name in ("period", "distance", "interior_distance")]
DEEP = {"center": ("-1.768418578781951238866507711628170296543097", "0.0023086227199994945128515")}
DEEP |= {"width": "1.26e-32", "max_iterations": 20_000, **SMALL}


@pytest.fixture(scope="module")
def raw():
    drawn = scene(title="All of it", layers=LAYERS, max_iterations=2000)
    return fractals.compute(drawn, **SMALL)


@pytest.fixture(scope="module")
def deep():
    return fractals.compute(coloring="distance", **DEEP)


def positions(raw):
    """Return the complex positions of samples."""
    (_, re, _), (_, im, _) = (raw.axes()[1][name] for name in ("re", "im"))
    return re[None, :] + 1j * im[:, None]


def exact_distance(x, y, radius=256):
    """Return 2 |z| log|z| / |dz/dc| by mpmath, in plane units."""
    with mpmath.workdps(80):
        c = mpmath.mpc(x, y)
        z, dz = c, mpmath.mpf(1)
        while abs(z) <= radius:
            z, dz = z * z + c, 2 * z * dz + 1
        return 2 * abs(z) * mpmath.log(abs(z)) / abs(dz)


def test_values_are_numbers(raw):
    count, period = raw.values("count"), raw.values("period")
    assert count.dtype == period.dtype == float
    assert np.array_equal(count[~raw.inside], raw.count[~raw.inside])
    assert np.isnan(count[raw.inside]).all()
    assert np.isnan(period[~raw.inside]).all()
    assert set(period[np.isfinite(period)]) <= set(range(1, 30))
    place = positions(raw)
    cardioid = abs(1 - np.sqrt(1 - 4 * place)) < 0.9
    disc = abs(place + 1) < 0.24
    assert cardioid.any()
    assert disc.any()
    assert (period[cardioid] == 1).all()
    assert (period[disc] == 2).all()
    turns = np.angle(raw.z) / (2 * np.pi) % 1
    assert np.allclose(raw.values("final_angle")[~raw.inside], turns[~raw.inside], atol=1e-9)


def test_lengths_are_those_of_the_plane(raw):
    found, width = raw.values("distance"), raw.values("distance", unit="width")
    for row, column in np.argwhere(~raw.inside)[::20]:
        point = positions(raw)[row, column]
        expected = float(exact_distance(point.real, point.imag))
        assert found[row, column] == pytest.approx(expected, rel=1e-9)
    assert np.allclose(found, width * 4.6, equal_nan=True)
    inner = raw.values("interior_distance")
    place = positions(raw)
    near = abs(place + 1) < 0.24  # of the disc of radius 1/4 about -1: Koebe's bounds
    exact = 0.25 - abs(place + 1)
    assert near.any()
    assert (inner[near] >= exact[near] - 1e-9).all()
    assert (inner[near] <= 4 * exact[near] + 1e-9).all()


def test_lengths_of_a_deep_view_are_those_of_the_plane(deep):
    rows = np.argwhere(~deep.inside)[::37]
    assert len(rows) > 2
    offset = positions(deep)  # in widths of the view
    for row, column in rows:
        with mpmath.workdps(80):
            width = mpmath.mpf(DEEP["width"])
            x, y = (
                mpmath.mpf(DEEP["center"][k]) + width * part
                for k, part in enumerate((offset[row, column].real, offset[row, column].imag))
            )
            expected = exact_distance(x, y)
        found = deep.values("distance")[row, column]
        assert found == pytest.approx(float(expected), rel=1e-4)
        widths = deep.values("distance", unit="width")[row, column]
        assert widths == pytest.approx(float(expected / width), rel=1e-4)


@pytest.mark.parametrize(
    ("coloring", "keys", "words"),
    [
        ("stripe_average", {}, r"needs stripes,.*compute them with the coloring"),
        ("rank", {}, "ranks"),
        ("periot", {}, "did you mean 'period'"),
        ("distance", {"unit": "pixel"}, "'plane' or 'width'"),
    ],
)
def test_values_that_there_are_not(raw, coloring, keys, words):
    with pytest.raises(fractals.FractalsError, match=words):
        raw.values(coloring, **keys)


def test_lengths_below_those_of_floats_are_widths():
    raw = fractals.compute(
        center=("0." + "0" * 310, "1"), width="1e-300", coloring="distance", **SMALL
    )
    with pytest.raises(OptionError, match="unit='width'"):
        raw.values("distance")
    widths = raw.values("distance", unit="width")
    assert np.nanmax(widths) < 10
    assert np.nanmedian(widths) > 1e-6


def test_lengths_need_a_plane_view():
    raw = fractals.compute(projection="exponential", coloring="distance", **SMALL)
    with pytest.raises(OptionError, match="projection"):
        raw.values("distance")
    assert raw.values("smooth").shape == raw.shape


def test_a_dataset_says_what_its_numbers_mean(raw, deep):
    pytest.importorskip("xarray", reason="xarray is not installed")
    found = raw.to_xarray("period", {"name": "distance"})
    assert found.attrs["source"] == f"fractals {fractals.__version__}"
    assert found.attrs["title"] == "All of it"
    assert found.attrs["count_offset"] == raw.count_offset
    assert fractals.load_scene(found.attrs["scene"]) == raw.scene
    assert all("long_name" in found[name].attrs for name in found.variables)
    assert found["count"].attrs["units"] == "steps"
    assert found["period"].attrs["units"] == "steps"
    assert found["distance"].attrs["units"] == "plane units"
    assert found["dz_real"].attrs["multiplied_by"] == "1"
    assert np.array_equal(found["distance"], raw.values("distance"), equal_nan=True)
    below = deep.to_xarray("distance")
    assert below["dz_imag"].attrs["multiplied_by"] == below.attrs["view_width"] == "1.26e-32"
    assert below["distance"].attrs["units"] == below["re"].attrs["units"] == "widths of the view"
    z, dz = (below[f"{name}_real"] + 1j * below[f"{name}_imag"] for name in ("z", "dz"))
    by_hand = 2 * abs(z) * np.log(abs(z)) / abs(dz)
    assert np.allclose(by_hand, below["distance"], equal_nan=True)
    assert np.allclose(
        by_hand * float(below.attrs["view_width"]), deep.values("distance"), equal_nan=True
    )


@pytest.mark.parametrize("kind", ["escape", "deep", "clifford", "garland", "mandelbulb"])
def test_every_family_goes_to_netcdf_and_zarr(raw, deep, kind, tmp_path):
    xarray = pytest.importorskip("xarray", reason="xarray is not installed")
    pytest.importorskip("netCDF4", reason="netCDF4 is not installed")
    pytest.importorskip("zarr", reason="zarr is not installed")
    few = {"quality": 1, "samples": 1, **SMALL, "on_message": str}
    made = {"escape": raw, "deep": deep}.get(kind)
    if made is None:
        made = (
            fractals.compute(*([kind] * (kind != "clifford")), **few)
            if kind != "clifford"
            else (fractals.compute(formula="clifford", **few))
        )
    found = made.to_xarray()
    found.to_netcdf(tmp_path / "a.nc")
    assert xarray.load_dataset(tmp_path / "a.nc").identical(found)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of zarr, about its own format
        found.to_zarr(tmp_path / "a.zarr")
        assert xarray.open_zarr(tmp_path / "a.zarr").load().identical(found)


@pytest.mark.parametrize("name", ["garland", "arena", "seahorse"])
def test_what_compute_returns_has_one_shape(name, tmp_path):
    made = fractals.compute(name, quality=0.5, samples=1, **SMALL, on_message=str)
    assert isinstance(made, fractals.RawData)
    shapes = {plane.shape for plane in made.planes.values()}
    assert len(shapes) == 1
    assert all(len(shape) == 2 for shape in shapes)
    assert made.notes().keys() >= made.planes.keys()
    json.dumps(made.facts())
    made.save(tmp_path / "a.fz")
    assert isinstance(fractals.recolor(tmp_path / "a.fz", **{"device": "cpu"}), fractals.Image)


def test_sums_of_points_lie_in_the_plane():
    """Hits of an attractor: the share right of 0 by the coordinates, and by the picture."""
    pytest.importorskip("xarray", reason="xarray is not installed")
    hits = fractals.compute(formula="clifford", quality=20, size=(48, 30), device="cpu")
    found = hits.to_xarray()
    step = float(found["re"][1] - found["re"][0])
    assert step == pytest.approx(
        float(found.attrs["view_width"]) / 48 / found.attrs["supersampling"]
    )
    assert int(found["count"].sum()) == hits.hits * found["count"].attrs["one_hit"]
    again = fractals.compute(
        formula="clifford", quality=20, size=(48, 30), device="cpu", center=(1, 0.5), width=2
    ).to_xarray()
    box = {"re": slice(0.2, 1.8), "im": slice(1, 0)}
    shares = [
        float(each["count"].sel(box).sum() / each["count"].attrs["one_hit"])
        for each in (found, again)
    ]
    assert shares[0] / hits.samples == pytest.approx(
        shares[1] / int(again.attrs["samples"]), rel=0.05
    )


def test_sums_have_no_values_of_colorings():
    hits = fractals.compute(formula="clifford", quality=0.1, **SMALL)
    for name in ("z", "values", "max_iterations"):
        with pytest.raises(AttributeError, match=r"raw\.planes"):
            getattr(hits, name)
    assert not hasattr(hits, "no_such")
    with pytest.raises(OptionError, match="escape time"):
        hits.to_xarray("period")


def test_light_has_the_names_of_its_sources():
    light = fractals.compute("arena", samples=1, relight=True, **SMALL)
    names = [*light.planes]
    assert names[:4] == ["red", "green", "blue", "sun.red"]
    assert len(names) == light.sums.shape[2] == 18
    assert all(re.fullmatch(r"(\w+\.)?(red|green|blue)", name) for name in names)
