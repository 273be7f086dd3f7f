"""Stores of what all layers need: the same bytes, recolored exactly, and clear where they lack."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from support.command_line import SMALL, one_line
from support.scenes import PRECISIONS, scene, slow_but
from support.stores import change_header, contents, interrupted

import fractals
from fractals import EscapeData, OptionError, SceneError
from fractals.backends import code_cache
from fractals.backends.cpu.backend import CpuBackend
from fractals.errors import FractalsError
from fractals.io.stores import store
from fractals.rendering import recoloring

STRIPES = {"coloring": {"name": "stripe_average", "density": 3}, "blend": "overlay"}
TRAP = {"coloring": {"name": "orbit_trap", "shape": "circle"}, "mask": "all", "blend": "soft_light"}
STACK = [{"coloring": "slopes"}, {**STRIPES, "opacity": 0.7}, TRAP]
DEEP = {
    "center": ["-1.7685736562992577", "-0.0009642968513582"],
    "width": "1e-13",
    "max_iterations": "auto",
    "size": (32, 24),
}
LAYERS = {"coloring": "smooth", "layers": STACK}
RANKED = {"coloring": "rank", "layers": [{"coloring": "stripe_average", "blend": "overlay"}]}
CYCLES = {"coloring": "multiplier", "layers": [{"coloring": "atom_domains", "mask": "all"}]}


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Many tiles in a small picture."""
    monkeypatch.setattr(store, "MIN_SAMPLES", 64)


def recolored(path, raw, *sources, device):
    """Return the bytes of the picture that is drawn into a file, which `color` draws too."""
    fractals.recolor_to(path, raw, *sources, device=device, overwrite=True)
    assert fractals.recolor(raw, *sources, device=device).encode() == path.read_bytes()
    return path.read_bytes()


# The same bytes


def recolored_is_rendered(tmp_path, device, precision, colors):
    drawn = scene(size=(20, 14), supersampling=2, precision=precision, **colors)
    wanted = fractals.render(drawn, device=device).encode()
    fractals.compute_to(tmp_path / "a.fz", drawn, device=device)
    raw = EscapeData.load(tmp_path / "a.fz")
    assert recolored(tmp_path / "a.png", raw, device=device) == wanted
    raw.save(tmp_path / "a.npz")
    raw = EscapeData.load(tmp_path / "a.npz")
    assert recolored(tmp_path / "b.png", raw, device=device) == wanted
    raw.save(tmp_path / "b.fz")
    assert contents(tmp_path / "a.fz") == contents(tmp_path / "b.fz")


@pytest.mark.parametrize("suffix", [".fz", ".npz"])
def test_files_keep_the_method(tmp_path, suffix):
    raw = fractals.compute(scene(), device="cpu")
    raw.method = "perturbation"
    raw.save(tmp_path / f"a{suffix}")
    assert EscapeData.load(tmp_path / f"a{suffix}").method == "perturbation"


@pytest.mark.parametrize("colors", slow_but([RANKED], [RANKED, CYCLES]), ids=["ranked", "cycles"])
def test_recolored_is_rendered(tmp_path, colors):
    recolored_is_rendered(tmp_path, "cpu", "float64", colors)


@pytest.mark.parametrize(
    ("device", "precision"),
    slow_but([("cpu", "float64")], product(["cpu", "simulator"], PRECISIONS)),
)
def test_recolored_layers_are_rendered(tmp_path, device, precision):
    recolored_is_rendered(tmp_path, device, precision, LAYERS)


def test_other_colors_of_what_is_kept(tmp_path, compiled):
    drawn = scene(supersampling=2, **LAYERS)
    fractals.compute_to(tmp_path / "a.fz", drawn, device="python")
    raw = EscapeData.load(tmp_path / "a.fz")
    for keys in (
        {"transfer": "atan", "layers": [STRIPES]},  # what was watched inside too serves outside
        {"coloring": STRIPES["coloring"], "palette": "ember", "layers": []},
        {"coloring": "histogram", "layers": [{**TRAP, "range": [0, 0.5]}]},
    ):
        other = drawn.replace(**keys)
        wanted = fractals.render(other, device="python").encode()
        assert recolored(tmp_path / "a.png", raw, other, device=compiled) == wanted, keys


