"""What one client may use up: messages, bytes, files and bookmarks are bounded."""

import asyncio
import http.client
import socket
import time
from types import SimpleNamespace

import numpy as np
import pytest
import websockets

from fractals.errors import OptionError, SceneError
from fractals.explorer import application, bookmarks, frames, jobs, outside, pages, session
from fractals.explorer.bookmarks import Bookmarks
from fractals.explorer.frames import FrameHistory
from fractals.explorer.jobs import ExportedFile, Job, Jobs
from fractals.explorer.pages import Thumbnails
from fractals.explorer.session import Outbox
from fractals.io.load import load_scene


@pytest.mark.parametrize(("bound", "allowed"), [("MAX_COUNT", 3), ("MAX_BYTES", 30)])
def test_a_client_that_takes_no_messages_is_cut_off(monkeypatch, bound, allowed):
    monkeypatch.setattr(session, bound, allowed)

    async def talk():
        outbox = Outbox(asyncio.get_running_loop(), lambda: None)
        puts = 0
        while not outbox.ending and puts < 100:
            outbox.put("ten bytes.")
            puts += 1
        assert await outbox.take() == ""
        return puts

    assert asyncio.run(talk()) == {"MAX_COUNT": 4, "MAX_BYTES": 5}[bound]


def test_tiles_of_views_and_colors_that_were_given_up_are_not_sent(monkeypatch):
    monkeypatch.setattr(session, "WINDOW", 15)
    room = []

    async def talk():
        outbox = Outbox(asyncio.get_running_loop(), lambda: room.append(not outbox.full))
        for content, *tile in (("words",), ("old", 1, 2), ("paint", 2, 1), ("new", 2, 2)):
            outbox.put(content, *tile)
        assert outbox.full
        outbox.drop(2, 2)
        assert [await outbox.take(), await outbox.take()] == ["words", "new"]
        outbox.put("end")
        assert await outbox.take() == "end"

    asyncio.run(talk())
    assert room == [True]


def test_a_client_that_says_no_hello_is_closed(own_server, monkeypatch):
    monkeypatch.setattr(application, "HELLO_SECONDS", 0.2)
    server = own_server()

    async def wait():
        async with server.connect() as line:
            await asyncio.wait_for(line.recv(), 15)

    with pytest.raises(websockets.ConnectionClosed, match="no hello"):
        asyncio.run(wait())


def test_exported_files_beyond_the_quota_are_removed_oldest_first(tmp_path, monkeypatch):
    monkeypatch.setattr(jobs, "QUOTA", 10)
    made = Jobs("cpu", 1)
    try:
        for name in "abc":
            path = made.folder / f"{name}.png"
            path.write_bytes(b"12345")
            made.files[name] = ExportedFile(path, 5)
        made.tidy()
        assert sorted(made.files) == ["b", "c"]
        assert sorted(path.stem for path in made.folder.glob("*.png")) == ["b", "c"]
    finally:
        made.end()


def test_bookmarks_have_a_number(tmp_path, monkeypatch):
    monkeypatch.setattr(bookmarks, "MAX_KEPT", 2)
    kept, scene = Bookmarks(tmp_path), load_scene("seahorse")
    for title in ("one", "two"):
        kept.keep(scene, title)
    with pytest.raises(OptionError, match="there are 2 bookmarks: remove some"):
        kept.keep(scene, "three")
    kept.remove(kept.table()[0]["id"])
    kept.keep(scene, "three")
    assert len(list(tmp_path.iterdir())) == 2


def test_the_oldest_frames_of_a_client_are_forgotten(monkeypatch):
    monkeypatch.setattr(frames, "MAX_FRAMES", 2)
    history = FrameHistory()
    for frame in (1, 2, 3):
        history.add(frame, f"place {frame}")
    assert [history.place(frame) for frame in (2, 3)] == ["place 2", "place 3"]
    with pytest.raises(OptionError, match="the frame 1 is not kept"):
        history.place(1)


def test_thumbnails_in_memory_have_a_number(monkeypatch):
    drawn = []

    def draw(engine, work, scene):
        drawn.append(scene.title)
        return np.zeros((2, 2, 3), np.uint8)
        yield

    monkeypatch.setattr(pages, "MAX_KEPT", 2)
    monkeypatch.setattr(pages, "draw_preview", draw)
    thumbnails = Thumbnails(SimpleNamespace(submit=lambda work: list(work.make(work))), None)
    for title in "abcbca":
        thumbnails.find(load_scene("seahorse", title=title), lambda data: None)
    assert drawn == list("abca")


@pytest.mark.parametrize(
    ("own", "others", "words"),
    [(1, 0, "one at a time"), (0, jobs.MOST["find"], "busy with others")],
)
def test_searches_have_a_number_for_a_client_and_in_all(own, others, words):
    made, session = (
        Jobs("cpu", 1),
        SimpleNamespace(jobs={k: Job("", kind="find") for k in range(own)}),
    )
    made.running = [Job("", kind="find") for _ in range(own + others)]
    with pytest.raises(OptionError, match=words):
        made.find(session, SimpleNamespace(job=7))
    with pytest.raises(OptionError, match=words):  # of clients that passed the check at once
        made.start(session, 7, {"do": "find"}, load_scene("seahorse"), None)


def test_a_link_is_unpacked_within_a_bound(monkeypatch):
    """A link of 64 KB may hold 64 MB."""
    link = outside.link_of(load_scene("seahorse"))
    assert outside.of_link(link) == load_scene("seahorse")
    monkeypatch.setattr(outside, "MAX_TEXT", 20)
    with pytest.raises(SceneError, match="the link is damaged"):
        outside.of_link(link)


def test_uploads_under_way_share_a_bound(own_server, monkeypatch):
    monkeypatch.setattr(pages, "MAX_ARRIVING", 100)
    server = own_server()
    own = {"Authorization": f"Bearer {server.token}"}

    def upload():
        line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=15)
        line.request("POST", "/upload?name=a.toml", b"[view]\nwidth = 1\n".ljust(50), own)
        status = line.getresponse().status
        line.close()
        return status

    head = f"POST /upload?name=a.toml HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
    head += f"Authorization: Bearer {server.token}\r\nContent-Length: 95\r\n\r\n"
    slow = socket.create_connection(("127.0.0.1", server.port), timeout=15)
    with slow:
        slow.sendall(head.encode() + b"#" * 90)
        deadline = time.monotonic() + 15
        while (found := upload()) == 200:  # until what is slow has arrived
            assert time.monotonic() < deadline
        assert found == 503
    deadline = time.monotonic() + 15
    while upload() == 503:  # until the server sees that the other is gone
        assert time.monotonic() < deadline
