"""Connections: strangers are limited first, and what sends no request is closed."""

import asyncio
import contextlib
import datetime
import http.client
import ipaddress
import logging
import os
import resource
import socket
import ssl
import struct
import time
from types import SimpleNamespace

import pytest
from support.explorer import SIZE, Client, process, start

import fractals
from fractals.errors import FractalsError, OptionError
from fractals.explorer import door, pages
from fractals.explorer.door import Door, Visit, most_connections

SEAHORSE = {"view": {"center": ["-0.7453", "0.1127"], "width": "0.0065"}}
GET = "GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"


@pytest.fixture
def hurry(monkeypatch):
    """Have strangers wait for less."""
    monkeypatch.setattr(door, "REQUEST_SECONDS", 0.3)
    monkeypatch.setattr(door, "IDLE_SECONDS", 0.3)
    monkeypatch.setattr(door, "WATCH_SECONDS", 0.05)


def connected(port, first=b""):
    line = socket.create_connection(("127.0.0.1", port), timeout=30)
    line.sendall(first)
    return line


@pytest.fixture
def connect():
    """Return a function that connects to a port, and sends some bytes."""
    with contextlib.ExitStack() as lines:
        yield lambda port, first=b"": lines.enter_context(connected(port, first))


def is_closed(line):
    """Wait until the other side closes a connection."""
    try:
        while line.recv(4096):
            pass
    except ConnectionError:
        pass
    return True


def status(port, token, path="/", tls_context=None):
    """Ask for the page as a guest."""
    kind = http.client.HTTPConnection if tls_context is None else http.client.HTTPSConnection
    keys = {} if tls_context is None else {"context": tls_context}
    line = kind("127.0.0.1", port, timeout=30, **keys)
    try:
        line.request("GET", path, headers={"Authorization": f"Bearer {token}"})
        return line.getresponse().status
    finally:
        line.close()


BEGINNINGS = {
    "nothing": "",
    "half a request": "GET / HTT",
    "half the headers": GET + "X-Slow: ",
    "a request of a stranger": GET + "\r\n",
    "two, the second cut": GET + "\r\n" + GET,
    "a body that does not come": GET.replace("GET", "POST") + "Content-Length: 900000\r\n\r\n",
    "half an upgrade": GET + "Upgrade: websocket\r\nConnection: Upgrade\r\n",
}


@pytest.mark.parametrize("beginning", BEGINNINGS.values(), ids=BEGINNINGS.keys())
def test_a_stranger_that_asks_nothing_is_closed(own_server, hurry, connect, beginning):
    port = own_server().port
    assert is_closed(connect(port, beginning.format(port=port).encode()))


@pytest.mark.parametrize("beginning", ["", "GET / HTTP/1.1\r\nX-Slow: "])
def test_bytes_one_by_one_gain_no_time(own_server, hurry, connect, beginning):
    line = connect(own_server().port, beginning.encode())

    def drip():
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            line.sendall(b"a")
            time.sleep(0.02)

    with pytest.raises(ConnectionError):
        drip()


def test_a_guest_that_asks_no_more_is_closed(own_server, hurry, connect):
    server = own_server()
    asks = f"{GET}Authorization: Bearer {server.token}\r\n\r\n".format(port=server.port)
    for after in ("", "GET / HTT"):
        line = connect(server.port, (asks + after).encode())
        assert line.recv(12) == b"HTTP/1.1 200"
        assert is_closed(line)


def test_a_stranger_gets_one_answer(own_server, connect):
    port = own_server().port
    line = connect(port, (GET + "\r\n").format(port=port).encode() * 50)
    answers = b""
    with contextlib.suppress(ConnectionError):  # what was not read is answered with a reset
        while piece := line.recv(4096):
            answers += piece
    assert answers.count(b"HTTP/1.1") == answers.count(b"HTTP/1.1 401") == 1


