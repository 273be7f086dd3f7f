"""Who comes in: cookies over a restart, addresses of the terminal, and pages of refusals."""

import asyncio
import contextlib
import http.client
import os
import re
import stat
import subprocess
import sys
import time

import pytest
import websockets
from support.command_line import hear_signals
from support.explorer import process

import fractals
from fractals.explorer import gate, server
from fractals.explorer.application import Explorer
from fractals.explorer.gate import Visitors
from fractals.explorer.options import ExploreOptions
from fractals.explorer.session import Rates

PATIENCE = 60


@pytest.fixture
def state(tmp_path):
    return tmp_path / "state"


def made(folder=None, scope="8000 127.0.0.1"):
    found = Visitors(folder)
    found.scope = scope
    return found


def test_a_server_that_is_started_again_knows_its_visitors(state):
    before = made(state)
    cookie = before.admit(before.invite())
    assert before.known(cookie)
    after = made(state)
    assert after.known(cookie) == before.known(cookie)
    assert after.port() == before.port()
    assert not made(state, "8000 127.0.0.1 True").known(cookie)  # it is read-only, say
    assert not made(None).known(cookie)
    path = state / gate.NAME
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 33])
def test_a_damaged_secret_is_made_anew(state, content):
    made(state)
    (state / gate.NAME).write_bytes(content)
    cookie = (first := made(state)).admit(first.invite())
    assert made(state).known(cookie)


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_a_secret_that_others_could_have_written_is_not_used(state, capfd):
    first = made(state)
    cookie = first.admit(first.invite())
    (state / gate.NAME).chmod(0o666)
    assert not made(state).known(cookie)


def test_without_a_folder_visitors_end_with_the_server(tmp_path, capfd):
    (tmp_path / "file").write_text("")
    found = made(tmp_path / "file" / "state")
    assert found.known(found.admit(found.invite()))
    err = capfd.readouterr().err
    assert err.count("\n") == 1
    assert "a server that is started again knows no visitor" in err


def test_cookies_are_one_visitors_and_end(state, monkeypatch):
    found = made(state)
    one, two = (found.admit(found.invite()) for _ in range(2))
    names = {found.known(one), found.known(two)}
    assert len(names) == 2
    name, since, signature = one.split(".")
    later = f"{int(since, 16) + 1:x}"
    forged = (
        *(f"{name}.{later}.{signature}", f"x{name}.{since}.{signature}", f"{name}.{since}."),
        *(signature, "", "..", one + "0", one[:-1], "\udcff" + one),
    )
    for cookie in forged:
        assert not found.known(cookie)
    monkeypatch.setattr(time, "time", lambda: int(since, 16) + gate.AGE + 1)
    assert not found.known(one)


def test_addresses_open_once_in_any_order():
    found = made()
    first, *others = (found.invite() for _ in range(gate.OPEN + 1))
    assert not found.admit(first)  # the oldest of too many
    for token in reversed(others):
        assert found.admit(token)
        assert not found.admit(token)
    assert not found.admit("")
    assert not found.admit("\udcff")


def entered(server):
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    line.request("GET", server.gate.invitation())
    cookie = line.getresponse().headers["set-cookie"]
    line.close()
    return cookie.partition(";")[0]


def asked(server, path="/", cookie="", accept="text/html,*/*;q=0.8", method="GET", **more):
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    line.request(method, path, headers={"Accept": accept, "Cookie": cookie, **more})
    answer = line.getresponse()
    body = answer.read().decode()
    line.close()
    return answer.status, answer.headers, body


@pytest.mark.parametrize(
    ("path", "known", "more", "status", "words"),
    [
        ("/", False, {}, 401, "press Enter"),
        ("/enter?token=x", False, {}, 403, "press Enter"),
        ("/nope", True, {}, 404, "nothing at this address"),
        ("/download/" + "0" * 32 + "/a.png", True, {}, 404, "10 minutes"),
        ("/", True, {"Host": "evil.example"}, 421, "--allow-host"),
    ],
)
def test_a_browser_gets_a_page_where_something_is_wrong(server, path, known, more, status, words):
    cookie = entered(server) if known else ""
    found, head, body = asked(server, path, cookie, **more)
    assert found == status
    assert head["content-type"] == "text/html; charset=utf-8"
    assert words.lower() in body.lower()
    assert "$" not in body
    assert f"style-src {gate.STYLE_HASH}" in head["content-security-policy"]
    assert "script" not in body
    plain = asked(server, path, cookie, accept="*/*", **more)
    assert (plain[0], plain[2].count("\n")) == (status, int(status != 404))
    assert "<" not in plain[2]
    assert asked(server, path, cookie, method="HEAD", **more)[::2] == (status, "")


def test_a_full_server_tells_so_and_lets_pages_load_again(own_server):
    server = own_server(clients=1)
    inside, outside = entered(server), entered(server)

    async def talk():
        own = {"Cookie": inside, "Origin": server.url}
        address = server.url.replace("http", "ws") + "/ws"
        async with websockets.connect(address, additional_headers=own):
            while not server.explorer.sessions:
                await asyncio.sleep(0.01)
            return [await asyncio.to_thread(asked, server, "/", each) for each in (inside, outside)]

    (here, *_), (there, head, body) = asyncio.run(talk())
    assert (here, there) == (200, 503)
    assert "full" in body
    assert head["refresh"] == head["retry-after"] == str(gate.WAIT)
    deadline = time.monotonic() + PATIENCE
    while asked(server, "/", outside)[0] != 200:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_page_has_one_second_view_that_does_not_count(own_server):
    server = own_server(clients=1)
    cookie = entered(server)

    async def talk():
        own = {"Cookie": cookie, "Origin": server.url}
        address = server.url.replace("http", "ws") + "/ws"
        found = []
        async with contextlib.AsyncExitStack() as opened:
            for query in ("?second", "?second", "?second", ""):
                one = websockets.connect(address + query, additional_headers=own)
                socket = await opened.enter_async_context(one)
                with contextlib.suppress(websockets.ConnectionClosed):
                    await socket.send('{"t":"hello","v":1,"size":[64,48]}')
                    await socket.recv()
                found.append(socket.close_code)
        return found

    # Without a page it is a page, which has one second view.
    assert asyncio.run(talk()) == [None, None, 1013, 1013]


