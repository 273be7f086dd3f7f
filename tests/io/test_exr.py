"""EXRs of raw numbers: the channels are what the oracle says, and are read again."""

import json
import math
import os
import re
import sys
import threading
import time

import mpmath
import numpy as np
import pytest
from mpmath import mpc, mpf
from oracle import naive
from support.scenes import scene

import fractals
from fractals import EscapeData, InputError, OptionError, catalog
from fractals.errors import FractalsError, to_install
from fractals.io.raw import exr

try:
    import OpenEXR
except ImportError:
    OpenEXR = None

with_library = pytest.mark.skipif(OpenEXR is None, reason="OpenEXR is not installed (extra exr)")
DEEP = {
    "center": ["-1.7685736562992577", "-0.0009642968513582"],
    "width": "1e-13",
    "max_iterations": 3000,
}
VIEWS = [
    ("mandelbrot", {"center": ["-0.75", "0.11"], "width": "0.02", "rotation": 30}),
    ("mandelbrot", {"julia": ["-0.8", "0.156"], "supersampling": 2, "escape_radius": 1000}),
    ("multibrot", {"formula": {"name": "multibrot", "power": 5}, "width": "2.6"}),
    ("burning_ship", {"formula": "burning_ship", "center": ["-1.76", "-0.03"], "width": "0.1"}),
    ("mandelbrot", DEEP),
]


def oracle(name, drawn, i, j):
    """Return N, NF, T, DEX and DEY of a sample, by mpmath alone: |DE| and its way by differences.

    DEX and DEY are z log|z| / z', where z' conj(z) / |z| is how |z| grows to the right and upwards
    in the picture, a pixel of the EXR.
    """
    plan, n = fractals.plan(drawn), drawn.image.supersampling
    size, power = drawn.image.size, drawn.make_formula().degree
    radius = drawn.iteration.escape_radius
    limit = fractals.compute(drawn, device="cpu").max_iterations
    width = mpf(plan.width.numerator) / plan.width.denominator
    center = [mpf(part.numerator) / part.denominator for part in plan.center]
    julia = None if drawn.julia is None else mpc(*map(mpf, drawn.julia))

    def point(right, up):
        at = naive.position(i, j, size, center, width, drawn.view.rotation, n)
        turn = mpmath.expjpi(mpf(drawn.view.rotation) / 180)
        return at + turn * mpc(right, up) * width / size[0] / n

    count, z = naive.sample(name, point(0, 0), julia, limit, radius, power)
    if count == limit:
        return None
    h = mpf("1e-12")
    length = lambda right, up: abs(naive.after(name, point(right, up), julia, count, power))  # noqa: E731
    gx = (length(h, 0) - length(-h, 0)) / (2 * h)
    gy = (length(0, h) - length(0, -h)) / (2 * h)
    away = abs(z) * mpmath.log(abs(z)) / mpc(gx, -gy)
    smooth = naive.smooth_count(count, z, radius, power)
    turns = mpmath.arg(z) / (2 * mpmath.pi) % 1
    whole = mpmath.floor(smooth)
    return int(whole), float(smooth - whole), float(turns), float(away.real), float(away.imag)


@pytest.mark.parametrize(("name", "keys"), VIEWS, ids=str)
def test_channels_are_the_oracles(name, keys):
    drawn = scene(**{"max_iterations": 200, "escape_radius": 256, "size": (12, 8), **keys})
    found = exr.channels(fractals.compute(drawn, device="cpu"))
    n = drawn.image.supersampling
    assert {key: part.dtype.name for key, part in found.items()} == {
        "N": "uint32",
        **dict.fromkeys(("NF", "T", "DEX", "DEY"), "float32"),
    }
    escaped = 0
    for j in range(0, 8 * n, 3):
        for i in range(0, 12 * n, 5):
            wanted = oracle(name, drawn, i, j)
            have = [float(found[key][j, i]) for key in ("N", "NF", "T", "DEX", "DEY")]
            if wanted is None:
                assert have == [2**32 - 1, 0, 0, 0, 0]
                continue
            escaped += 1
            assert have[0] == wanted[0] + 1024
            assert have[1:] == pytest.approx(wanted[1:], rel=2e-5, abs=1e-6)
    assert escaped > 3