def test_tiles_of_a_file_are_colored_by_the_programs_of_computed_ones(tmp_path, monkeypatch):
    """Those of a file are read-only, and z has gaps: these could need programs of their own."""
    fractals.compute_to(tmp_path / "a.fz", scene(), device="python")
    wanted = fractals.render(scene(), device="python").encode()
    recolored(tmp_path / "a.png", fractals.compute(scene(), device="python"), device="cpu")

    given, to_device = [], CpuBackend.to_device

    def noted(self, array, kept=False):
        given.append(array)
        return to_device(self, array, kept)

    def loaded(*_):
        raise AssertionError("another program")

    monkeypatch.setattr(CpuBackend, "to_device", noted)
    monkeypatch.setattr(code_cache.Store, "load", loaded)
    raw = EscapeData.load(tmp_path / "a.fz")
    assert not raw.count.flags.writeable
    assert recolored(tmp_path / "a.png", raw, device="cpu") == wanted
    assert len(given) > 4
    assert all(array.flags.c_contiguous for array in given)


@pytest.mark.parametrize("layers", [[{"coloring": "slopes"}], [{"coloring": "rank"}]], ids=str)
def test_deep_views(tmp_path, monkeypatch, layers):
    monkeypatch.setenv("FRACTALS_CACHE_DIR", str(tmp_path))
    drawn = scene(**DEEP, coloring="smooth", layers=layers)
    fractals.compute_to(tmp_path / "a.fz", drawn, device="cpu")
    raw = EscapeData.load(tmp_path / "a.fz")
    assert raw.method == "perturbation"
    assert ("dz" in raw.planes) == (layers[0]["coloring"] == "slopes")
    wanted = fractals.render(drawn, device="cpu").encode()
    assert recolored(tmp_path / "a.png", raw, device="cpu") == wanted
    with pytest.raises(OptionError, match="'stripe_average' needs stripes"):
        fractals.recolor(raw, drawn.replace(coloring="stripe_average"), device="cpu")


def test_a_store_of_layers_goes_on_on_any_device(tmp_path, compiled):
    drawn = scene(size=(20, 17), **LAYERS)
    fractals.compute(drawn, device="python").save(tmp_path / "whole.fz")
    interrupted(tmp_path / "a.fz", drawn, device="python")
    done = fractals.compute_to(tmp_path / "a.fz", drawn, device=compiled)
    assert 0 < done.before < done.tiles
    assert contents(tmp_path / "a.fz") == contents(tmp_path / "whole.fz")