def test_idle_strangers_keep_no_guest_out(own_server, connect):
    server = own_server()

    async def talk(client):
        await client.say("open", frame=1, scene=SEAHORSE)
        await client.exact(1)
        for k in range(200):
            connect(server.port, b"GET / HTTP/1.1\r\n"[: k % 20])
        found = [status(server.port, server.token) for _ in range(3)]
        await client.say("view", frame=2, base=1, scale=16)  # the line is the guest's
        await client.exact(2)
        async with server.connect() as socket:
            other = Client(socket, SIZE)
            await other.say("hello", v=1, size=list(SIZE))
            await other.until("welcome")
        return found

    assert server.run(talk) == [200, 200, 200]


def test_the_parts_of_an_answer_are_sent_at_once(connect):
    """Head and body are two packets: the second would wait for the other side's acknowledgement."""
    options = []

    class Speaker(asyncio.Protocol):
        def connection_made(self, transport):
            made = transport.get_extra_info("socket")
            options.append(made.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            transport.abort()

    async def serve():
        with socket.create_server(("127.0.0.1", 0)) as listening:
            serving = asyncio.create_task(Door(1).serve([listening], lambda _: Speaker(), None))
            line = await asyncio.to_thread(connect, listening.getsockname()[1])
            assert await asyncio.to_thread(is_closed, line)
            serving.cancel()

    asyncio.run(serve())
    assert options[0]


def visits(monkeypatch, **counts):
    """Return a door with connections: address_state -> how many."""
    monkeypatch.setattr(Visit, "open", property(lambda visit: not visit.ended))
    made = Door(4)
    for name, count in counts.items():
        address, state = name.split("_")
        for _ in range(count):
            visit = Visit(socket.socket(), address, 0.0)
            visit.guest, visit.busy = state != "stranger", state == "busy"
            made.visits.append(visit)
    for visit in made.visits:
        visit.socket.close()
    return made


def test_room_is_made_by_the_address_that_holds_most(monkeypatch):
    made = visits(monkeypatch, a_stranger=3, b_stranger=5, c_busy=door.OTHERS, c_idle=24)
    assert len(made.visits) == made.most
    assert made._makes_room()
    (ended,) = [visit for visit in made.visits if visit.ended]
    assert (ended.address, ended.guest) == ("b", False)
    assert ended is made.visits[3]  # the oldest of this address


def test_guests_make_room_last(monkeypatch):
    made = visits(monkeypatch, a_busy=door.PER_CLIENT * 4 + door.OTHERS - 2, a_idle=1, b_stranger=1)
    assert len(made.visits) == made.most
    for guest in (False, True):
        assert made._makes_room()
        assert [visit.guest for visit in made.visits if visit.ended] == [guest]
        made.visits = [visit for visit in made.visits if not visit.ended]
        made.visits.append(SimpleNamespace(open=True, guest=True, busy=True, ended=False))
    assert not made._makes_room()


def test_connections_stay_below_the_limit_of_files(monkeypatch):
    files = 1024
    monkeypatch.setattr(resource, "getrlimit", lambda _: (files, files))
    assert most_connections(16) == 16 * door.PER_CLIENT + door.OTHERS
    files = 100
    assert most_connections(16) == 100 - door.RESERVED
    files = 70
    with pytest.raises(OptionError, match="16 clients require 80 open files, and 70 are the limit"):
        most_connections(16)
    files = resource.RLIM_INFINITY
    assert most_connections(16) == 16 * door.PER_CLIENT + door.OTHERS


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="no /proc: descriptors are unseen")
def test_few_descriptors_are_enough(tmp_path, connect):
    with process(tmp_path, "--threads", 1, descriptors=100) as (made, page, messages):
        port = int(page.split(":")[2].partition("/")[0])
        before = messages.read_text()
        for _ in range(150):
            connect(port)
        head = f"GET {page.partition(str(port))[2]} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"
        assert connect(port, head.encode()).recv(12) == b"HTTP/1.1 303"
        assert len(os.listdir(f"/proc/{made.pid}/fd")) < 80
        assert messages.read_text() == before


def test_too_few_descriptors_are_one_line(tmp_path):
    message = "16 clients require 80 open files, and 60 are"
    with pytest.raises(AssertionError, match=message), process(tmp_path, descriptors=60):
        pass