def test_distances_beyond_float32_are_its_greatest_number():
    """Where a formula of sines jumps, distances exceed it: a warning of NumPy was printed."""
    raw = fractals.compute(size=(12, 8), supersampling=1, coloring="distance", device="cpu")
    raw.dz[~raw.inside] *= 1e-60
    found = exr.channels(raw)
    most = np.finfo(np.float32).max
    away = np.maximum(np.abs(found["DEX"]), np.abs(found["DEY"]))
    assert (away[~raw.inside] == most).all()


def test_fractions_and_turns_stay_below_one():
    drawn = scene(size=(60, 40), escape_radius=2, julia=["0", "0"], width="4")
    found = exr.channels(fractals.compute(drawn, device="cpu"))
    for key in ("NF", "T"):
        assert 0 <= found[key].min() <= found[key].max() < 1
        assert np.isfinite(found[key]).all()


def test_without_dz_there_is_no_distance():
    raw = fractals.compute(scene(coloring="smooth"), device="python")
    assert set(exr.channels(raw)) == {"N", "NF", "T"}


@with_library
@pytest.mark.parametrize(("name", "keys"), VIEWS, ids=str)
def test_recolored_from_an_exr_is_as_good_as_rendered(tmp_path, name, keys):
    drawn = scene(**{"max_iterations": 200, "escape_radius": 256, "size": (60, 40), **keys})
    raw = fractals.compute(drawn, device="cpu")
    raw.save(tmp_path / "a.exr")
    again = EscapeData.load(tmp_path / "a.exr")
    assert (again.scene, again.max_iterations, again.count_offset) == (
        drawn,
        raw.max_iterations,
        raw.count_offset,
    )
    assert (again.method, again.exact) == (raw.method, False)
    escaped = raw.count < raw.max_iterations
    assert np.array_equal(again.count < again.max_iterations, escaped)
    assert np.mean(again.count == raw.count) > 0.99
    assert np.allclose(np.angle(again.z[escaped] / raw.z[escaped]), 0, atol=1e-5)
    seen = []
    for coloring in catalog.names("coloring"):
        one = catalog.load("coloring", coloring)()
        if one.statistic or one.ends == "converging":
            continue
        colors = drawn.replace(coloring=coloring, palette="lagoon", density=0.3)
        wanted = fractals.recolor(raw, colors, device="cpu").pixels.astype(int)
        pixels = fractals.recolor(again, colors, device="cpu").pixels
        assert np.mean(abs(wanted - pixels) > 1) < 0.002, coloring
        seen.append(len(np.unique(pixels.reshape(-1, 3), axis=0)))
    assert np.median(seen) > 20
    assert len(seen) >= 12


@with_library
def test_what_other_programs_read(tmp_path):
    """Read by the library alone, as they do."""
    raw = fractals.compute(scene(size=(30, 20)), device="cpu")
    raw.save(tmp_path / "a.exr")
    with OpenEXR.File(str(tmp_path / "a.exr"), separate_channels=True) as file:
        attributes = dict(file.header())
        kinds = {key: part.pixels.dtype.name for key, part in file.channels().items()}
    assert kinds == {"N": "uint32", **dict.fromkeys(("NF", "T", "DEX", "DEY"), "float32")}
    assert (attributes["Iterations"], attributes["IterationsBias"]) == (60, 1024)
    assert json.loads(attributes["fractals:scene"])["image"]["size"] == [30, 20]


def write(path, channels, **attributes):
    header = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage, **attributes}
    with OpenEXR.File(header, channels) as file:
        file.write(str(path))