@pytest.mark.parametrize("name", ["dz", "statistics0", "statistics2"])
def test_torn_tiles_are_computed_again(tmp_path, name):
    drawn, path = scene(size=(20, 17), **LAYERS), tmp_path / "a.fz"
    fractals.compute_to(path, drawn, device="python")
    before = contents(path)
    torn = bytearray(before[f"{name}.npy"])
    torn[128 + (len(torn) - 128) // 2] ^= 1
    (path / f"{name}.npy").write_bytes(torn)
    with pytest.raises(SceneError, match=r"tile \d+ of \d+ is damaged: fractals compute .* again"):
        fractals.recolor(EscapeData.load(path), device="python")
    fractals.recolor(
        EscapeData.load(path), drawn.replace(layers=[]), device="python"
    )  # not looked at
    done = fractals.compute_to(path, drawn, device="python")
    assert done.before == done.tiles - 1
    assert contents(path) == before


def test_killed_before_there_was_a_header(tmp_path):
    drawn, path = scene(coloring="smooth", layers=[STRIPES]), tmp_path / "a.fz"
    fractals.compute_to(path, drawn, device="python")
    before = contents(path)
    (path / "header.json").unlink()
    fractals.compute_to(path, drawn, device="python")
    assert contents(path) == before
    fractals.compute_to(path, drawn.replace(layers=[]), device="python", overwrite=True)
    assert sorted(contents(path)) == ["count.npy", "header.json", "tiles.npy", "z.npy"]


# What a stranger reads


def test_the_layout_is_what_it_says(tmp_path):
    drawn = scene(coloring="smooth", layers=[STRIPES, TRAP], precision="float32")
    fractals.compute_to(tmp_path / "a.fz", drawn, device="python")
    raw = fractals.compute(drawn, device="python")
    header = json.loads((tmp_path / "a.fz" / "header.json").read_text("utf-8"))
    statistics = {"statistics0": "<f4", "statistics1": "<f4", "statistics2": "<f4"}
    assert header["planes"] == {"count": "<i4", "z": "<c8", **statistics}
    assert header["statistics"] == list(raw.statistics)
    assert header["statistics"][0] == "stripes,density=3.sum (inside too)"
    for name, file in zip(header["statistics"], statistics, strict=True):
        plane = np.load(tmp_path / "a.fz" / f"{file}.npy")
        assert plane.tobytes() == raw.statistics[name].tobytes()
        assert len(np.unique(plane)) > 9
    again = EscapeData.load(tmp_path / "a.fz")
    assert list(again.planes) == list(raw.planes) == ["count", "z", *header["statistics"]]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"statistics": None}, "header.json is damaged"),
        ({"statistics": 3}, "header.json is damaged"),
        ({"statistics": ["a.b"]}, "don't fit together"),
        ({"statistics": ["a.b", "a.b"]}, "don't fit together"),
        ({"statistics": ["a.b", "z"]}, "don't fit together"),
        ({"statistics": ["a.b", "c.d", "e.f"]}, "don't fit together"),
        ({"planes": {"count": "<i4", "z": "<c16"}}, "don't fit together"),
        (
            {"planes": {"count": "<i4", "z": "<c16", "statistics0": "<f8", "statistics1": "<f4"}},
            "don't fit together",
        ),
    ],
    ids=str,
)
def test_damaged_headers(tmp_path, change, words):
    path, drawn = tmp_path / "a.fz", scene(coloring="stripe_average")
    fractals.compute_to(path, drawn, device="python")
    header = json.loads((path / "header.json").read_text())
    assert header["statistics"] == ["stripes,density=5.sum", "stripes,density=5.last"]
    change_header(path, **change)
    with pytest.raises(SceneError) as refused:
        EscapeData.load(path)
    assert words in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1
    fractals.compute_to(path, drawn, device="python", overwrite=True)
    assert EscapeData.load(path).statistics


# What is lacking


def test_what_is_watched_is_a_difference_and_what_only_colors_is_none(tmp_path):
    drawn, path = scene(size=(20, 17), coloring="smooth", layers=[STRIPES]), tmp_path / "a.fz"
    interrupted(path, drawn, device="python")
    denser = drawn.replace(layers=[{"coloring": {"name": "stripe_average", "density": 4}}])
    everywhere = drawn.replace(layers=[{**TRAP, "coloring": "orbit_trap"}])
    for other, named in (
        (denser, "'stripe_average,density=4' needs stripes,density=4.sum, stripes,density=4.last"),
        (everywhere, "'orbit_trap' needs trap,"),
        (drawn.replace(layers=[{"coloring": "slopes"}]), "'slopes' needs dz too"),
    ):
        with pytest.raises(OptionError) as refused:
            fractals.compute_to(path, other, device="python")
        assert named in str(refused.value)
        assert "overwrite=True" in str(refused.value)
        assert len(str(refused.value).splitlines()) == 1
    layers = [{**STRIPES, "blend": "add", "palette": "ember", "range": [0, 1]}]
    other = drawn.replace(coloring="histogram", density=3, transfer="atan", layers=layers)
    fractals.compute_to(path, other, device="python")
    fractals.compute(drawn, device="python").save(tmp_path / "b.fz")
    assert contents(path) == contents(tmp_path / "b.fz")


