"""The denoiser of a solid's light: what it is told, when it is refused, and what it does."""

import importlib.machinery
import importlib.util
import sys
import types

import numpy as np
import pytest

import fractals
from fractals.backends.devices import choose, open_backend
from fractals.errors import OptionError
from fractals.space import denoise
from fractals.space import light as lights
from fractals.space import plan as plans
from fractals.space.denoise import (
    COLORED,
    FRAME,
    KEPT,
    LEARNED,
    REACHES,
    RIDGE,
    regressed,
)
from fractals.space.plan import make_solid_plan
from fractals.space.trace import Tracing
from fractals.tools.verify import verify

TINY = {"formula": "mandelbulb", "size": (20, 14), "samples": 1, "bounces": 1}
MISSING = importlib.util.find_spec("pyoidn") is None


@pytest.fixture(autouse=True)
def _there(monkeypatch):
    """Let scenes ask for the denoiser, installed or not."""
    if MISSING:
        monkeypatch.setattr(plans, "find_spec", lambda name: True)


def traced(device, **keys):
    scene = fractals.load_scene(**{**TINY, **keys})
    made = make_solid_plan(scene, device, 2)
    return Tracing(made, open_backend(choose(device).device, made.precision, 2))


def test_guides_are_colors_and_normals():
    """The same bits from the CPU and plain Python; the sky has no normal."""
    small = {"size": (4, 3), "max_iterations": 4}
    assert np.array_equal(traced("cpu", **small).guides(), traced("python", **small).guides())
    surface = traced("cpu").guides()
    colors, normals = surface[..., :3], surface[..., 3:6]
    assert 0 <= colors.min() <= colors.max() <= 1
    lengths = np.linalg.norm(normals, axis=2)
    assert lengths.max() <= 1 + 1e-5
    assert lengths.max() > 0.99
    sky = traced("cpu", position=(9, 0, 0), field=60).guides()[0, 0]
    assert sky[3:6].tolist() == [0, 0, 0]
    assert sky[:3].min() > 0.1


@pytest.mark.slow
def test_the_simulator_has_the_same_guides():
    small = {"size": (4, 3), "max_iterations": 4}
    assert np.array_equal(traced("simulator", **small).guides(), traced("cpu", **small).guides())


@pytest.fixture
def blank(monkeypatch):
    """Stand in for the library: a picture of its mean, and what it was called with, unframed."""
    calls = []

    def denoise(color, *, hdr, quality, **guides):
        parts = [color, *guides.values()]
        inner = [part[FRAME:-FRAME, FRAME:-FRAME] for part in parts]
        for part, within in zip(parts, inner, strict=True):
            assert part.flags.c_contiguous
            assert np.array_equal(part[FRAME - 1, FRAME:-FRAME], within[0])
            assert np.array_equal(part[FRAME:-FRAME, -1], within[:, -FRAME])
        calls.append((*inner, hdr, quality))
        return np.full_like(color, inner[0].mean())

    fake = types.ModuleType("pyoidn")
    fake.__spec__ = importlib.machinery.ModuleSpec("pyoidn", None)
    fake.denoise = denoise
    monkeypatch.setitem(sys.modules, "pyoidn", fake)
    return calls


def test_light_is_denoised_before_it_is_developed(blank, tmp_path):
    image = fractals.render(**TINY, denoise=True, vignette=1, device="cpu")
    ((color, albedo, normal, hdr, quality),) = blank  # nothing blurs light without a bounce
    assert hdr
    assert quality == "fast"
    assert color.shape == albedo.shape == normal.shape == (14, 20, 3)
    assert color.dtype == albedo.dtype == normal.dtype == np.float32
    assert image.pixels[7, 10].min() > image.pixels[0, 0].max()
    fractals.render_to(tmp_path / "a.png", **TINY, denoise=True, vignette=1, device="cpu")
    assert (tmp_path / "a.png").read_bytes() == image.encode()
    assert fractals.load_scene(tmp_path / "a.png").develop.denoise
    with pytest.raises(OptionError, match="only a picture without denoise can be verified"):
        verify(tmp_path / "a.png")


