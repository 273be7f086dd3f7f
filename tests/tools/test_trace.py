"""Lines for plotters: contours have the values that mpmath finds, and rays end where they must."""

import itertools
import math
import re
import xml.etree.ElementTree as ElementTree
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from click.testing import CliRunner

import fractals
from fractals.cli.verbs import cli
from fractals.errors import OptionError
from fractals.rendering.options import RenderOptions
from fractals.tools import trace

SCENE = fractals.load_scene("mandelbrot", size=(160, 120), supersampling=1, max_iterations=200)
OPTIONS = RenderOptions(device="cpu")


def run(*arguments):
    return CliRunner().invoke(cli, ["trace", *map(str, arguments)])


def smooth_count(x, y):
    """Return n + 1 - log2(log|z_n| / log 256) by mpmath."""
    with mpmath.workdps(30):
        c = mpmath.mpc(x, y)
        z, n = c, 1
        while abs(z) <= 256:
            z, n = z * z + c, n + 1
        return float(n + 1 - mpmath.log(mpmath.log(abs(z)) / mpmath.log(256), 2))


def test_contours_are_equipotential_lines():
    """Along each line mpmath finds one smooth count, and it rises from line to line."""
    pytest.importorskip("contourpy")
    scene = SCENE.replace(coloring="smooth", transfer="linear", density=1.0, offset=0.0)
    found = trace.contours(scene, 6, 0.3, 5, OPTIONS)
    assert len(found) >= 4
    width, (x, y) = fractals.scene.geometry.place_of(scene)
    before = -math.inf
    for _, lines in found[:4]:
        line = np.concatenate(lines)
        points = float(width) / 160 * (line - (80, 60)) * (1, -1) + (float(x), float(y))
        counts = [smooth_count(*point) for point in points[::5]]
        assert np.ptp(counts) < 0.05
        assert min(counts) > before
        before = max(counts)


@pytest.mark.parametrize(
    ("angle", "degree", "julia", "end", "error"),
    [
        ("0", 2, None, 0.25, 2e-4),  # a cusp is approached slowly
        ("1/2", 2, None, -2, 1e-8),
        ("1/6", 2, None, 1j, 1e-8),
        ("1/4", 2, None, -0.228155 + 1.115143j, 1e-5),  # Misiurewicz point
        ("1/7", 2, None, -0.125 + 0.649519j, 0.01),  # the root of a bulb
        ("0", 3, None, 2 / math.sqrt(27), 2e-4),
        ("1/2", 2, 0, -1, 1e-6),  # the Julia set of 0 is the unit circle
        ("1/3", 2, -1, (1 - math.sqrt(5)) / 2, 1e-6),
        ("0", 2, -2, 2, 1e-6),
    ],
)
def test_rays_land(angle, degree, julia, end, error):
    points = trace.ray(Fraction(angle), degree, julia, 1e-9)
    assert abs(points[-1] - end) < error
    assert abs(points[0]) == pytest.approx(trace.RADIUS)


def test_points_of_a_ray_have_its_angle():
    """By mpmath: the orbit of a point on the ray of angle t has the angle t * 2**n far outside."""
    angle = Fraction(3, 11)
    points = trace.ray(angle, 2)[30:60:5]
    assert len(points) == 6
    for point in points:
        with mpmath.workdps(30):
            c, n = mpmath.mpc(point), 0
            z = c
            while abs(z) < 1e8:
                z, n = z * z + c, n + 1
            turns = float(mpmath.arg(z)) / (2 * math.pi)
        assert abs((turns - float(angle * 2**n) + 0.5) % 1 - 0.5) < 1e-6


def test_rays_turn_with_the_view():
    """A view turned by a quarter shows the ray of angle 0 upright, and the rest is left out."""
    turned = SCENE.replace(rotation=90, center=("0", "0"), width=4)
    [line] = trace.rays(turned, [Fraction(0)])
    assert np.allclose(line[:, 0], 80)
    assert (
        len(trace.clipped(np.array([[-9.0, 5], [-1, 5], [3, 5], [4, 5], [300, 5]]), 160, 120)[0])
        == 4
    )


def test_a_simplified_line_stays_near():
    rough = np.stack([np.arange(400.0), np.sin(np.arange(400) / 15) * 20], 1)
    found = trace.simplified(rough)
    assert len(found) < 120
    fine = np.linspace(0, len(found) - 1, 40_000)
    fine = np.stack([np.interp(fine, np.arange(len(found)), axis) for axis in found.T], 1)
    assert max(np.hypot(*(fine - point).T).min() for point in rough) < 0.11


