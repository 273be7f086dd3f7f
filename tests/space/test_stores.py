"""Stores of solids: resumed, continued, shown again; the same bytes however they came."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from support.stores import contents

import fractals
from fractals.cli.verbs import run_verb as main
from fractals.errors import InputError, OptionError, SceneError
from fractals.io.files import HEADER
from fractals.io.stores.store import checksum
from fractals.space import plan, trace
from fractals.space.store import SUMS
from fractals.tools.pixels import read_pixels

TABLE = {"formula": {"name": "mandelbulb"}, "light": {"bounces": 1}}
SMALL = {"size": (30, 24), "samples": 6, "supersampling": 1, "device": "cpu"}


def stopped_after(calls):
    """Return a progress that interrupts."""
    left = [calls]

    def stop(done, total):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt

    return stop


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return the store as one process computes it at once."""
    path = tmp_path_factory.mktemp("whole") / "whole.fz"
    fractals.compute_to(path, TABLE, **SMALL)
    return path


def test_what_compute_returns_is_saved_as_a_store(whole, tmp_path):
    fractals.compute(TABLE, **SMALL).save(tmp_path / "a.fz")
    assert contents(tmp_path / "a.fz") == contents(whole)


def test_a_store_is_shown_without_tracing(whole):
    picture = fractals.render(TABLE, **SMALL)
    shown = fractals.recolor(whole, device="cpu")
    assert np.array_equal(shown.pixels, picture.pixels)
    assert shown.timings["iterate"] == 0 < shown.timings["color"]
    other = fractals.render(TABLE, **SMALL, exposure=2.0, bits=16)
    assert np.array_equal(
        fractals.recolor(whole, exposure=2.0, bits=16, device="cpu").pixels, other.pixels
    )
    raw = fractals.compute(TABLE, **SMALL)
    assert np.array_equal(fractals.recolor(raw, device="cpu").pixels, picture.pixels)
    for keys, name in (
        ({"sun": (0, 0, 1)}, r"light\.sun"),
        ({"palette": "ember"}, r"color\.palette"),
        ({"position": (3, 0, 0)}, r"camera\.position"),
    ):
        with pytest.raises(OptionError, match=f"{name} differs: compute the new scene"):
            fractals.recolor(raw, **keys, device="cpu")


def test_a_store_with_the_shares_of_sources_is_lit_anew(tmp_path, whole):
    lit = {"sun_power": 9.0, "sun_color": "#ff8060", "sky": ("#102040", "#203060", "#804020")}
    path = tmp_path / "lit.fz"
    fractals.compute_to(path, TABLE, **{**SMALL, "samples": 2}, relight=True)
    fractals.compute_to(path, TABLE, **SMALL, relight=True)  # goes on
    assert fractals.plan(TABLE, **SMALL, relight=True).file_size == 6 * 24 * 24 * 30
    picture = fractals.render(TABLE, **SMALL)
    assert np.array_equal(fractals.recolor(path, device="cpu").pixels, picture.pixels)
    for keys in (lit, {"sun_power": 0}, {"emission": 3.0, "emission_color": "#40ff40"}):
        shown = fractals.recolor(path, **keys, bits=16, device="cpu").pixels
        traced = fractals.render(TABLE, **SMALL, **keys, bits=16).pixels
        assert not np.array_equal(shown, fractals.recolor(path, bits=16, device="cpu").pixels)
        assert np.abs(shown.astype(int) - traced).max() < 4
    file = tmp_path / "lit.png"
    given = ["--sun-power", "9", "--sun-color", "#ff8060", "--sky", ",".join(lit["sky"])]
    assert main(["recolor", str(path), *given, "-o", str(file)]) == 0
    expected = fractals.recolor(path, **lit, device="cpu").pixels
    assert np.array_equal(read_pixels(file), expected)
    night = fractals.load_scene({"light": {"sky": ("#000000",) * 3}}, sun_power=0)
    assert fractals.recolor(path, night, device="cpu").pixels.max() == 0
    assert main(["recolor", str(whole), *given, "-o", str(tmp_path / "no.png")]) == 2
    for option in ("--sun=0,0,1", "--haze=1"):  # what an option says is never left out
        assert main(["recolor", str(path), option, "-o", str(tmp_path / "no.png")]) == 2
    for keys in ({"sun": (0, 0, 1)}, {"gloss": 0.5}, {"haze": 1.0}):
        (name,) = keys
        with pytest.raises(OptionError, match=rf"emission_color: light\.{name} differs: compute"):
            fractals.recolor(path, **keys, device="cpu")
    with pytest.raises(OptionError, match=r"with relight=True: light\.sun_power differs: compute"):
        fractals.recolor(whole, sun_power=1, device="cpu")
    with pytest.raises(OptionError, match=r"light\.relight differs: name another store"):
        fractals.compute_to(whole, TABLE, **SMALL, relight=True)