def test_lines_that_are_cut_while_tiles_are_sent_log_nothing(own_server, caplog):
    server = own_server()

    async def talk(client):
        await client.say("open", frame=1, scene=SEAHORSE)
        await client.exact(1)
        (session,) = server.explorer.sessions
        for _ in range(500):
            session.outbox.put(b"x" * 2000)
        line = client.socket.transport.get_extra_info("socket")
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.socket.transport.abort()  # with a reset

    with caplog.at_level(logging.WARNING, "asyncio"):
        server.run(talk)
        deadline = time.monotonic() + 30
        while server.explorer.sessions:
            assert time.monotonic() < deadline
            time.sleep(0.01)
    assert "socket.send()" not in caplog.text


def test_slow_uploads_leave_others_their_turn(own_server, monkeypatch, connect):
    server = own_server()
    head = GET.replace("GET / ", "POST /upload?name=a.toml ").format(port=server.port)
    head += f"Authorization: Bearer {server.token}\r\nContent-Length: 10\r\n\r\n[v"
    for _ in range(6):
        connect(server.port, head.encode())
    own = {"Authorization": f"Bearer {server.token}"}
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=15)
    line.request("POST", "/upload?name=a.toml", b"[view]\nwidth = 1\n", own)
    assert line.getresponse().status == 200
    line.close()
    monkeypatch.setattr(pages, "UPLOAD_SECONDS", 0.1)
    assert connect(server.port, head.encode()).recv(12) == b"HTTP/1.1 408"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """Return the files of a certificate and its key, of another key, and of an encrypted one."""
    pytest.importorskip("cryptography")
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    folder = tmp_path_factory.mktemp("tls")
    names = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    keys = [ec.generate_private_key(ec.SECP256R1()) for _ in range(2)]
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(names)
        .issuer_name(names)
        .public_key(keys[0].public_key())
        .serial_number(1)
        .not_valid_before(now)
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False
        )
        .sign(keys[0], hashes.SHA256())
    )
    pem, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    plain, hidden = serialization.NoEncryption(), serialization.BestAvailableEncryption(b"x")
    files = {
        "cert.pem": made.public_bytes(pem),
        "key.pem": keys[0].private_bytes(pem, form, plain),
        "other.pem": keys[1].private_bytes(pem, form, plain),
        "hidden.pem": keys[0].private_bytes(pem, form, hidden),
        "damaged.pem": b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def test_sockets_before_the_handshake_are_closed(certificate, tmp_path, hurry, connect):
    cert, key = (str(certificate / name) for name in ("cert.pem", "key.pem"))
    server, thread = start(tmp_path, cert=cert, key=key)
    trusting = ssl.create_default_context(cafile=cert)
    try:
        lines = [connect(server.port, b"\x16\x03\x01\x02"[: k % 5]) for k in range(100)]
        assert status(server.port, server.token, tls_context=trusting) == 200
        idle = trusting.wrap_socket(connect(server.port), server_hostname="127.0.0.1")
        assert all(is_closed(line) for line in (*lines, idle))
        idle.close()
    finally:
        server.running.close()
        thread.join(20)


@pytest.mark.parametrize(
    ("cert", "key", "message"),
    [
        ("nope.pem", "key.pem", "the certificate '.*nope.pem' can't be read: No such file"),
        ("cert.pem", "nope.pem", "the private key '.*nope.pem' can't be read: No such file"),
        ("key.pem", "cert.pem", "'.*key.pem' holds no certificate"),
        ("cert.pem", "cert.pem", "'.*cert.pem' holds no private key"),
        ("cert.pem", "other.pem", "the key is not that of the certificate"),
        ("cert.pem", "hidden.pem", "the key '.*hidden.pem' is encrypted"),
        ("damaged.pem", "key.pem", "cert='.*damaged.pem', key='.*key.pem': a file is damaged"),
        (".", "key.pem", "can't be read: Is a directory"),
    ],
)
def test_bad_certificates_are_named_before_the_address(certificate, cert, key, message):
    lines = []
    with pytest.raises(FractalsError, match=message):
        fractals.explore(
            cert=str(certificate / cert),
            key=str(certificate / key),
            device="cpu",
            browser=False,
            block=False,
            on_message=lines.append,
        )
    assert lines == []