@with_library
@pytest.mark.parametrize("wide", [False, True], ids=["N", "N0 and N1"])
def test_files_of_other_programs(tmp_path, wide):
    count = np.arange(12, dtype=np.uint32).reshape(3, 4) + 1024 + 7
    count[1, 2] = 2**32 - 1
    channels = {"N0" if wide else "N": count, "NF": np.full((3, 4), 0.25, np.float32)}
    if wide:
        channels["N1"] = np.where(count == 2**32 - 1, count, 0).astype(np.uint32)
    channels["T"] = np.full((3, 4), 0.5, np.float32)
    channels["R"] = np.zeros((3, 4), np.float16)
    facts = {"KallesFraktaler2+": "Re: 0", "Iterations": "100", "IterationsBias": 1024}
    write(tmp_path / "a.exr", channels, **facts)
    raw = EscapeData.load(tmp_path / "a.exr")
    wanted = np.arange(12).reshape(3, 4) + 7
    wanted[1, 2] = 100
    assert raw.count.tolist() == wanted.tolist()
    assert raw.dz is None
    assert (raw.max_iterations, raw.scene.image.size) == (100, (4, 3))
    length = abs(raw.z[0, 0])
    smooth = 7 + 1 - math.log2(math.log(length) / math.log(raw.scene.iteration.escape_radius))
    assert smooth == pytest.approx(7.25)
    assert np.angle(raw.z[0, 0]) == pytest.approx(math.pi)
    assert fractals.recolor(raw, device="cpu").pixels.shape == (3, 4, 3)


@with_library
def test_the_part_that_holds_counts_is_read(tmp_path):
    header = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}
    zeros = np.zeros((2, 3), np.float32)
    counts = np.arange(6, dtype=np.uint32).reshape(2, 3) + 9
    beauty = OpenEXR.Part(dict(header), {"R": zeros, "G": zeros, "B": zeros}, "beauty")
    left = OpenEXR.Part({**header, "Iterations": 50}, {"N": counts}, "left")
    right = OpenEXR.Part({**header, "Iterations": 60}, {"N": counts}, "right")
    with OpenEXR.File([beauty, left]) as file:
        file.write(str(tmp_path / "one.exr"))
    raw = EscapeData.load(tmp_path / "one.exr")
    assert (raw.count.tolist(), raw.max_iterations) == (counts.tolist(), 50)
    with OpenEXR.File([left, beauty, right]) as file:
        file.write(str(tmp_path / "two.exr"))
    with pytest.raises(InputError, match="2 of its 3 parts hold counts: save one alone"):
        EscapeData.load(tmp_path / "two.exr")


@with_library
@pytest.mark.parametrize(
    ("channels", "facts", "words"),
    [
        ({"NF": np.float32}, {}, "no channel N of counts, of uint32: it has NF of float32"),
        ({"N": np.float32}, {}, "no channel N of counts, of uint32: it has N of float32"),
        ({"N": np.uint32}, {"IterationsBias": "x"}, "IterationsBias is no whole number"),
        ({"N": np.uint32}, {"Iterations": 3}, "can't be read"),
        ({"N": np.uint32}, {"fractals:scene": "{"}, "the scene in it is damaged"),
        ({"N": np.uint32}, {"fractals:scene": '{"image": {"size": [9, 9]}}'}, "says otherwise"),
        ({"N0": np.uint32, "N1": np.uint32}, {}, "can't be read"),
    ],
    ids=str,
)
def test_exrs_of_something_else(tmp_path, channels, facts, words, capfd):
    write(tmp_path / "a.exr", {k: np.full((2, 3), 5, d) for k, d in channels.items()}, **facts)
    with pytest.raises(InputError) as refused:
        EscapeData.load(tmp_path / "a.exr")
    assert words in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1
    assert capfd.readouterr() == ("", "")


