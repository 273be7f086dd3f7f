"""Ctrl-C on a picture whose samples are added up: a picture of those so far, which goes on."""

import contextlib
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import PIL.Image
import pytest
from support.command_line import hear_signals
from support.deadline import deadline

import fractals
from fractals.errors import FractalsError, OptionError
from fractals.io.files import HEADER, SCENE_KEY
from fractals.io.tables import read_resolved
from fractals.rendering.options import RenderOptions
from fractals.rendering.preview import Onlooker
from fractals.scatter import rounds
from fractals.space.rounds import Rounds
from fractals.space.trace import open_tracing
from fractals.tools.pixels import read_pixels

pytestmark = pytest.mark.usefixtures("interruptible")

SOLID = {"formula": "mandelbulb", "size": (24, 17), "bounces": 0, "supersampling": 1}
FLAME = {"formula": {"name": "clifford", "a": -1.5}, "size": (60, 40), "supersampling": 1}
PICTURES = {
    "solid": {**SOLID, "samples": 160},
    "solid by need": {**SOLID, "samples": "auto", "quality": "best"},
    "relief": {
        "size": (24, 17),
        "heights": "distance",
        "bounces": 0,
        "samples": 160,
        "supersampling": 1,
        "max_iterations": 60,
    },
    "flame": {**FLAME, "steps": 40, "quality": 60.0},
    "buddhabrot": {"formula": "buddhabrot", "size": (40, 30), "quality": 60.0, "supersampling": 1},
}


@pytest.fixture
def short(monkeypatch):
    """Have rounds of scatter images be one chunk each."""
    monkeypatch.setattr(rounds, "SECONDS", 0.0)
    monkeypatch.setattr(rounds, "LONGEST", 0.0)


class Typist:
    """Types Ctrl-C when a share of the work is done."""

    def __init__(self, share, times=1):
        self.share, self.times = share, times

    def __call__(self, done, total):
        while self.times and done > self.share * total:
            self.times -= 1
            os.kill(os.getpid(), signal.SIGINT)


def drawn(path, typist=None, **keys):
    """Draw a picture; return the lines that were told, or None where it was complete."""
    lines = []
    try:
        fractals.render_to(
            path, device="cpu", keep=True, progress=typist, on_message=lines.append, **keys
        )
    except KeyboardInterrupt:
        return lines
    return None


@pytest.mark.parametrize("name", PICTURES)
def test_it_goes_on_to_the_same_bytes(name, short, tmp_path):
    whole, part = tmp_path / "whole.png", tmp_path / "part.png"
    fractals.render_to(whole, device="cpu", **PICTURES[name])
    before = signal.getsignal(signal.SIGINT)
    shares = []
    for share in (0.55, 0.7) if name == "relief" else (0.1, 0.3):  # its ground is the first half
        lines = drawn(part, Typist(share), **PICTURES[name])
        assert signal.getsignal(signal.SIGINT) is before
        assert len(lines) == 1
        said = re.fullmatch(
            r".*part.png: ([\d.]+) of ([\d.]+) (samples|points|orbits) a pixel are kept; "
            "drawing it again goes on with them",
            lines[0],
        )
        shares.append(float(said[1]) / float(said[2]))
        assert read_resolved(part)["partial"] in lines[0]  # the file tells, too
        assert fractals.load_scene(part) == fractals.load_scene(whole)
        pixels, wanted = (read_pixels(each).astype(float) for each in (part, whole))
        assert 0 < np.abs(pixels - wanted).mean() < 30
        assert pixels.max() > 60
    assert 0 < shares[0] < shares[1] < 1
    assert drawn(part, **PICTURES[name]) is None
    assert part.read_bytes() == whole.read_bytes()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["part.png", "whole.png"]


@pytest.mark.parametrize("suffix", [".jpg", ".webp", ".html"])
def test_other_files_tell_how_many_samples_they_have(suffix, short, tmp_path):
    path = tmp_path / f"a{suffix}"
    *_, line = drawn(path, Typist(0.5), **PICTURES["flame"])
    if suffix != ".html":
        assert read_resolved(path)["partial"] in line
    assert drawn(path, **PICTURES["flame"]) is None
    if suffix != ".html":
        assert "partial" not in read_resolved(path)