def test_lacking_numbers_are_told_in_one_line(tmp_path):
    fractals.compute_to(tmp_path / "a.fz", scene(coloring="stripe_average"), device="python")
    raw = EscapeData.load(tmp_path / "a.fz")
    stripes = {"name": "stripe_average", "density": 9}
    for keys, words in (
        ({"coloring": stripes}, "compute them with the coloring 'stripe_average,density=9'"),
        ({"coloring": "distance"}, "needs dz, which these raw numbers lack: compute them with"),
        ({"layers": [{"coloring": stripes}]}, "compute them from a scene that has this layer"),
        (
            {"coloring": stripes, "layers": [{"coloring": "distance"}]},
            r"'stripe_average,density=9' needs .*, and the coloring 'distance' needs dz, which .*: "
            "compute them from a scene that has these layers",
        ),
        ({"layers": [TRAP]}, r"'orbit_trap,shape=circle' needs trap,.* \(inside too\), which"),
    ):
        with pytest.raises(OptionError, match=words) as refused:
            fractals.recolor(raw, scene(**{"coloring": "smooth", **keys}), device="python")
        assert len(str(refused.value).splitlines()) == 1
    inside = scene(coloring="atom_domains", mask="inside")
    outside = fractals.compute(inside.replace(mask="escaped"), device="python")
    with pytest.raises(OptionError, match=r"\(inside too\).*compute them from a scene"):
        fractals.recolor(outside, inside, device="python")


def test_a_store_that_does_not_fit_its_own_scene_does_not_go_on(tmp_path):
    path, drawn = tmp_path / "a.fz", scene(size=(20, 17), coloring="stripe_average")
    interrupted(path, drawn, device="python")
    header = json.loads((path / "header.json").read_text())
    header["scene"]["color"]["coloring"] = "smooth"
    change_header(path, scene=header["scene"])
    with pytest.raises(FractalsError, match=r"its own scene need count, z: give overwrite=True"):
        fractals.compute_to(path, path, device="python")


def test_too_large_to_be_seen_whole(tmp_path, monkeypatch):
    fractals.compute_to(tmp_path / "a.fz", scene(coloring="smooth"), device="python")
    raw = EscapeData.load(tmp_path / "a.fz")
    monkeypatch.setattr(recoloring, "memory_size", lambda: 16 * 9 * 40)
    with pytest.raises(
        OptionError, match=r"sees the whole picture \(histogram, rank\) takes .* GiB"
    ):
        fractals.recolor(raw, scene(coloring="rank"), device="python")


# The command line


def test_layers_on_the_command_line(run, tmp_path):
    (tmp_path / "a.json").write_text(json.dumps({"color": {"layers": STACK}}))
    scene_file = str(tmp_path / "a.json")
    assert run("compute", scene_file, *SMALL, "-o", "a.fz")[0] == 0
    assert run("show", "a.fz")[2].count("stripes,density=3") == 2
    assert run("render", scene_file, *SMALL, "--palette", "ember", "-o", "a.png")[0] == 0
    assert run("recolor", "a.fz", "--cpu", "--palette", "ember", "-o", "b.png")[0] == 0
    assert Path("a.png").read_bytes() == Path("b.png").read_bytes()
    code, out, err = run("recolor", "a.fz", "--coloring", "stripe_average,density=9", "-o", "c.png")
    assert (code, out) == (2, b"")
    assert one_line(err)
    assert "compute them with the coloring 'stripe_average,density=9'" in err
    code, out, err = run("convert", "a.fz", "a.npz", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == {"output": "a.npz", "lost": []}
    assert run("convert", "a.npz", "b.fz")[0] == 0
    assert contents("a.fz") == contents("b.fz")