def test_more_samples_continue_a_store(tmp_path, whole):
    path = tmp_path / "a.fz"
    for samples in (2, 5, 6):
        done = fractals.compute_to(path, TABLE, **{**SMALL, "samples": samples})
        assert (done.tiles, done.unit) == (24, "rows")
    assert contents(path) == contents(whole)
    done = fractals.compute_to(path, TABLE, **{**SMALL, "samples": 3})  # it keeps what it has
    assert done.before == done.tiles
    assert contents(path) == contents(whole)
    fractals.compute_to(path, TABLE, overwrite=True, **{**SMALL, "samples": 1})
    assert sorted(contents(path)) == [HEADER, "sums-1-1-24.npy"]


def test_an_interrupted_store_goes_on(tmp_path, whole):
    path = tmp_path / "a.fz"
    for threads in (1, 2, 1):
        with pytest.raises(KeyboardInterrupt):
            fractals.compute_to(path, TABLE, **SMALL, threads=threads, progress=stopped_after(4))
    with pytest.raises(OptionError, match="of 24 rows are there: compute the store first"):
        fractals.recolor(path, device="cpu")
    assert 0 < fractals.compute_to(path, path, device="cpu").before < 24
    assert contents(path) == contents(whole)


def test_more_samples_are_asked_for_while_some_rows_lack_the_last_ones(tmp_path, whole):
    path = tmp_path / "a.fz"
    fractals.compute_to(path, TABLE, **{**SMALL, "samples": 2})
    with pytest.raises(KeyboardInterrupt):
        fractals.compute_to(path, TABLE, **{**SMALL, "samples": 4}, progress=stopped_after(6))
    header = json.loads((path / HEADER).read_text())
    assert (header["samples"], header["before"]) == (4, 2)
    assert 0 < header["chunks"] < 24
    uneven = fractals.recolor(path, device="cpu").pixels.astype(float)
    expected = fractals.render(TABLE, **SMALL).pixels
    assert np.abs(uneven - expected).mean() < 25
    fractals.compute_to(path, TABLE, **SMALL)
    assert contents(path) == contents(whole)


def test_another_device_goes_on(tmp_path, monkeypatch):
    for module in (plan, trace):  # plain Python takes a millisecond for a ray
        monkeypatch.setattr(module, "PROBE", 5)
    one, other = tmp_path / "one.fz", tmp_path / "other.fz"
    tiny = {**SMALL, "size": (8, 6), "samples": 2, "bounces": 0}
    fractals.compute_to(one, TABLE, **tiny)
    fractals.compute_to(other, TABLE, **{**tiny, "samples": 1, "device": "python"})
    fractals.compute_to(other, TABLE, **tiny)
    assert contents(other) == contents(one)


