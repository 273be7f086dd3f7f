"""Web pages that draw: their WebAssembly, run by Node, gives the counts and pixels of `render`."""

import json
import os
import shutil
import subprocess
import sys
import zlib
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from support.scenes import slow_but

import fractals
from fractals.backends.wasm import ENVIRONMENT
from fractals.errors import FractalsError
from fractals.io.web_page import page_of
from fractals.rendering import families, live
from fractals.rendering.plan import make_plan

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(not NODE, reason="Node is not installed")
SCRIPT = Path(__file__).parent / "live.mjs"
SIDE = live.SIDE
# The share of samples near the border whose count a fused multiply-add changes: about as many as
# if the center moved by its last bit
FEW = 0.02
CURVE = {"exposure": 1.0, "curve": "filmic"}
SCENES = {
    "mandelbrot": {"center": (-0.7453, 0.1127), "width": 0.0065},
    "power": {"formula": "multibrot", "coloring": "orbit_trap"},
    "ship": {"formula": "burning_ship", "center": (-1.76, -0.03), "width": 0.2},
    "newton": {"formula": "newton", "coloring": "root"},
    "magnet": {"formula": "magnet1"},
    "own": {
        "formula": "z^2 + c/z^2",
        "coloring": "stripe_average",
        "julia": (-0.0625, 0),
        "center": (0.75, 0.45),
    },
    "julia": {"julia": (-0.8, 0.156), "coloring": "distance"},
    "turned": {"coloring": "slopes", "rotation": 30, "stretch": 1.5, "width": 2},
    "layers": {
        "coloring": "smooth",
        "layers": [
            {"coloring": "distance", "blend": "multiply", "opacity": 0.7},
            {"layers": [{"coloring": "stripe_average"}], "blend": "screen"},
        ],
    },
    "curve": {"coloring": "smooth", **CURVE},
}