def test_an_exr_goes_on_to_the_same_light(tmp_path):
    exr = pytest.importorskip("OpenEXR")

    def planes(path):
        with exr.File(str(path), separate_channels=True) as file:
            return {name: channel.pixels for name, channel in file.channels().items()}

    keys = {**PICTURES["solid"], "relight": True}
    whole, part = tmp_path / "whole.exr", tmp_path / "part.exr"
    fractals.render_to(whole, device="cpu", **keys)
    *_, line = drawn(part, Typist(0.3), **keys)
    assert "of 160 samples a pixel are kept" in line
    expected, found = planes(whole), planes(part)
    assert found.keys() == expected.keys()
    assert 0 < np.abs(found["G"] - expected["G"]).mean() < 0.1
    assert drawn(part, **keys) is None
    found = planes(part)
    for name, plane in expected.items():
        np.testing.assert_array_equal(found[name], plane)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["part.exr", "whole.exr"]


def test_a_second_one_ends_at_once(short, tmp_path):
    path = tmp_path / "a.png"
    assert drawn(path, Typist(0.5, times=2), **PICTURES["flame"]) == []
    assert list(tmp_path.iterdir()) == []  # nothing is left


def test_before_the_first_round_it_ends_as_usual(tmp_path):
    path = tmp_path / "a.png"
    assert drawn(path, Typist(0.0), **PICTURES["solid by need"]) == []
    assert list(tmp_path.iterdir()) == []


def test_without_keep_it_ends_as_usual(tmp_path):
    path = tmp_path / "a.png"
    with pytest.raises(KeyboardInterrupt):
        fractals.render_to(path, device="cpu", progress=Typist(0.5), **PICTURES["flame"])
    assert not path.exists()


