"""A film that is killed is resumed, and has the same bytes."""

import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from support.scenes import slow_but

import fractals
from fractals import FractalsError, OptionError
from fractals.films import work, writing
from fractals.films.work import FINISHED, HEADER, SEGMENTS, FilmFolder, crc_of, folder_of, open_work

# Makes a zoom from a strip, a pause and a change of colors, with short segments.
PROGRAM = """
import sys
import fractals
from fractals.films import plan
plan.SEGMENT = 10
film = fractals.film(
    "mandelbrot", size=(48, 26), supersampling=1, max_iterations=100, device="cpu", threads=1,
    progress=lambda done, total: print(done, total, flush=True),
    film={
        "fps": 60,
        "keys": [
            {"at": 0, "width": 4},
            {"at": 1, "width": "0.3", "center": ["-0.743643887037151", "0.131825904205330"]},
            {"at": 1.5},
        ],
        "tracks": {"offset": [[1, 0], [1.5, 1]]},
    },
)
assert [chosen.method for chosen in film.plan().parts] == ["strip", "recolor"]
film.save(sys.argv[1])
"""
FRAMES = 90


def start(path):
    """Start a process that makes the film, and says how many frames are done."""
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(path)], stdout=subprocess.PIPE, text=True
    )


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def whole(path):
    """Make the film in one go; return its digest."""
    with start(path) as process:
        assert process.stdout.read().endswith(f"{FRAMES} {FRAMES}\n")
        assert process.wait() == 0
    return digest(path)


def killed(path, frames, seconds):
    """Begin the film, and kill the process after so many frames and seconds.

    Return whether the film was not finished.
    """
    with start(path) as process:
        for line in process.stdout:
            if int(line.split()[0]) >= frames:
                break
        time.sleep(seconds)
        process.kill()
        return process.wait() == -signal.SIGKILL


def check_kills(tmp_path, kills):
    wanted = whole(tmp_path / "whole.mp4")
    path, dice, ended = tmp_path / "film.mp4", random.Random(18), 0
    for _ in range(kills):
        ended += killed(path, dice.uniform(0, FRAMES), dice.uniform(0, 0.02))
        if path.exists():
            assert digest(path) == wanted
            path.unlink()
    assert whole(path) == wanted
    assert not folder_of(path).exists()
    assert ended > kills / 4


@pytest.mark.skipif(os.name != "posix", reason="kill -9")
def test_two_kills(tmp_path, ffmpeg):
    check_kills(tmp_path, 2)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kill -9")
def test_a_hundred_kills(tmp_path, ffmpeg):
    check_kills(tmp_path, 100)


def test_a_segment_does_not_depend_on_those_before(monkeypatch):
    """A process that resumes begins anywhere: its frames are those of one that made all."""
    monkeypatch.setattr("fractals.films.plan.SEGMENT", 20)
    center = ["-0.743643887037151", "0.131825904205330"]
    keys = [{"at": 0, "width": 4}, {"at": 2, "width": "1e-3", "center": center}]
    options = {"size": (48, 26), "supersampling": 1, "max_iterations": 100, "device": "cpu"}
    film = fractals.film("mandelbrot", film={"fps": 60, "keys": keys}, **options)
    (chosen,) = film.parts
    assert chosen.method == "strip"
    ranges = [range(first, first + 20) for first in range(100, -20, -40)]
    all_frames = film.open(chosen)
    for numbers in ranges:
        for one, two in zip(
            all_frames.frames(numbers), film.open(chosen).frames(numbers), strict=True
        ):
            np.testing.assert_array_equal(one, two)


def test_a_film_is_the_same_on_any_number_of_threads(tmp_path, ffmpeg):
    center = ["-0.743643887037151", "0.131825904205330"]
    keys = [{"at": 0, "width": 4}, {"at": 1, "width": "1e-2", "center": center}, {"at": 1.2}]
    found = {}
    for number in (1, 3):
        film = fractals.film(
            film={"fps": 60, "keys": keys, "tracks": {"offset": [[1, 0], [1.2, 1]]}},
            **{"size": (48, 26), "supersampling": 1, "device": "cpu", "threads": number},
            max_iterations=100,
        )
        film.save(tmp_path / f"{number}.mp4")
        found[number] = digest(tmp_path / f"{number}.mp4")
    assert len(set(found.values())) == 1