# Imports once what `live.asked` imports for each page. Each page is made by a process of its own,
# because a process makes one.
MAKER = """
import json, os, sys
from fractals.backends import wasm
from fractals.rendering import drawing, live
for line in sys.stdin:
    path, table, limit, offset = json.loads(line)
    pid = os.fork()
    if not pid:
        with open(path, "wb") as file:
            file.write(live.packed(live.validate(table), limit, offset))
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


@pytest.fixture(scope="module")
def maker():
    """Return a function that writes what the page of a picture needs into a file."""
    if not hasattr(os, "fork"):
        yield lambda path, image: path.write_bytes(live.asked(image))
        return
    command = [sys.executable, "-P", "-c", MAKER]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=os.environ | ENVIRONMENT, **pipes) as process:

        def make(path, image):
            limit, offset = image.summary.max_iterations, image.summary.count_offset
            process.stdin.write(json.dumps([str(path), image.scene.to_table(), limit, offset]))
            process.stdin.write("\n")
            process.stdin.flush()
            assert process.stdout.readline() == "0\n"

        yield make
        process.stdin.close()


@pytest.fixture
def drawn(tmp_path, maker):
    """Return a function that has Node draw a scene.

    It returns the counts, the pixels, and the picture of `render`.
    """

    def draw(scene, zoom=1, samples=1, colors=()):
        image, packed = fractals.render(scene, device="cpu", threads=1), tmp_path / "packed"
        if not packed.exists():  # by a test that draws a scene twice
            maker(packed, image)
        command = [NODE, SCRIPT, packed, f"{zoom}", f"{samples}", *map(str, colors)]
        found = subprocess.run(command, capture_output=True, check=True).stdout
        count = np.frombuffer(found[: 4 * SIDE**2], np.int32).reshape(SIDE, SIDE)
        pixels = np.frombuffer(found[4 * SIDE**2 :], np.uint8).reshape(SIDE, SIDE, 4)
        assert (pixels[..., 3] == 255).all()
        return count, pixels[..., :3], image

    return draw


def scene_of(**keys):
    base = {"size": (SIDE, SIDE), "supersampling": 1, "max_iterations": 300}
    return fractals.load_scene({}, **{**base, **keys})


def share_apart(one, other, by=2):
    return (abs(one.astype(int) - other).max(2) > by).mean()


def check_page(drawn, scene):
    count, pixels, image = drawn(scene)
    raw = fractals.compute(scene, device="cpu", threads=1)
    assert (raw.count != raw.count[0, 0]).any()
    assert (count != raw.count).mean() <= FEW
    assert share_apart(pixels, image.pixels) <= FEW


@needs_node
@pytest.mark.parametrize("name", slow_but(["julia", "mandelbrot"], SCENES))
def test_a_page_draws_what_render_draws(drawn, name):
    check_page(drawn, scene_of(**SCENES[name]))


@needs_node
def test_numbers_that_depend_on_the_width_follow_a_zoom(drawn):
    """Of a page that draws, too, what `render` draws, with a curve."""
    scene = scene_of(coloring="distance", center=(-0.75, 0.1), width=0.5, **CURVE)
    check_page(drawn, scene)
    _, pixels, image = drawn(scene, zoom=8)
    nearer = fractals.render(scene, width=0.5 / 8, device="cpu").pixels
    assert share_apart(pixels, nearer) <= FEW
    assert share_apart(image.pixels, nearer) > 0.3


@needs_node
@pytest.mark.parametrize("name", slow_but(("mandelbrot",), ("mandelbrot", "layers")))
def test_density_and_offset_of_the_lowest_layer_are_changed(drawn, name):
    scene = scene_of(**SCENES[name], density=0.5)
    _, pixels, image = drawn(scene, colors=(1.5, 0.25))
    other = scene.replace(density=1.5, offset=0.25)
    assert share_apart(pixels, fractals.render(other, device="cpu").pixels) <= FEW
    assert share_apart(image.pixels, pixels) > 0.2


@needs_node
def test_samples_of_a_pixel_are_averaged_in_light(drawn):
    scene = scene_of(supersampling=2, center=(-0.7453, 0.1127), width=0.02)
    _, pixels, image = drawn(scene, samples=2)
    assert share_apart(pixels, image.pixels) <= 2 * FEW
    assert share_apart(pixels, fractals.render(scene, supersampling=1, device="cpu").pixels) > 0.2


@needs_node
@pytest.mark.parametrize(
    ("name", "limit"),
    slow_but([("fan", 400)], [("leaves", 8000), ("fan", 400), ("daystar", 95_000)]),
)
def test_deep_views_are_drawn_along_their_reference_orbit(drawn, name, limit):
    keys = {"size": (SIDE, SIDE), "supersampling": 1, "antialias": "grid", "max_iterations": limit}
    scene = fractals.load_scene(name, **keys)
    for zoom in (8, 1 / 8):
        count, _, image = drawn(scene, zoom)
        assert image.method == "perturbation"
        width = str(Decimal(scene.view.width) / Decimal(zoom))
        raw = fractals.compute(scene, width=width, device="cpu", threads=1)
        assert len(np.unique(raw.count)) > 10
        # Tables of wider views skip other steps, which moves samples by about 1e-9 of a pixel.
        assert (count != raw.count).mean() <= 3 * FEW, zoom


@needs_node
@pytest.mark.parametrize("keys", slow_but([{}], [{}, {"rotation": 25}, {"coloring": "distance"}]))
def test_double_double_numbers_have_the_counts_of_other_devices(drawn, keys):
    """Of a formula without perturbation, where float64 has no digits left."""
    center = "-0.70612917816240729430630005", "0.234828524401763762977175075"
    scene = scene_of(formula="spider", center=center, width="2e-18", max_iterations=600, **keys)
    for zoom in (4, 1):
        count, pixels, image = drawn(scene, zoom)
        assert image.precision == "double-double"
        width = str(Decimal(scene.view.width) / zoom)
        raw = fractals.compute(scene, width=width, device="cpu", threads=1)
        assert len(np.unique(raw.count)) > 40
        assert np.array_equal(count, raw.count)
    assert share_apart(pixels, image.pixels) <= FEW


def test_views_of_a_page_end_where_its_numbers_do():
    keys = {"formula": "spider", "center": ("0.5", "0.25"), "size": (100, 50), "supersampling": 1}
    for width, nearer in (("2e-18", live.NEARER), ("1e-27", 1e-29 * 2**103)):
        plan = make_plan(fractals.load_scene({}, **keys, width=width))
        assert plan.doubled
        assert live._nearer(plan) == pytest.approx(nearer)
    assert live._nearer(make_plan(fractals.load_scene({}))) == live.NEARER


def test_parts_of_a_number_are_its_sum():
    exact = Fraction(1, 3) + Fraction(1, 10**30)
    parts = live._parts(exact)
    assert abs(sum(map(Fraction, parts)) - exact) < Fraction(1, 2**155)
    assert parts[0] == float(exact)


def test_bytes_of_a_place_in_a_row_lie_together():
    assert live._by_columns(b"abcdefgh", 3) == b"adbecf" + b"gh"
    assert live._by_columns(b"ab", 8) == b"ab"


@pytest.mark.slow
def test_a_long_reference_orbit_takes_little_of_a_page(maker, tmp_path):
    """One of 205,863 points, and its linear approximations."""
    scene = fractals.load_scene("clockwork", size=(SIDE, SIDE), supersampling=1)
    image, packed = fractals.render(scene, device="cpu"), tmp_path / "packed"
    maker(packed, image)
    content = packed.read_bytes()
    assert len(zlib.decompress(content)) > 5_000_000
    assert len(content) < 800_000


@needs_node
def test_the_limit_that_was_found_is_the_pages_own(drawn):
    scene = scene_of(max_iterations="auto", center=(-0.7453, 0.1127), width=0.0065)
    count, _, image = drawn(scene)
    assert image.summary.max_iterations > 300
    raw = fractals.compute(scene, device="cpu", threads=1)
    assert (count != raw.count).mean() <= FEW


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ({"coloring": "histogram"}, "whole picture"),
        ({"bloom": 0.5}, "glow"),
        ({"gamut": "p3"}, "sRGB"),
        ({"projection": "exponential"}, "exponential"),
        ({"formula": "buddhabrot"}, "escape time"),
    ],
)
def test_other_scenes_are_still_pictures_and_say_why(keys, why):
    assert why in live.why_still(fractals.load_scene({}, size=(8, 6), **keys))


def test_a_page_that_can_not_draw_is_written_nevertheless(tmp_path, monkeypatch):
    def failing(image):
        raise FractalsError("nothing works")

    monkeypatch.setattr(live, "asked", failing)
    path, said = tmp_path / "a.html", []
    fractals.render_to(path, size=(8, 6), device="cpu", on_message=said.append)
    assert "nothing works" in path.read_text()
    assert len(said) == 1
    assert "nothing works" in said[0]


@pytest.mark.parametrize(("content", "lines"), [(10, 0), (6_000_000, 1)])
def test_a_large_page_tells_its_size_before_it_is_written(tmp_path, monkeypatch, content, lines):
    monkeypatch.setattr(live, "asked", lambda image: bytes(content))
    path, said = tmp_path / "a.html", []

    def tell(line):
        assert not path.exists() or not path.stat().st_size
        said.append(line)

    fractals.render_to(path, size=(8, 6), device="cpu", on_message=tell)
    assert len(said) == lines
    assert all("8.0 MB" in line and "draw other places" in line for line in said)
    assert path.stat().st_size > content


def test_a_page_that_only_magnifies_tells_before_how_long_its_picture_takes(tmp_path, monkeypatch):
    keys = {"formula": "mandelbulb", "size": (8, 6), "quality": "best", "device": "cpu"}
    said = []
    fractals.render_to(tmp_path / "a.html", **keys, on_message=said.append)
    assert ["magnifies" in line for line in said] == [True]  # a quick one
    monkeypatch.setattr(families, "SLOW_PAGE", 0.0)
    path, said = tmp_path / "b.html", []

    def tell(line):
        said.append((line, path.exists()))

    fractals.render_to(path, **keys, on_message=tell)
    (first, there), (after, _) = said
    assert "quality='draft' takes about" in first
    assert not there
    assert "magnifies" in after
    said.clear()
    fractals.render_to(tmp_path / "b.png", **keys, on_message=said.append)
    assert not said


@pytest.mark.parametrize("how", slow_but(["command"], ["render_to", "command"]))
def test_a_page_is_small_and_loads_nothing(tmp_path, run, how):
    path = tmp_path / "a.html"
    if how == "render_to":
        fractals.render_to(path, size=(32, 24), device="cpu", title="<b>&\"'", note="<script>")
    else:
        (tmp_path / "s.toml").write_text("title = '<b>'\nnote = '<script>'\n")
        code, _, _ = run("render", "s.toml", "--size", "32x24", "-o", path)
        assert code == 0
    text = path.read_text()
    assert len(text) < 200_000
    assert "<b>" not in text
    assert text.count("<script") == 3
    assert "connect-src" not in text
    assert "default-src 'none'" in text
    for outside in ("http://", "https://", "//fonts", "import ", "import("):
        assert outside not in text.replace("http://www.w3.org", "")


def test_what_is_packed_is_read_again(tmp_path, maker):
    maker(tmp_path / "packed", fractals.render(scene_of(), device="cpu"))
    content = zlib.decompress((tmp_path / "packed").read_bytes())
    length = int.from_bytes(content[:4], "little")
    assert content[4 + length :].startswith(b"\0asm")


def test_a_page_has_no_control_characters():
    scene = fractals.Scene(title="a\x00b\x07\x1b[31m", note="one\ntwo\x1b")
    page = page_of(scene, b"").decode()
    assert "<title>a\\x00b\\x07\\x1b[31m</title>" in page
    assert "one\ntwo\\x1b" in page
    assert not set(page) & (set(map(chr, range(32))) - set("\n\t"))
