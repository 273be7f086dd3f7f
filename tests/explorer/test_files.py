"""Files of a server: exports that a killed one left, bookmarks that can't be kept; bad files."""

import asyncio
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from support.explorer import process

import fractals
from fractals.errors import FractalsError, SceneError, first_line
from fractals.explorer import jobs, outside
from fractals.explorer.bookmarks import Bookmarks
from fractals.explorer.jobs import ExportedFile, ExportFolder, Jobs, remove_leftovers
from fractals.explorer.pages import uploaded
from fractals.explorer.questions import command_of

posix = pytest.mark.skipif(os.name != "posix", reason="folders are locked on POSIX systems")


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """Have temporary files in an empty folder."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


@posix
def test_leftovers_of_killed_servers_are_removed(temporary, tmp_path):
    code = "from fractals.explorer.jobs import *; f = ExportFolder(); print(f.path)"
    code += "; (f.path / 'a.png').write_text('x'); sys.stdout.flush(); os.kill(os.getpid(), 9)"
    command = [sys.executable, "-c", f"import os, sys; {code}"]
    killed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    left, link = Path(killed.stdout.strip()), temporary / "fractals-export-link"
    assert (left / "a.png").exists()
    (temporary / "fractals-export-file").write_text("not a folder")
    (temporary / "other").mkdir()
    link.symlink_to(tmp_path)
    running = ExportFolder()
    remove_leftovers()
    names = {path.name for path in temporary.iterdir()}
    assert names == {"fractals-export-file", "fractals-export-link", "other", running.path.name}
    running.remove()
    assert not running.path.exists()


@posix
def test_a_server_begins_with_removing_leftovers(temporary, tmp_path):
    left = temporary / "fractals-export-abc"
    left.mkdir()
    with process(tmp_path, "--threads", 1):
        deadline = time.monotonic() + 60
        while left.exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)


def test_exported_files_are_removed_by_age(temporary, monkeypatch):
    made = Jobs("cpu", 1)
    path = made.folder / "a.png"
    path.write_bytes(b"x")
    made.files["a"] = ExportedFile(path, 1)
    made.tidy()
    assert path.exists()
    made.files["a"].since -= jobs.KEPT_SECONDS + 1
    monkeypatch.setattr(jobs, "TIDY_SECONDS", 0.01)

    async def wait():
        tidying = asyncio.create_task(made.tidy_now_and_then())
        while path.exists():
            await asyncio.sleep(0.01)
        tidying.cancel()

    asyncio.run(asyncio.wait_for(wait(), 60))
    made.end()
    assert not made.files


def test_tidying_goes_on_where_a_file_is_away_meanwhile(temporary, monkeypatch):
    """The task that tidies had ended, and no file was removed after that."""
    made = Jobs("cpu", 1)
    (made.folder / "removed").symlink_to(made.folder / "nowhere")
    old = made.folder / "old"
    old.mkdir()
    monkeypatch.setattr(jobs, "TIDY_SECONDS", -1.0)
    made.tidy()
    assert not old.exists()
    made.end()


def test_bookmarks_keep_their_places_and_are_sorted(tmp_path):
    kept = Bookmarks(tmp_path)
    for k, title in enumerate(("old", "middle", "new")):
        before = set(tmp_path.iterdir())
        kept.keep(fractals.load_scene("seahorse"), title)
        (added,) = set(tmp_path.iterdir()) - before
        os.utime(added, (10**9 + k, 10**9 + k))

    def titles():
        return [each["title"] for each in kept.table()]

    assert titles() == ["new", "middle", "old"]
    names = [each["id"] for each in kept.table()]
    kept.rename(names[1], "renamed")
    assert titles() == ["new", "renamed", "old"]
    kept.sort([names[2], names[0], names[1]])
    assert titles() == ["old", "new", "renamed"]
    with pytest.raises(fractals.OptionError, match="have changed"):
        kept.sort(names[:2])


def test_a_bookmark_that_cannot_be_kept_is_one_line(own_server, tmp_path):
    (tmp_path / "bookmarks").write_text("a file in place of the folder")

    async def talk(client):
        await client.say("open", frame=1)
        await client.until("placed")
        await client.say("bookmark", frame=1)
        kept = await client.refused()
        await client.say("bookmark", remove="0" * 32)
        return kept, await client.refused()

    kept, removed = own_server().run(talk)
    assert "bookmarks' can't be written: File exists" in kept
    assert "no such bookmark" in removed
    assert Bookmarks(tmp_path / "bookmarks" / "deeper").table() == []


CONTROL = "\x1b[31m\x07\x9b\u202e"
FILES = {
    "a.par": f"one {{ type={CONTROL} }}",
    "b.map": f"{CONTROL} 0 0",
    "c.toml": f'["{CONTROL}"]',
    "d.json": json.dumps({CONTROL: 1}),
    "e.kfr": f"Re: {CONTROL}\nIm: 0\nZoom: 1\n",
    "f.ugr": f"{CONTROL} {{",
    "g.gpl": f"GIMP Palette\n{CONTROL} 1 2",
    "h.xpf": f"(formula '{CONTROL})",
    f"{CONTROL}.toml": "[[",
    "i.ggr": f"GIMP Gradient\nName: x\n{CONTROL}",
}


@pytest.mark.parametrize("name", FILES, ids=ascii)
def test_errors_about_files_hold_no_control_characters(server, name):
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    own = {"Authorization": f"Bearer {server.token}"}
    path = "/upload?name=" + "".join(f"%{byte:02x}" for byte in name.encode())
    line.request("POST", path, FILES[name].encode(), own)
    answer = json.loads(line.getresponse().read())
    line.close()
    assert answer["error"].isprintable()
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202e]", answer["error"])


LINK = outside.link_of(fractals.load_scene("seahorse"))
DAMAGED = ("nonsense", LINK[:-9], LINK[:40], LINK[:30] + "AAAA" + LINK[34:], "", "%20abc", "é")
LIBRARIES = (
    "zlib",
    "NoneType",
    "load_scene",
    "base64",
    "codec",
    "decompress",
    "BytesIO",
    "char 1",
    "Error",
    "Expect",
)


def test_a_files_name_may_hold_a_number_sign():
    text = fractals.load_scene("seahorse").to_toml().encode()
    assert uploaded("take #3.toml", text)["scene"]["title"] == "Seahorse valley"
    many = b"A { z = pixel: z = z*z + pixel, |z| < 4 }\nB { z = 0: z = z^3 + pixel, |z| < 4 }"
    assert len(uploaded("c#.frm", many)["entries"]) == 2
    assert uploaded("c#.frm", many, "B")["scene"]["title"] == "B"


def test_entries_that_can_not_be_drawn_are_named():
    many = b"A { z = pixel: z = z*z + pixel, |z| < 4 }\nB { z = 0: z = (z, |z| < 4 }"
    told = uploaded("c.frm", many)
    assert [name for name, _ in told["entries"]] == ["A", "B"]
    assert told["refused"] == ["B"]


def test_a_file_of_an_unknown_kind_tells_what_is_read():
    with pytest.raises(SceneError) as error:
        uploaded("a.docx", b"x")
    assert error.value.about["code"] == "unknown_format"
    assert {".toml", ".kfr", ".par"} <= set(error.value.about["name"].split())
    with pytest.raises(SceneError) as error:
        uploaded("a.kfr.txt", b"x")
    assert error.value.about == {}


def test_keys_that_are_not_used_are_told():
    found = uploaded("a.toml", b"[camera]\nlens = 0.1\n")
    assert found["unused"] == "camera.lens: for solids and reliefs; not used here"
    assert uploaded("b.toml", b"[view]\nwidth = 1\n")["unused"] == ""


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_scenes_as_editors_of_windows_write_them(encoding):
    text = 'title = "Été"\n'
    assert uploaded("a.toml", text.encode(encoding))["scene"]["title"] == "Été"


@pytest.mark.parametrize("link", DAMAGED)
def test_a_damaged_link_is_told_in_plain_words(link):
    with pytest.raises(SceneError, match=r"^the link is damaged or cut short: copy the whole"):
        outside.of_link(link)


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.png", b"hello", "a.png: not a PNG, or damaged at its beginning"),
        ("a.jpg", b"hello", "a.jpg: not a JPEG, WebP, AVIF or TIFF, or damaged"),
        ("a.webp", b"RIFF", "a.webp: not a JPEG, WebP, AVIF or TIFF, or damaged"),
        ("a.json", b"{", "a.json: not JSON: line 1, column 2"),
        ("a.json", b"\xff", "a.json: not text in UTF-8"),
        ("a.toml", b"\xff", "a.toml: not text in UTF-8"),
        ("a.toml", b"hello", "a.toml: not TOML: expected '='"),
        ("a.npz", b"", "a.npz: raw numbers are not read here"),
        ("a.fct", b"", "a.fct: parameters of Gnofract 4D are not read"),
        ("a.gif", b"", "a.gif: the parameters inside GIFs of Fractint are not read"),
        ("a.fract", b"", "a.fract: settings of Mandelbulber are not read"),
        ("a.zip", b"", "a.zip: it is compressed: unpack it first"),
        ("a.kfr.txt", b"Re: 1", "a.kfr.txt: rename it to a.kfr: its end tells the format"),
        ("a.json", b"null", "a table of keys was expected, not an empty value"),
        ("a.json", b'{"julia": ["1", {}]}', "julia.1: {}, a table, is not a finite real number"),
        (
            "a.json",
            b'{"color": {"coloring": {"name": "picture_trap", "picture": "a.png"}}}',
            "color.coloring: 'a.png' is no picture: a file that is sent holds it",
        ),
    ],
)
def test_a_bad_file_is_told_in_plain_words(name, data, words):
    with pytest.raises(SceneError) as found:
        uploaded(name, data)
    assert str(found.value).startswith(words)
    assert not any(word in str(found.value) for word in LIBRARIES)


def test_an_unknown_file_is_told_which_ones_are_read_here():
    with pytest.raises(SceneError) as found:
        outside.read_upload("a.docx", b"")
    ends = str(found.value).partition("a file ends in ")[2].split()
    assert ".par" in ends
    assert not {*ends} & {".fz", ".npz", ".exr"}


def test_the_first_line_of_an_error():
    assert first_line(FractalsError("a\x1bb\nsecond")) == "a\\x1bb"
    assert first_line(FractalsError("")) == "failed"


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"max_iterations": 50, "rotation": 30.5}, ("--max-iterations=50", "--rotation=30.5")),
        ({"escape_radius": 4, "julia": (-0.8, 0.1)}, ("--escape-radius=4", "--julia=-0.8,0.1")),
        ({"mirror": True}, ("scene.toml",)),
        ({"stretch": 2}, ("scene.toml",)),
        ({"exposure": 1.0}, ("scene.toml",)),
        ({"formula": "clifford", "brightness": 3}, ("scene.toml",)),
    ],
)
def test_a_command_draws_the_picture_of_its_scene(keys, words):
    """What it did not say was left out: a mirrored view, or a picture of fewer iterations."""
    scene = fractals.load_scene(center=(-0.75, 0.1), width=0.01, title="Mine", **keys)
    said = command_of(scene).split()
    assert all(word in said for word in words)