def test_a_pen_travels_less():
    dice = np.random.default_rng(1)
    lines = [np.cumsum(dice.normal(size=(5, 2)), 0) + dice.uniform(0, 99, 2) for _ in range(60)]

    def travel(lines):
        return sum(np.hypot(*(b[0] - a[-1])) for a, b in itertools.pairwise(lines))

    ordered = trace.in_order(lines)
    assert travel(ordered) < 0.4 * travel(lines)
    assert sorted(line.sum() for line in ordered) == pytest.approx(
        sorted(line.sum() for line in lines)
    )


def test_an_svg_has_the_size_of_its_paper_its_lines_and_its_scene(tmp_path):
    pytest.importorskip("contourpy")
    path = tmp_path / "a<b.svg"
    done = run(
        "seahorse", "--size", "200x120", "--contours", 5, "--colored", "--paper", 100, "-o", path
    )
    assert done.exit_code == 0, done.output
    root = ElementTree.parse(path).getroot()
    assert (root.get("width"), root.get("height"), root.get("viewBox")) == (
        "100mm",
        "60.00mm",
        "0 0 100 60.00",
    )
    space = "{http://www.w3.org/2000/svg}"
    paths = root.findall(f"{space}g/{space}path")
    assert 2 <= len(paths) <= 5
    assert all(re.fullmatch("#[0-9a-f]{6}", each.get("stroke")) for each in paths)
    numbers = np.array(re.findall(r"[\d.]+", paths[-1].get("d")), float).reshape(-1, 2)
    assert (numbers >= 0).all()
    assert (numbers <= (100, 60)).all()
    kept = fractals.load_scene(fractals.io.files.parse_json(root.find(f"{space}desc").text))
    assert kept.color.coloring.name == "distance"
    rays = run("--rays", "8", "--contours", 0, "-o", tmp_path / "rays.svg")
    assert rays.exit_code == 0
    assert (tmp_path / "rays.svg").read_text().count("M") >= 8


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--rays", "-"], "a number of rays"),
        (["--rays", "1/0"], "a number of rays"),
        (["--rays", "1e999999999"], "a number of rays"),
        (["--rays", "x"], "a number of rays"),
        (["--rays", "3", "--formula", "burning_ship"], "z**d + c"),
        (["--rays", "3", "--width", "1e-30"], "wider"),
        (["--contours", "0"], "nothing to draw"),
        (["--size", "64x1"], "2x2 pixels or more"),
        (["-o", "a.png"], ".svg"),
        (["--julia", "0,0", "--width", "0.1"], "no two values"),
        (["mandelbulb"], "another family"),
        (["--pen", "0"], "pen"),
    ],
)
def test_what_is_refused(arguments, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused = run("--size", "64x48", *arguments)
    assert refused.exit_code != 0
    assert words in refused.output + str(refused.exception)
    assert not list(tmp_path.iterdir())


def test_without_contourpy(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "contourpy", None)
    with pytest.raises(OptionError, match="contourpy"):
        trace.contours(SCENE, 3, 0.3, 5, OPTIONS)


def test_python_draws_the_file_of_the_command(tmp_path):
    pytest.importorskip("contourpy")
    keys = {"size": (80, 60), "contours": 3, "rays": ["1/3", Fraction(2, 3), 0.5], "paper": 100}
    drawn = fractals.trace("seahorse", **keys)
    drawn.save(tmp_path / "a.svg")
    options = ["--size=80x60", "--contours=3", "--rays=1/3,2/3,1/2", "--paper=100"]
    done = run("seahorse", *options, "-o", tmp_path / "b.svg")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert drawn._repr_svg_() == drawn.svg() == (tmp_path / "a.svg").read_text("utf-8")
    with pytest.raises(fractals.FractalsError, match="exists"):
        drawn.save(tmp_path / "a.svg")
    for wrong, words in ({"rays": 2.5}, "number of rays"), ({"pen": 0}, "pen=0"):
        with pytest.raises(OptionError, match=words):
            fractals.trace(contours=0, **{"rays": 1, **wrong})


@pytest.mark.parametrize("title", ['a\x1b[31m"b', "a\ufffe<b>", "a\tb"])
def test_any_title_gives_a_file_that_programs_of_xml_read(tmp_path, title):
    drawn = fractals.trace(SCENE.replace(title=title, note=title), contours=0, rays=2)
    root = ElementTree.fromstring(drawn.svg())
    assert root.get("aria-label") == root[0].text
    drawn.save(tmp_path / "a.svg")
    assert fractals.load_scene(tmp_path / "a.svg").title == title