def test_paths_guide_the_denoiser(blank):
    """Color and normal of what they meet first are those of rays, and nothing is traced again."""
    keys = {**TINY, "samples": 64, "denoise": True, "device": "cpu", "haze": 0}
    fractals.render(**keys)
    (_, albedo, normal, _, _), rays = blank[0], traced("cpu", haze=0).guides()
    assert np.abs(albedo - rays[..., :3]).mean() < 0.02
    assert np.abs(normal - rays[..., 3:6]).mean() < 0.06
    raw = fractals.compute(**{key: value for key, value in keys.items() if key != "denoise"})
    assert raw.sums.shape == (14, 20, 3)
    fractals.recolor(raw, denoise=True, device="cpu")
    assert np.array_equal(blank[1][1], traced("cpu", haze=0).guides(1)[..., :3])
    fractals.render(**keys, quality="best", lens=0.02)
    assert [call[-1] for call in blank[2:]] == ["high"] * 2
    # Of light without a bounce the guides have the noise
    assert sorted(len(call) for call in blank[2:]) == [3, 5]


def test_light_without_a_bounce_is_filtered_alone(blank):
    """It is the sun's on the surface, as the pass of direct light has it; the rest is bounces'."""
    keys = {**TINY, "samples": 16, "haze": 0, "bounces": 1, "field": 12, "lens": 0.001}
    fractals.render(**keys, denoise=True, device="cpu")
    first, later = blank[0][0], blank[1][0]
    tracing = traced("cpu", **keys)
    sums = np.zeros((14, 20, 3 + lights.SHARES + lights.PASSES), np.int64)
    tracing.add(sums, range(14), 0, 16, None)
    light = tracing.light(sums, 16)
    assert np.allclose(first + later, light[..., :3], atol=1e-4)
    at = 3 + lights.DIRECT - lights.SUNLIGHT
    sun = tracing.shot.light[lights.SUNLIGHT : lights.SUNLIGHT + 3] * tracing.developer.exposure
    assert np.allclose(first, light[..., at : at + 3] * sun, atol=1e-4)
    assert first.max() > 0.1
    assert later.max() > 0.1


@pytest.mark.parametrize(("lens", "kept"), [(0.0, 1.0), (0.02, KEPT)])
def test_some_of_the_first_light_stays_as_it_was(blank, lens, kept):
    """A mean of what was and of what the filter made, and the rest as three filters made it."""
    tracing = traced("cpu", denoise=True, samples=4, lens=lens)
    light = np.zeros((14, 20, 12), np.float32)
    light[3, 4, :3], light[3, 4, 9:] = 5, 3
    light[..., 8] = 1  # of an even surface: there is nothing that light could follow
    shown = []
    tracing.developer.pixels = lambda found, top=0: shown.append(found) or found
    tracing.developer.exposure = 1.0
    tracing.finished(light)
    means = np.float32(3 / 280), np.float32(2 / 280)
    first, later = means[0] * (1 - kept), means[1] * LEARNED
    assert np.allclose(shown[0][0, -1], first + later)  # far from the light
    # Each square that the pixel is in has the light once
    near = sum((1 - LEARNED) / len(REACHES) * 2 / (2 * reach + 1) ** 2 for reach in REACHES)
    assert np.allclose(shown[0][3, 4], kept * 3 + first + later + near)


def test_paths_that_end_early_lose_no_light():
    """What others bring from beyond counts twice: between white walls it is much of the light."""
    small = {"formula": "menger", "size": (24, 16), "bounces": 4, "haze": 0, "field": 8}
    found = []
    for device, keys in (("cpu", {}), ("cpu", {"denoise": True})):
        tracing = traced(device, **small, palette=["#ffffff", "#f8f8f8"], **keys)
        sums = np.zeros((16, 24, tracing.numbers), np.int64)
        tracing.add(sums, range(16), 0, 256, None)
        found.append(sums[..., :3].sum(axis=(0, 1)))
    assert np.abs(found[1] / found[0] - 1).max() < 0.01


def features(rng, rows, columns):
    """Return colors and normals of a rough surface, shape (rows, columns, 6)."""
    found = rng.normal(size=(rows, columns, 6))
    found[..., :3] = 0.5 + 0.1 * found[..., :3]
    found[..., 3:] /= np.linalg.norm(found[..., 3:], axis=2)[..., None]
    return found.astype(np.float32)


