"""What one client may use up: messages, bytes, files and bookmarks are bounded."""

import asyncio
import http.client
import socket
import time

import pytest

from fractals.errors import OptionError
from fractals.explorer import bookmarks, jobs, pages, session
from fractals.explorer.bookmarks import Bookmarks
from fractals.explorer.jobs import ExportedFile, Jobs
from fractals.explorer.session import Outbox
from fractals.io.load import load_scene


@pytest.mark.parametrize(("bound", "allowed"), [("MAX_COUNT", 3), ("MAX_BYTES", 30)])
def test_a_client_that_takes_no_messages_is_cut_off(monkeypatch, bound, allowed):
    monkeypatch.setattr(session, bound, allowed)

    async def talk():
        outbox = Outbox(asyncio.get_running_loop(), lambda: None)
        puts = 0
        while not outbox.overfull and puts < 100:
            outbox.put("ten bytes.")
            puts += 1
        with pytest.raises(ConnectionError):
            await outbox.take()
        return puts

    assert asyncio.run(talk()) == {"MAX_COUNT": 4, "MAX_BYTES": 5}[bound]


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