def test_a_file_that_was_there_stays(short, tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(b"mine")
    with pytest.raises(FractalsError, match="exists already"):
        drawn(path, Typist(0.5), **PICTURES["flame"])
    assert path.read_bytes() == b"mine"
    assert [each.name for each in tmp_path.iterdir()] == ["a.png"]


class Impatient(Onlooker):
    """One that stops a picture of many rows in the middle of a round."""

    stopped = property(lambda self: next(self.asked) <= 0, lambda self, _: None)

    def __init__(self, scene, asks):
        self.asked = itertools.count(asks, -1)
        super().__init__(scene, None, keeps=True)


def test_a_round_that_is_stopped_in_the_middle_goes_on():
    scene = fractals.load_scene("caldera", size=(48, 48), samples="auto")
    tracing = open_tracing(scene, RenderOptions(device="cpu", threads=1), "store")
    tracing.effort = tracing.effort._replace(most=24)

    def taken(*asks):
        before = None
        for each in (*asks, 10**6):
            light = np.zeros((48, 48, tracing.numbers), np.int64)
            made = Rounds(tracing, light, range(48), before=before)
            made.run(Impatient(scene, each), None)
            before = made.kept()
        assert made.whole
        return made.even()

    expected = taken()
    for asks in (10, 12, 19, 25):
        assert np.array_equal(taken(asks), expected), asks


def test_a_picture_of_another_call_is_not_replaced(short, tmp_path):
    path = tmp_path / "a.png"
    drawn(path, Typist(0.5), **PICTURES["flame"])
    path.write_bytes(b"mine")
    with pytest.raises(FractalsError, match="exists already"):
        drawn(path, **PICTURES["flame"])
    assert path.read_bytes() == b"mine"
    path.unlink()
    assert drawn(path, **PICTURES["flame"]) is None  # the samples go on


def test_samples_of_another_picture_stay(short, tmp_path):
    path = tmp_path / "a.png"
    drawn(path, Typist(0.5), **PICTURES["flame"])
    before = path.read_bytes()
    other = {**PICTURES["flame"], "palette": "ember"}
    with pytest.raises(OptionError, match=r"a.png.bands' keeps samples of another picture"):
        drawn(path, **other)
    assert path.read_bytes() == before
    assert drawn(path, overwrite=True, **other) is None
    fractals.render_to(tmp_path / "b.png", device="cpu", **other)
    assert path.read_bytes() == (tmp_path / "b.png").read_bytes()


def test_samples_of_another_version_stay(tmp_path):
    """Versions with fewer guides of the denoiser, or arrays of rounds, kept what does not go on."""
    path, whole = tmp_path / "a.png", tmp_path / "b.png"
    drawn(path, Typist(0.3), **PICTURES["solid"])
    before, header = path.read_bytes(), tmp_path / "a.png.bands" / HEADER
    facts = json.loads(header.read_bytes())
    version, numbers, arrays = facts["sums"]
    assert (numbers, arrays) == (3, 4)
    older_ones = [version, 2, arrays], [version - 1, numbers, arrays], [version, numbers, 3]
    for older in (version, [version, numbers], *older_ones):
        header.write_text(json.dumps(facts | {"sums": older}))
        with pytest.raises(OptionError, match=r"samples of another picture or version: name anoth"):
            drawn(path, **PICTURES["solid"])
        assert path.read_bytes() == before
    assert drawn(path, overwrite=True, **PICTURES["solid"]) is None
    fractals.render_to(whole, device="cpu", **PICTURES["solid"])
    assert path.read_bytes() == whole.read_bytes()


def test_overwrite_begins_anew(short, tmp_path):
    path = tmp_path / "a.png"
    drawn(path, Typist(0.6), **PICTURES["flame"])
    seen = []
    drawn(path, lambda done, total: seen.append(done / total), overwrite=True, **PICTURES["flame"])
    assert min(seen) < 0.2


def test_damaged_samples_are_computed_again(short, tmp_path):
    path, whole = tmp_path / "a.png", tmp_path / "b.png"
    drawn(path, Typist(0.3), **PICTURES["solid"])
    (kept,) = (tmp_path / "a.png.bands").glob("samples*")
    kept.write_bytes(kept.read_bytes()[:500])
    assert drawn(path, overwrite=True, **PICTURES["solid"]) is None
    fractals.render_to(whole, device="cpu", **PICTURES["solid"])
    assert path.read_bytes() == whole.read_bytes()


def test_a_thread_hears_no_signal(short, tmp_path):
    """Python calls handlers in the main thread alone: a picture of another one is complete."""
    import threading

    path, before = tmp_path / "a.png", signal.getsignal(signal.SIGINT)
    work = threading.Thread(target=lambda: drawn(path, **PICTURES["flame"]))
    work.start()
    work.join()
    assert path.exists()
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"size": (8, 6)}, "keep=True is for solids, reliefs and scatter images"),
        ({**SOLID, "cluster": "local:1"}, "a cluster keeps what it has computed"),
        ({**SOLID, "keep": 1}, "keep=1: give True or False"),
    ],
)
def test_what_can_not_be_kept_is_one_line(keys, said, tmp_path):
    with pytest.raises(OptionError, match=said):
        fractals.render_to(tmp_path / "a.png", **{"keep": True, **keys})
    assert list(tmp_path.iterdir()) == []


def test_an_open_file_can_not_be_kept(tmp_path):
    with (tmp_path / "a.png").open("wb") as file, pytest.raises(OptionError, match="name of a"):
        fractals.render_to(file, keep=True, **SOLID)


@pytest.mark.skipif(os.name != "posix", reason="signals of another process")
def test_the_command_line_ends_with_130(tmp_path):
    """The same command goes on, and shows how far the picture is."""
    words = ["render", "--formula", "mandelbulb", "--size", "60x40", "--bounces", "0", "--cpu"]
    words += ["--samples", "20000", "--keep", "-o", "a.png", "--threads", "1"]
    words += ["--preview", "preview.png"]  # which is there once a round is complete
    command = [sys.executable, "-m", "fractals", *words]
    with deadline(120):
        process = subprocess.Popen(
            command, cwd=tmp_path, stderr=subprocess.PIPE, preexec_fn=hear_signals
        )
        folder = tmp_path / "a.png.bands"
        while not (tmp_path / "preview.png").exists():
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    lines = [line for line in err.decode().splitlines() if line]
    assert process.returncode == 130
    assert "samples a pixel are kept; drawing it again goes on with them" in lines[-2]
    assert lines[-1] == "fractals: interrupted"
    with PIL.Image.open(tmp_path / "a.png") as picture:
        table = json.loads(picture.text[SCENE_KEY])
    assert table["resolved"]["partial"] in lines[-2]
    with contextlib.suppress(OSError):
        assert (folder / "samples.npz").stat().st_size > 60 * 40 * 24
