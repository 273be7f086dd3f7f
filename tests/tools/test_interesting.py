"""Suggested views: their score, that they lie apart in the view, and formulas without nuclei."""

import math
from decimal import Decimal

import numpy as np
import pytest
from support.scenes import scene

from fractals import load_scene
from fractals.errors import FractalsError, OptionError
from fractals.rendering.options import RenderOptions
from fractals.space.flight import way_to
from fractals.space.plan import make_solid_plan
from fractals.space.suggest import score_of, surface_of
from fractals.space.trace import open_tracing
from fractals.tools.interesting import (
    SHARE,
    best_windows,
    find_interesting,
    symmetries,
    thumbnails,
)
from fractals.tools.surprise import mutations

LIMIT = 1000


def counts_with(part, y, x):
    """Return flat counts of 80x160 samples with a part at a place."""
    counts = np.full((80, 160), 10, np.int32)
    counts[y : y + part.shape[0], x : x + part.shape[1]] = part
    return counts


def test_varied_counts_win():
    varied = np.arange(10 * 20, dtype=np.int32).reshape(10, 20) + 11
    (score, x, y), *others = best_windows(counts_with(varied, 30, 60), LIMIT, 6)
    assert x == 70
    assert abs(y - 35) <= 5
    assert score > 0.1
    assert all(score > other for other, _, _ in others)


def test_flat_and_inside_windows_lose():
    assert best_windows(np.full((80, 160), 10, np.int32), LIMIT, 6) == []
    assert best_windows(np.full((80, 160), LIMIT, np.int32), LIMIT, 6) == []
    varied = np.arange(10 * 20, dtype=np.int32).reshape(10, 20) + 11
    half = varied.copy()
    half[:, ::2] = LIMIT
    whole_score = best_windows(counts_with(varied, 30, 60), LIMIT, 1)[0][0]
    assert best_windows(counts_with(half, 30, 60), LIMIT, 1)[0][0] < 0.7 * whole_score


def test_windows_lie_apart():
    noise = np.random.default_rng(1).integers(1, 500, (80, 160)).astype(np.int32)
    found = best_windows(noise, LIMIT, 12)
    assert len(found) == 12
    for k, (score, x, y) in enumerate(found):
        assert k == 0 or score <= found[k - 1][0]
        assert all(abs(x - u) >= 20 or abs(y - v) >= 10 for _, u, v in found[:k])


def test_views_lie_in_the_view():
    whole = load_scene("seahorse", size=(160, 90), rotation=30, palette="ember")
    found = find_interesting(whole, count=4, device="cpu")
    assert len(found) == 4
    assert {each.kind for each in found} == {"spiral", "minibrot"}
    x, y = map(Decimal, whole.view.center)
    width = Decimal(whole.view.width)
    for each in found:
        u, v = map(Decimal, each.scene.view.center)
        assert ((u - x) ** 2 + (v - y) ** 2).sqrt() < width * Decimal("0.58")
        assert Decimal(each.scene.view.width) == width / SHARE
        assert each.scene.color.palette == whole.color.palette
        assert 0 < each.score <= 1
    assert len({each.scene.view.center for each in found}) == 4
    drawn = thumbnails(found, device="cpu")
    pictures = [drawn[14:158, x : x + 256] for x in (14, 284, 554)]
    assert all(picture.std() > 10 for picture in pictures)
    assert drawn[158 + 36 + 60, 14:270].std() > 10  # the second row
    assert drawn.shape[1] == 3 * 270 + 14


@pytest.mark.parametrize("formula", ["logistic", "julia"])
def test_formulas_without_nuclei(formula):
    whole = scene("mandelbrot", julia=True) if formula == "julia" else scene(formula)
    found = find_interesting(whole.replace(size=(160, 90)), count=2, device="simulator")
    assert [each.kind for each in found] == ["detail", "detail"]


@pytest.mark.parametrize(
    ("drawn", "expected"),
    [
        (scene("mandelbrot"), [(1, -1)]),
        (scene({"name": "multibrot", "power": 3}), [(1, -1), (-1, 1), (-1, -1)]),
        (scene("burning_ship"), []),
        (scene("mandelbrot", julia=True), [(-1, -1)]),
        (scene("mandelbrot").replace(julia=("-0.8", "0")), [(1, -1), (-1, 1), (-1, -1)]),
    ],
    ids=["mandelbrot", "multibrot", "ship", "julia", "real julia"],
)
def test_symmetries(drawn, expected):
    assert symmetries(drawn, drawn.make_formula()) == expected


@pytest.mark.parametrize("keys", [{}, {"rotation": 30}], ids=["plain", "rotated"])
def test_no_view_is_the_mirror_image_of_another(keys):
    found = find_interesting(size=(160, 90), count=8, device="cpu", **keys)
    width = Decimal(found[0].scene.view.width)
    places = [tuple(map(Decimal, each.scene.view.center)) for each in found]
    assert len(places) > 3
    for k, (x, y) in enumerate(places):
        for u, v in places[:k]:
            assert max(abs(x - u), abs(y + v)) > width / 4


def test_a_mirror_image_beyond_all_floats():
    deep = scene(center=("1e-330", "1"), width="1e-320", max_iterations=5000, size=(16, 16))
    found = find_interesting(deep, device="cpu", count=1, centers=False)
    assert found[0].kind == "detail"


def test_views_that_cannot_be_searched_are_refused():
    with pytest.raises(OptionError, match="count 0"):
        find_interesting(scene(), count=0)
    with pytest.raises(OptionError, match="'plane'"):
        find_interesting(scene(projection="exponential"))
    with pytest.raises(OptionError, match="'flame' makes images of another family"):
        find_interesting("garland")
    with pytest.raises(FractalsError, match="nothing in the view differs"):
        find_interesting(scene(center=("-0.1", "0.1"), width="0.01"), device="cpu")


def test_cameras_of_a_solid_are_nearer_and_see_more(monkeypatch):
    monkeypatch.setattr("fractals.space.suggest.LEAST_TRIED", 60)
    monkeypatch.setattr("fractals.space.suggest.TRIED_CAMERAS", 10)
    whole = load_scene(formula="menger", size=(60, 40), samples=1, bounces=0)
    found = find_interesting(whole, count=3, device="cpu")
    assert [each.kind for each in found] == 3 * ["camera"]
    assert 1 >= found[0].score > found[-1].score * 0.99 > 0.2
    far = math.dist(make_solid_plan(whole, "cpu", 1).solid.position, (0, 0, 0))
    for each in found:
        camera = each.scene.camera
        assert math.dist(camera.position, camera.target) < far
        assert make_solid_plan(each.scene, "cpu", 1).clearance > 0
        way = way_to(whole, each.scene, 5)
        assert not way or way[-1] == pytest.approx([*camera.position, *camera.target])
    assert found == find_interesting(whole, count=3, device="cpu")
    home = open_tracing(whole, RenderOptions(device="cpu"))
    assert score_of(home.plan, home.probe()) < 4 * found[0].score
    assert len(surface_of(home.plan, home.probe())) > 100
    labels = [label for label, _ in mutations(whole, seed=3)]
    assert sum(label.way.startswith("near_by") for label in labels[:12]) >= 4
    with pytest.raises(OptionError, match="flat pictures"):
        find_interesting(whole, panorama=True)
    with pytest.raises(FractalsError, match="sees nothing of the solid"):
        find_interesting(whole, position=(9, 9, 9), target=(20, 20, 20))