def test_a_killed_process_leaves_a_store_that_goes_on(tmp_path, whole):
    path, dice = tmp_path / "a.fz", random.Random(6)
    keys = {**SMALL, "threads": 1}
    code = (
        "import time, fractals; from fractals.rendering.stores import sums as store\n"
        "play = store.write_total\n"
        "def slow(*given): play(*given); print('.', flush=True); time.sleep(0.01)\n"
        "store.write_total = slow\n"
        f"fractals.compute_to({str(path)!r}, {TABLE!r}, **{keys!r})"
    )
    for _ in range(2):
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        process.stdout.read(4)  # some goes are written
        time.sleep(dice.uniform(0, 0.03))
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    fractals.compute_to(path, TABLE, **SMALL)
    assert contents(path) == contents(whole)


def test_parts_add_up_to_the_bytes_of_one_machine(tmp_path, whole):
    path = tmp_path / "a.fz"
    left = [fractals.compute_to(path, TABLE, part=(part, 3), **SMALL).missing for part in (2, 0, 1)]
    assert left == [16, 8, 0]
    fractals.compute_to(path, path, device="cpu")
    assert contents(path) == contents(whole)


def test_light_of_an_older_program_is_shown_and_not_continued(tmp_path):
    """Its rays ended elsewhere, and its header has no version of the sums."""
    path = tmp_path / "a.fz"
    fractals.compute_to(path, TABLE, **SMALL)
    drawn = fractals.recolor(path, device="cpu").pixels
    header = json.loads((path / HEADER).read_text("utf-8"))
    assert header.pop("sums") == SUMS
    del header["checksum"]
    (path / HEADER).write_text(json.dumps({**header, "checksum": checksum(header)}))
    with pytest.raises(
        OptionError, match=f"sums of version 1, and this program adds up version {SUMS}"
    ):
        fractals.compute_to(path, TABLE, **SMALL)
    assert np.array_equal(fractals.recolor(path, device="cpu").pixels, drawn)


def test_what_is_refused(tmp_path, whole):
    with pytest.raises(OptionError, match=r"of another scene: light\.haze differs: name another"):
        fractals.compute_to(whole, TABLE, **SMALL, haze=1.0)
    text, dice, refused = (whole / HEADER).read_bytes(), random.Random(3), 0
    damaged = tmp_path / "a.fz"
    damaged.mkdir()
    (sums,) = whole.glob("sums-*.npy")
    (damaged / sums.name).write_bytes(sums.read_bytes())
    for _ in range(100):
        data = bytearray(text)
        for _ in range(dice.randint(1, 3)):
            data[dice.randrange(len(data))] = dice.randrange(256)
        (damaged / HEADER).write_bytes(data)
        try:
            fractals.recolor(damaged, device="cpu")
        except InputError:
            refused += 1
    assert refused > 95
    data = bytearray(sums.read_bytes())
    data[5000] ^= 1
    (damaged / sums.name).write_bytes(data)
    (damaged / HEADER).write_bytes(text)
    with pytest.raises(SceneError, match="its sums are damaged"):
        fractals.recolor(damaged, device="cpu")


def test_the_command_line_keeps_and_shows_light(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small = ["--size", "30x24", "--samples", "2", "--bounces", "0", "--cpu"]
    assert main(["compute", "--formula", "mandelbulb", *small, "-o", "a.fz"]) == 0
    assert main(["compute", "a.fz", "--samples", "4", "--cpu"]) == 0
    assert main(["recolor", "a.fz", "-o", "plain.png", "--cpu"]) == 0
    assert main(["render", "plain.png", "-o", "again.png", "--cpu"]) == 0
    shown, drawn = (read_pixels(f"{name}.png", 8, (30, 24)) for name in ("plain", "again"))
    assert np.array_equal(shown, drawn)
    assert main(["verify", "plain.png"]) == 0
    capsys.readouterr()
    assert main(["show", "a.fz"]) == 0
    assert "4 samples a pixel in 24 of 24 rows" in capsys.readouterr().err
    assert main(["compute", "a.fz", "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["file"] == 30 * 24 * 24