@pytest.fixture(scope="module")
def short():
    keys = {"size": (32, 18), "supersampling": 1, "max_iterations": 200, "device": "cpu"}
    return fractals.film("seahorse", cycle=1, fps=12, **keys)


@pytest.fixture
def film(short, monkeypatch):
    monkeypatch.setattr("fractals.films.plan.SEGMENT", 4)
    return fractals.Film(short.scene, short.options)


@pytest.fixture(scope="module")
def uninterrupted(short, tmp_path_factory, ffmpeg):
    """Return the digest of the film made in one go."""
    path = tmp_path_factory.mktemp("whole") / "whole.mp4"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fractals.films.plan.SEGMENT", 4)
        short.save(path)
    return digest(path)


def interrupted(film, path, after):
    """Save a film until some frames are done."""

    def stop(done, total):
        if done == after:
            raise KeyboardInterrupt

    options = film.options.__class__(device="cpu", progress=stop)
    with pytest.raises(KeyboardInterrupt):
        fractals.Film(film.scene, options).save(path)


def test_finished_segments_are_kept(tmp_path, film, uninterrupted):
    path = tmp_path / "film.mp4"
    interrupted(film, path, 7)
    assert not path.exists()
    names = sorted(entry.name for entry in (folder_of(path) / SEGMENTS).iterdir())
    assert [name[:8] for name in names if name[0] != "."] == ["00000000"]
    saved = film.save(path)
    assert (saved.resumed, saved.frames) == (4, 12)
    assert digest(path) == uninterrupted


