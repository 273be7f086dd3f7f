"""A caller's file: `mypy --strict` must accept it, and see these types (see tests/test_api.py)."""

import io
import warnings
from fractions import Fraction
from pathlib import Path
from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import fractals
from fractals.kernels.formula import AnyFormula


def draw() -> fractals.Image:
    image = fractals.render("seahorse", size=(800, 600), palette="ember", device="cpu", threads=1)
    assert_type(image, fractals.Image)
    assert_type(image.size, tuple[int, int])
    assert_type(image.timings, dict[str, float])
    image.save("sea.png", overwrite=True)
    return image


def compute() -> NDArray[np.int32]:
    raw = fractals.compute({"view": {"width": "3e-6"}}, center=-0.5 + 0.1j, max_iterations="auto")
    assert isinstance(raw, fractals.EscapeData)  # those of flames are another class
    assert_type(raw.values("period"), NDArray[np.float64])
    assert_type(fractals.nuclei(3), NDArray[np.complex128])
    points = fractals.compute_points([0.25j, ("-0.75", "0.1")], formula="multibrot", threads=1)
    assert_type(points.external_angle(), NDArray[np.float64])
    assert_type(raw.extent, tuple[float, float, float, float])
    assert_type(fractals.recolor(raw, palette=["#000", "#fff"]), fractals.Image)
    fractals.recolor(raw, palette=np.zeros((4, 3)))
    return raw.count


def numbers_of_libraries() -> None:
    fractals.plan(width=Fraction(1, 8), center=(Fraction(1, 8), np.float32(0.5)))
    fractals.plan(zoom=np.int64(8), center=-1.75)
    fractals.plan(center=np.complex64(0.5j), julia=np.zeros(2), size=np.array([64, 40]))
    options: fractals.RenderKeywords = {"rotation": np.float32(30), "threads": np.int64(2)}
    fractals.plan("seahorse", **options)


def film(scene: fractals.Scene) -> None:
    dive = fractals.film(scene, to="1e-12", seconds=20, fps=30, palette="ember", device="cpu")
    assert_type(dive, fractals.Film)
    assert_type(len(dive), int)
    assert_type(dive.still(2.5), fractals.Image)
    for frame in dive.frames():
        assert_type(frame, NDArray[np.uint16])
    assert_type(dive.save("dive.mp4", overwrite=True).bytes, int)


def describe(scene: fractals.Scene) -> None:
    scene = scene.replace(width="1e-20", center=("-0.75", "0.1"), supersampling=1)
    planned = fractals.plan(scene, device="auto")
    assert_type(planned, fractals.Plan)
    assert_type(planned.method, str)
    assert_type(planned.tiles, tuple[fractals.Tile, ...])
    assert_type(fractals.save_scene(fractals.Scene(), "sea.toml", overwrite=True), None)
    assert_type(fractals.load_scene("seahorse", julia=-0.8 + 0.156j), fractals.Scene)
    assert_type(fractals.render_to("sea.png", scene), fractals.Rendered)
    assert_type(fractals.compute_to("sea.fz", scene), fractals.Computed)
    assert_type(fractals.find_nucleus("minibrot", max_period=100), fractals.Minibrot)
    assert_type(fractals.find_period(scene), int)
    assert_type(fractals.find_misiurewicz(scene, digits=30), fractals.Misiurewicz)
    assert_type(fractals.find_interesting(scene, count=3), list[fractals.Suggestion])
    assert_type(fractals.explore(scene, block=False, palette="ember"), fractals.Running)
    assert_type(fractals.devices(), list[fractals.Device])
    assert_type(fractals.names("palettes"), tuple[str, ...])
    assert_type(fractals.load_formula("bridge.py", degree=3), AnyFormula)
    assert_type(fractals.verify("sea.png", exact=True), list[fractals.Pixel])
    assert_type(fractals.trace(scene, rays="1/3", paper=297), fractals.LineDrawing)
    fractals.render(formula=Path("bridge.py"))


def guesses(image: fractals.Image, dive: fractals.Film) -> None:
    fractals.Scene(formula="z**3 + c", julia=(-0.8, 0.156))
    fractals.Palette(["#000", "#fff"])
    image.save(io.BytesIO(), format="png", quality=90)
    assert_type(image.encode("jpg"), bytes)
    for frame in dive.frames(dtype="uint8"):
        assert_type(frame, NDArray[np.uint8])
    fractals.render("seahorse", size=[64, 40], progress=True)
    warnings.simplefilter("error", fractals.FractalsWarning)