def test_a_visitor_that_asks_too_much_leaves_others_their_turn(own_server, monkeypatch):
    monkeypatch.setattr(gate, "REQUESTS", (0.001, 5))
    server = own_server()
    one, two = entered(server), entered(server)
    assert [asked(server, "/", one)[0] for _ in range(7)] == [200] * 5 + [429] * 2
    status, head, body = asked(server, "/", one)
    assert (status, head["retry-after"]) == (429, str(gate.WAIT))
    assert "Too much" in body
    assert asked(server, "/", two)[0] == 200


def test_visitors_are_shut_out_at_once(own_server):
    server = own_server()
    cookie, address = entered(server), server.gate.invitation()

    async def talk():
        own = {"Cookie": cookie, "Origin": server.url}
        url = server.url.replace("http", "ws") + "/ws"
        async with websockets.connect(url, additional_headers=own) as socket:
            await socket.send('{"t":"hello","v":1,"size":[64,48]}')
            await socket.recv()
            server.explorer.shut_out()
            await asyncio.wait_for(socket.wait_closed(), PATIENCE)
            return socket.close_code

    assert asyncio.run(talk()) == 4401
    assert asked(server, "/", cookie)[0] == 401
    assert asked(server, address)[0] == 403
    assert asked(server, "/", entered(server))[0] == 200


def test_requests_are_counted_for_the_newest_visitors_only():
    rates = Rates(0.0, 2.0, 3)
    assert [rates.spend("a") for _ in range(3)] == [True, True, False]
    assert all(rates.spend(name) for name in "bc")
    assert not rates.spend("a")
    assert rates.spend("d")  # b was not heard of for longest
    assert sorted(rates.kept) == ["a", "c", "d"]
    found = gate.Gate(None)
    assert found._rates.most == gate.MOST_VISITORS


def test_enter_in_the_terminal_prints_another_address(tmp_path):
    pty = pytest.importorskip("pty")
    import fcntl
    import termios

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "fractals", "explore", "--no-browser", "--cpu"]
    own = os.environ | {"XDG_STATE_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}

    def own_terminal():
        hear_signals()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    made = subprocess.Popen(
        command,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=own,
        start_new_session=True,
        preexec_fn=own_terminal,
    )
    os.close(theirs)
    said = ""

    def addresses(count, word=""):
        nonlocal said
        deadline = time.monotonic() + PATIENCE
        while True:
            found = re.findall(r"exploring at (http://\S+/enter\S+)", said)
            if len(found) >= count and word in said:
                return found
            assert time.monotonic() < deadline, said
            said += os.read(ours, 4096).decode()

    def opened(address):
        line = http.client.HTTPConnection(address.split("/")[2], timeout=PATIENCE)
        line.request("GET", "/" + address.split("/", 3)[3])
        answer = line.getresponse()
        line.close()
        return answer.status

    try:
        addresses(1, "Enter prints another address")
        os.write(ours, b"\n")
        first, second = addresses(2, "a phone does not reach this address")
        assert first != second
        assert [opened(each) for each in (second, first, first)] == [303, 303, 403]
        os.write(ours, b"out\n")
        *_, third = addresses(3, "all visitors are shut out")
        assert opened(third) == 303
        os.write(ours, b"\x03")  # Ctrl-C
        assert made.wait(PATIENCE) == 130
    finally:
        made.kill()
        made.wait()
        os.close(ours)


def test_a_server_without_a_terminal_reads_none(tmp_path):
    with process(tmp_path, "--threads", 1) as (_, page, messages):
        assert "/enter?token=" in page
        assert "Enter prints" not in messages.read_text()


def test_a_code_in_the_terminal_holds_the_address():
    segno = pytest.importorskip("segno")
    text = "http://192.0.2.7:8000/enter?token=" + "a" * 43
    shown = re.sub(r"\x1b\[[\d;]*m", "", server.qr_code(text)).splitlines()
    dark = {" ": (0, 0), "▄": (0, 1), "▀": (1, 0), "█": (1, 1)}
    rows = []
    for line in shown:
        rows += map(list, zip(*(dark[each] for each in line), strict=True))
    wanted = [list(row) for row in segno.make(text, error="l").matrix_iter(border=server.QUIET)]
    assert rows[: len(wanted)] == wanted


def test_without_the_library_there_is_no_code(monkeypatch):
    monkeypatch.setitem(sys.modules, "segno", None)
    assert server.qr_code("http://192.0.2.7/") == ""


def test_the_address_for_the_network_is_one_that_the_server_answers(tmp_path):
    """A browser names the host that the address has: it must be known."""
    options = ExploreOptions(device="cpu", host="0.0.0.0")
    running = server.Running.listen(Explorer(fractals.load_scene("seahorse"), options))
    try:
        name = running.url.removeprefix("http://")
        assert name in running.explorer.gate._hosts
        assert not name.startswith("0.0.0.0")
    finally:
        running.explorer.engine.end()
        for each in running.sockets:
            each.close()