@with_library
def test_damaged_exrs(tmp_path, capfd):
    fractals.compute(scene(), device="python").save(tmp_path / "a.exr")
    whole = (tmp_path / "a.exr").read_bytes()
    for content in (b"", b"junk", whole[:4], whole[:300], whole[:-20], whole[:-1]):
        (tmp_path / "b.exr").write_bytes(content)
        with pytest.raises(InputError, match=r"b\.exr: (not an EXR|the EXR is damaged)"):
            EscapeData.load(tmp_path / "b.exr")
    with pytest.raises(InputError, match="no such file"):
        EscapeData.load(tmp_path / "nosuch.exr")
    assert capfd.readouterr() == ("", "")  # stdout may carry a picture, and our line says all


@with_library
def test_what_others_print_while_a_damaged_exr_is_read_is_kept(tmp_path, monkeypatch, capfd):
    class Loud(OpenEXR.File):
        def __init__(self, *arguments, **keywords):
            os.write(2, b"of another thread\n")
            super().__init__(*arguments, **keywords)

    fractals.compute(scene(), device="python").save(tmp_path / "a.exr")
    (tmp_path / "b.exr").write_bytes((tmp_path / "a.exr").read_bytes()[:-20])
    monkeypatch.setattr(OpenEXR, "File", Loud)
    with pytest.raises(InputError, match="the EXR is damaged"):
        EscapeData.load(tmp_path / "b.exr")
    said = set(capfd.readouterr().err.splitlines())
    assert said == {"of another thread"}
    assert os.fstat(2).st_ino  # it is open again


def test_stdout_is_the_same_after_two_threads_have_read():
    before, entered, leave = sys.stdout, threading.Event(), threading.Event()

    def first():
        with exr._quiet():
            entered.set()
            assert leave.wait(60)

    def second():
        with exr._quiet():
            pass

    threads = [threading.Thread(target=each) for each in (first, second)]
    threads[0].start()
    assert entered.wait(60)
    threads[1].start()
    time.sleep(0.1)  # until it waits for the first
    leave.set()
    for thread in threads:
        thread.join()
    assert sys.stdout is before


@with_library
@pytest.mark.parametrize(
    "said",
    [
        "No space left on device\nmore",
        'Failed to write pixel data to image file "/proc/self/fd/3". No space left on device.',
    ],
)
def test_an_exr_that_cannot_be_written(tmp_path, monkeypatch, said):
    raw = fractals.compute(scene(), device="python")

    def full(self, name):
        raise RuntimeError(said)

    monkeypatch.setattr(OpenEXR.File, "write", full)
    with pytest.raises(FractalsError, match=r"a\.exr' can't be written: No space left on device$"):
        raw.save(tmp_path / "a.exr")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "view", [{"mirror": True}, {"stretch": 2}, {"projection": "exponential"}], ids=str
)
def test_views_whose_directions_others_would_not_know_are_refused(tmp_path, view):
    raw = fractals.compute(scene(size=(6, 4), **view), device="cpu")
    with pytest.raises(OptionError, match="mirrored, stretched or projected"):
        raw.save(tmp_path / "a.exr")


def test_colorings_that_watch_orbits_are_refused():
    raw = fractals.compute(scene(), device="python")
    raw.exact = False
    fractals.recolor(raw, device="python")
    words = (
        r"'stripe_average,density=3' needs stripes,.*, which an EXR does not keep: compute a store"
    )
    with pytest.raises(OptionError, match=words):
        fractals.recolor(
            raw,
            scene(coloring={"name": "stripe_average", "density": 3}),
            device="python",
        )


@pytest.mark.parametrize("suffix", [".fz", ".npz"])
def test_numbers_of_an_exr_do_not_become_exact(tmp_path, suffix):
    raw = fractals.compute(scene(), device="python")
    raw.exact = False
    with pytest.raises(OptionError, match="to the last digit"):
        raw.save(tmp_path / f"a{suffix}")
    assert list(tmp_path.iterdir()) == []


def test_without_the_library(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "OpenEXR", None)
    raw = fractals.compute(scene(), device="python")
    for attempt in (raw.save, EscapeData.load):
        with pytest.raises(FractalsError, match=re.escape(to_install("exr"))):
            attempt(tmp_path / "a.exr")
    assert list(tmp_path.iterdir()) == []