def test_a_damaged_segment_is_made_again(tmp_path, film, uninterrupted):
    path = tmp_path / "film.mp4"
    interrupted(film, path, 11)
    first, _ = sorted((folder_of(path) / SEGMENTS).glob("0*"))
    data = bytearray(first.read_bytes())
    data[len(data) // 2] ^= 1
    first.write_bytes(data)
    assert film.save(path).resumed == 4
    assert digest(path) == uninterrupted


def segments(path):
    return sorted((folder_of(path) / SEGMENTS).glob("0*"))


def swapped(one, two):
    """Exchange the contents of two segments; each keeps the CRC of its bytes."""
    one.replace(one.with_suffix(".x"))
    two.replace(one.with_name(one.name[:8] + two.name[8:]))
    one.with_suffix(".x").replace(two.with_name(two.name[:8] + one.name[8:]))


def renamed(one, two):
    """Give a segment the place of another one."""
    one.rename(two.with_name(two.name[:8] + one.name[8:]))
    two.unlink()


def exchanged(one, two):
    """Exchange the bytes of two segments, not their names."""
    content = one.read_bytes()
    one.write_bytes(two.read_bytes())
    two.write_bytes(content)


def linked(one, two):
    """Have one segment stand in two places."""
    two.unlink()
    os.link(one, two)


def cut(one, two):
    two.write_bytes(two.read_bytes()[:-100])


@pytest.mark.parametrize(
    "change", slow_but([swapped, exchanged, cut], [swapped, renamed, exchanged, linked, cut])
)
def test_a_segment_is_bound_to_its_place(tmp_path, film, uninterrupted, change):
    path = tmp_path / "film.mp4"
    film.save(path, keep_strip=True)
    path.unlink()
    one, two, _ = segments(path)
    change(one, two)
    assert film.save(path).resumed == (8 if change is cut or change is linked else 4)
    assert digest(path) == uninterrupted


def test_a_segment_of_another_film_is_made_again(tmp_path, film, uninterrupted):
    """Both have the same frames, in files of the same names but for the CRCs."""
    path, other = tmp_path / "film.mp4", tmp_path / "other.mp4"
    film.save(path, keep_strip=True)
    path.unlink()
    fractals.Film(film.scene.replace(density=2.0), film.options).save(other, keep_strip=True)
    for mine, foreign in zip(segments(path), segments(other), strict=True):
        mine.unlink()
        mine.with_name(foreign.name).write_bytes(foreign.read_bytes())
    assert film.save(path).resumed == 0
    assert digest(path) == uninterrupted


@pytest.mark.slow
@pytest.mark.parametrize("valued", [False, True], ids=["colors", "values"])
def test_bands_are_bound_to_their_place(tmp_path, monkeypatch, ffmpeg, valued):
    """Bands that were exchanged, or come from another film, are made again."""
    monkeypatch.setattr("fractals.films.plan.SEGMENT", 20)
    center = ["-0.743643887037151", "0.131825904205330"]
    keys = [{"at": 0, "width": 4}, {"at": 2, "width": "1e-3", "center": center}]
    table = {"fps": 60, "keys": keys, "tracks": {"offset": [[0, 0], [2, 1]]} if valued else {}}
    options = {"size": (48, 26), "supersampling": 1, "device": "cpu"}

    def made(path, **changes):
        film = fractals.film("mandelbrot", film=table, **options, **changes)
        assert [chosen.method for chosen in film.parts] == ["strip"]
        film.save(path, keep_strip=True)
        return sorted(folder_of(path).glob("bands-*/*.npy"))

    path = tmp_path / "film.mp4"
    mine, wanted = made(path), digest(path)
    foreign = made(tmp_path / "other.mp4", density=2.0)
    assert len(mine) > 3
    assert [band.name for band in mine] == [band.name for band in foreign]
    for case in ("exchanged", "foreign", "folder"):
        if case == "exchanged":
            exchanged(mine[0], mine[1])
            exchanged(mine[2], mine[3])
        for one, two in zip(mine, foreign, strict=True) if case == "foreign" else ():
            one.write_bytes(two.read_bytes())
        if case == "folder":
            mine[0].parent.rename(tmp_path / "moved")
            foreign[0].parent.rename(mine[0].parent)
        for segment in segments(path):
            segment.unlink()
        path.unlink()
        assert made(path) == mine
        assert digest(path) == wanted, case


def test_links_in_the_work_folder_lead_nowhere(tmp_path, film, uninterrupted):
    """Files that begin with a dot are drafts, which are removed: in the work folder only."""
    path, home = tmp_path / "film.mp4", tmp_path / "home"
    interrupted(film, path, 7)
    home.mkdir()
    (home / ".profile").write_text("mine")
    (home / "00000000-00000000.mp4").write_text("mine")
    (folder_of(path) / SEGMENTS).rename(tmp_path / "moved")
    (folder_of(path) / SEGMENTS).symlink_to(home)
    assert film.save(path).resumed == 0
    assert digest(path) == uninterrupted
    assert sorted(os.listdir(home)) == [".profile", "00000000-00000000.mp4"]


class Killed(BaseException):
    """Ends a call where `kill -9` would end the process: nothing is tidied up."""


@pytest.mark.parametrize("removed", [0, 1, 2, 3])
def test_a_film_killed_after_it_got_its_name_leaves_no_folder(
    tmp_path, film, monkeypatch, ffmpeg, removed
):
    path = tmp_path / "film.mp4"
    left = removed

    def counted(remove):
        def call(*given, **options):
            nonlocal left
            if not left:
                raise Killed
            left -= 1
            return remove(*given, **options)

        return call

    with monkeypatch.context() as patch:
        # The segments (two calls), then the header, then the mark.
        patch.setattr(work, "_remove", counted(work._remove))
        patch.setattr(work, "_unlink", counted(work._unlink))
        patch.setattr(work.shutil, "rmtree", counted(shutil.rmtree))
        with pytest.raises(Killed):
            film.save(path)
    wanted = digest(path)
    assert folder_of(path).exists()
    if removed < 3:
        assert film.save(path).resumed == 12
    else:  # nothing tells any more that the folder was that of this film
        with pytest.raises(FractalsError, match="exists already"):
            film.save(path)
    assert digest(path) == wanted
    assert os.listdir(tmp_path) == ["film.mp4"]


def test_a_film_is_known_as_finished_before_it_has_its_name(tmp_path, film, monkeypatch, ffmpeg):
    path, synced = tmp_path / "film.mp4", []

    def kill(name, target):
        assert synced == [Path(name)]
        assert (folder_of(path) / FINISHED).exists()
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(writing, "sync", synced.append)
        patch.setattr(writing, "published", kill)
        with pytest.raises(Killed):
            film.save(path)
    assert film.save(path).resumed == 12


def test_a_file_of_the_same_name_is_not_the_film(tmp_path, film, ffmpeg):
    path = tmp_path / "film.mp4"
    film.save(path, keep_strip=True)
    with pytest.raises(FractalsError, match="exists already"):
        film.save(path)
    assert len(segments(path)) == 3  # still kept
    path.write_bytes(b"mine")
    with pytest.raises(FractalsError, match="exists already"):
        film.save(path)
    assert path.read_bytes() == b"mine"
    assert film.save(path, overwrite=True).resumed == 12
    assert os.listdir(tmp_path) == ["film.mp4"]


def test_another_film_is_not_mixed_in(tmp_path, film, ffmpeg):
    path = tmp_path / "film.mp4"
    interrupted(film, path, 7)
    other = fractals.Film(film.scene.replace(density=2.0), film.options)
    with pytest.raises(OptionError, match=r"holds another film begun there \(scene differs\)"):
        other.save(path)
    with pytest.raises(OptionError, match=r"\(video differs\)"):
        film.save(path, bits=10)
    assert other.save(path, overwrite=True).resumed == 0


def test_a_kept_folder_makes_the_film_again_at_once(tmp_path, film, ffmpeg):
    path = tmp_path / "film.mp4"
    film.save(path, keep_strip=True)
    wanted = digest(path)
    assert len(os.listdir(folder_of(path) / SEGMENTS)) == 3
    path.unlink()
    assert film.save(path).resumed == 12
    assert digest(path) == wanted
    assert not folder_of(path).exists()


def test_a_folder_of_other_things_is_left_alone(tmp_path, film, ffmpeg):
    path = tmp_path / "film.mp4"
    folder_of(path).mkdir()
    (folder_of(path) / "mine.txt").write_text("x")
    (folder_of(path) / "parts").symlink_to(tmp_path)
    with pytest.raises(FractalsError, match=r"holds other things \('mine.txt'\)"):
        film.save(path, overwrite=True)
    assert (folder_of(path) / "mine.txt").read_text() == "x"
    assert (folder_of(path) / "parts").is_symlink()


def test_other_things_in_the_folder_stay(tmp_path, film, ffmpeg):
    path = tmp_path / "film.mp4"
    interrupted(film, path, 7)
    (folder_of(path) / "mine.txt").write_text("x")
    film.save(path)
    assert os.listdir(folder_of(path)) == ["mine.txt"]


def test_a_damaged_header_begins_again(tmp_path, film, ffmpeg):
    path = tmp_path / "film.mp4"
    interrupted(film, path, 7)
    header = folder_of(path) / HEADER
    header.write_text(header.read_text().replace("lagoon", "ember").replace('"version": 1', ""))
    assert film.save(path).resumed == 0


def test_one_process_at_a_time(tmp_path):
    path, facts = tmp_path / "film.mp4", {"scene": {}}
    with open_work(path, facts, ".mp4", False) as opened:
        assert isinstance(opened, FilmFolder)
        found = []

        def try_too():
            try:
                with open_work(path, facts, ".mp4", False):
                    pass
            except FractalsError as error:
                found.append(str(error))

        thread = threading.Thread(target=try_too)
        thread.start()
        thread.join()
        assert "another process makes this film" in found[0]


def test_an_encoder_that_outlived_its_process_does_no_harm(tmp_path, film, ffmpeg):
    """ffmpeg goes on after a kill -9 of its parent: it writes to a file that nobody reads."""
    path = tmp_path / "film.mp4"
    interrupted(film, path, 7)
    stray = folder_of(path) / SEGMENTS / ".00000004-0badcafe.mp4"
    with stray.open("wb") as file:
        file.write(b"stray")
        film.save(path, keep_strip=True)
        file.write(b"more")
    assert not stray.exists()
    with open_work(path, {"scene": {}}, ".mp4", True) as one:
        first = one.draft(0)
    with open_work(path, {"scene": {}}, ".mp4", True) as two:
        assert two.draft(0) != first


def test_names_of_segments_hold_their_crc(tmp_path):
    with open_work(tmp_path / "film.mp4", {"scene": {}}, ".mp4", False) as opened:
        opened.draft(8).write_bytes(b"abc")
        path = opened.keep(8)
        assert path.name == f"00000008-{crc_of(path, f'{opened.film} 8'):08x}.mp4"
        assert opened.find(8) == path
        path.write_bytes(b"abd")
        assert opened.find(8) is None
        assert not path.exists()