def regressed_one_by_one(light, surface, reach):
    """Return the same as `regressed`, by a solution of the normal equations in each square."""
    wide, (rows, columns) = 2 * reach, light.shape[:2]
    scaled = surface.astype(float) * np.repeat([COLORED, 1.0], 3)
    x, y = (
        np.pad(part.astype(float), ((wide, wide), (wide, wide), (0, 0)), "symmetric")
        for part in (scaled, light)
    )
    side, found = 2 * reach + 1, np.zeros(light.shape)
    for row in range(rows + 2 * reach):
        for column in range(columns + 2 * reach):
            square = slice(row, row + side), slice(column, column + side)
            a, b = (part[square].reshape(side**2, -1) for part in (x, y))
            away = a - a.mean(axis=0)
            ridge = RIDGE * len(a) * np.eye(6)
            slopes = np.linalg.solve(away.T @ away + ridge, away.T @ (b - b.mean(axis=0)))
            # The function counts in the pixels of the square
            for j in range(max(0, row - 2 * reach), min(rows, row + 1)):
                for i in range(max(0, column - 2 * reach), min(columns, column + 1)):
                    at = x[j + wide, i + wide] - a.mean(axis=0)
                    found[j, i] += (b.mean(axis=0) + at @ slopes) / side**2
    return np.maximum(found, 0)


@pytest.mark.parametrize("reach", REACHES)
def test_bounced_light_is_regressed_in_squares(reach, monkeypatch):
    """The same by equations for each square; however many rows are regressed at once."""
    rng = np.random.default_rng(1)
    surface, light = features(rng, 9, 11), rng.random((9, 11, 3), np.float32)
    found = regressed(light, surface, reach)
    assert found.dtype == np.float32
    assert np.abs(found - regressed_one_by_one(light, surface, reach)).max() < 1e-5
    monkeypatch.setattr(denoise, "ROWS", 4)
    assert np.array_equal(regressed(light, surface, reach), found)


def test_detail_of_the_surface_stays_and_noise_goes():
    reach = max(REACHES)
    rng = np.random.default_rng(2)
    surface = features(rng, 60, 80)
    clean = 2 + surface @ rng.uniform(-0.5, 0.5, (6, 3)).astype(np.float32)
    noisy = clean + rng.normal(0, 0.2, clean.shape).astype(np.float32)
    assert np.abs(regressed(clean, surface, reach) - clean).mean() < 0.02 * clean.std()
    left = np.abs(regressed(noisy, surface, reach) - clean).mean()
    assert left < 0.3 * np.abs(noisy - clean).mean()


def test_the_sky_has_no_light_that_bounced():
    light, surface = np.ones((12, 16, 3), np.float32), np.zeros((12, 16, 6), np.float32)
    surface[:, 8:, 3] = 1
    light[:, :8] = 0
    found = regressed(light, surface, REACHES[0])
    assert (found[:, :8] == 0).all()
    assert found[:, 8:].min() > 0.9


@pytest.mark.parametrize("lens", [0.0, 0.02])
def test_every_device_sums_the_same_guides(lens):
    """Half of the paths go on after the second surface."""
    small = {"formula": "menger", "size": (4, 3), "denoise": True, "bounces": 3, "field": 8}
    small["lens"] = lens
    found = []
    for device in ("python", "cpu", "simulator"):
        tracing = traced(device, **small)
        found.append(np.zeros((3, 4, tracing.numbers), np.int64))
        tracing.add(found[-1], range(3), 0, 2, None)
    assert found[0].shape[2] == 12
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_what_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(plans, "find_spec", lambda name: None)
    with pytest.raises(OptionError, match="denoise=True needs Open Image Denoise: "):
        fractals.plan(**TINY, denoise=True)


@pytest.mark.parametrize("formula", ["mandelbrot", "flame"])
def test_other_images_have_no_noise_of_light(formula):
    with pytest.raises(OptionError, match="denoise=True is for solids"):
        fractals.render(formula=formula, size=(8, 6), denoise=True, device="cpu")


@pytest.mark.skipif(MISSING, reason="the extra denoise is not installed")
def test_few_samples_become_as_smooth_as_many():
    few, clean, many = (
        fractals.render("gallery:reef", size=(120, 80), **keys, device="cpu").pixels.astype(float)
        for keys in ({"samples": 2}, {"samples": 2, "denoise": True}, {"samples": 128})
    )
    before, after = (np.sqrt(np.mean((each - many) ** 2)) for each in (few, clean))
    assert after < 0.7 * before
    assert np.abs(clean[0, 0] - many[0, 0]).max() < 16  # the corner, which is sky
