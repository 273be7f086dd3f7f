"""Probes by raw sockets: each bad request is refused, and no token is written anywhere."""

import gzip
import http.client
import json
import re
import socket

import pytest

import fractals
from fractals.explorer import pages

KEY = "dGhlIHNhbXBsZSBub25jZQ=="


def send(server, lines, path="/ws", method="GET"):
    """Send a request with these header lines, and return status and head of the answer."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as line:
        head = "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", ""])
        line.sendall(head.encode("latin-1"))
        answer = b""
        while b"\r\n\r\n" not in answer:
            piece = line.recv(4096)
            if not piece:
                break
            answer += piece
    text = answer.decode("latin-1")
    return int(text.split()[1]), text


def headers(server, host=None, origin=None, bearer=None, cookie=None, upgrade=True):
    own = f"127.0.0.1:{server.port}"
    found = [f"Host: {own if host is None else host}"]
    if origin != "":
        found.append(f"Origin: {origin or f'http://{own}'}")
    if bearer:
        found.append(f"Authorization: Bearer {bearer}")
    if cookie:
        found.append(f"Cookie: {cookie}")
    if upgrade:
        found += ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"]
        found.append(f"Sec-WebSocket-Key: {KEY}")
    return found


def entered(server):
    """Return the cookie of a page that was opened by its address."""
    path = server.gate.invitation()
    status, head = send(server, headers(server, origin="", upgrade=False), path)
    assert status == 303
    assert "location: /\r\n" in head
    (cookie,) = re.findall(r"set-cookie: ([^;]+);", head)
    assert "HttpOnly; SameSite=Strict" in head
    return cookie, path


BAD = {
    "no token": {},
    "a wrong token": {"bearer": "x" * 43},
    "a foreign host": {"host": "evil.example", "bearer": "TOKEN"},
    "a foreign host with the port": {"host": "evil.example:PORT", "bearer": "TOKEN"},
    "rebinding": {
        "host": "evil.example:PORT",
        "origin": "http://evil.example:PORT",
        "bearer": "TOKEN",
    },
    "another port": {"host": "127.0.0.1:1", "bearer": "TOKEN"},
    "no port": {"host": "127.0.0.1", "bearer": "TOKEN"},
    "a foreign origin": {"origin": "http://evil.example", "cookie": "COOKIE"},
    "an origin of another port": {"origin": "http://127.0.0.1:1", "cookie": "COOKIE"},
    "an origin of another scheme": {"origin": "https://127.0.0.1:PORT", "cookie": "COOKIE"},
    "the null origin": {"origin": "null", "cookie": "COOKIE"},
    "no origin": {"origin": "", "cookie": "COOKIE"},
    "a cookie of another port": {"cookie": "OTHER"},
    "an empty host": {"host": "", "bearer": "TOKEN"},
    "a name that begins alike": {"host": "127.0.0.1.evil.example:PORT", "bearer": "TOKEN"},
}


@pytest.mark.parametrize("probe", BAD.values(), ids=BAD.keys())
def test_a_bad_handshake_is_refused(server, probe):
    cookie, _ = entered(server)
    words = {
        "TOKEN": server.token,
        "PORT": str(server.port),
        "COOKIE": cookie,
        "OTHER": cookie.replace(str(server.port), str(server.port + 1)),
    }

    def filled(text):
        for word, value in words.items():
            text = text.replace(word, value)
        return text

    given = {key: filled(value) for key, value in probe.items()}
    status, _ = send(server, headers(server, **given))
    assert 400 <= status < 500


def test_good_handshakes_pass(server):
    cookie, _ = entered(server)
    assert send(server, headers(server, cookie=cookie))[0] == 101
    assert send(server, headers(server, origin="", bearer=server.token))[0] == 101
    names = [f"localhost:{server.port}", f"[::1]:{server.port}"]
    for name in names:
        lines = headers(server, host=name, origin=f"http://{name}", cookie=cookie)
        assert send(server, lines)[0] == 101


def test_two_hosts_or_origins_are_refused(server):
    lines = headers(server, bearer=server.token)
    assert send(server, [f"Host: localhost:{server.port}", *lines])[0] >= 400
    assert send(server, [*lines, "Origin: http://evil.example"])[0] in (400, 403)
    page = headers(server, bearer=server.token, upgrade=False)
    assert send(server, page, "/")[0] == 200
    assert send(server, [*page, "Origin: http://evil.example"], "/")[0] == 403


def test_a_one_time_address_opens_once(server):
    cookie, path = entered(server)
    assert send(server, headers(server, origin="", upgrade=False), path)[0] == 403
    assert send(server, headers(server, origin="", upgrade=False), "/enter?token=x")[0] == 403
    assert send(server, headers(server, origin="", upgrade=False), "/enter")[0] == 403
    known = headers(server, origin="", upgrade=False, cookie=cookie)
    status, head = send(server, known, path)  # loaded again in the browser that has opened it
    assert (status, "set-cookie" in head) == (303, False)
    page = headers(server, origin="", upgrade=False, cookie=cookie)
    assert send(server, page, "/")[0] == 200
    assert send(server, headers(server, origin="", upgrade=False), "/")[0] == 401


PATHS = [
    "/client/../server.py",
    "/client/..%2fserver.py",
    "/client/%2e%2e/server.py",
    "/client//etc/passwd",
    "/client/%2fetc%2fpasswd",
    "/client/__init__.py",
    "/thumbnail/scene/..%2f..%2fx.webp",
    "/thumbnail/scene/nope",
    "/thumbnail/nope/seahorse",
    "/bookmark/..%2fx.png",
    "/bookmark/" + "0" * 32 + ".png",
    "/download/" + "0" * 32 + "/x.png",
    "/download/../../etc/passwd",
    "/etc/passwd",
    "//etc/passwd",
    "/nope",
]


@pytest.mark.parametrize("path", PATHS)
def test_a_path_is_never_a_file(server, path):
    cookie, _ = entered(server)
    status, text = send(server, headers(server, upgrade=False, cookie=cookie), path)
    assert status == 404
    assert "root:" not in text


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"])
def test_other_methods_are_refused(server, method):
    lines = headers(server, upgrade=False, bearer=server.token)
    assert send(server, lines, "/", method)[0] == 405


def test_headers_of_every_answer(server):
    cookie, _ = entered(server)
    for path, status in (("/", 200), ("/nope", 404), ("/enter", 303)):
        found, head = send(server, headers(server, upgrade=False, cookie=cookie), path)
        assert found == status
        assert "content-security-policy: default-src 'none'; script-src 'self';" in head
        assert "unsafe" not in head
        assert "x-content-type-options: nosniff" in head
        assert "referrer-policy: no-referrer" in head
        assert "access-control" not in head
        assert "server: " not in head


def fetch(server, path):
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=240)
    cookie, _ = entered(server)
    line.request("GET", path, headers={"Cookie": cookie})
    answer = line.getresponse()
    data = answer.read()
    line.close()
    return answer.status, answer.headers["Content-Type"], data


def fetched(server, path, encoding):
    """Return the headers and the bytes of an answer, as they are sent."""
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=240)
    cookie, _ = entered(server)
    line.request("GET", path, headers={"Cookie": cookie, "Accept-Encoding": encoding})
    answer = line.getresponse()
    assert answer.status == 200
    data = answer.read()
    line.close()
    return answer.headers, data


@pytest.mark.parametrize("path", ["/", "/client/explorer.js", "/client/style.css", "/catalog.json"])
def test_texts_are_compressed_where_the_client_takes_it(server, path):
    head, plain = fetched(server, path, "identity")
    assert (head["Content-Encoding"], head["Vary"]) == (None, "accept-encoding")
    head, packed = fetched(server, path, "br;q=1.0, GZIP;q=0.8")
    assert (head["Content-Encoding"], head["Vary"]) == ("gzip", "accept-encoding")
    assert int(head["Content-Length"]) == len(packed) < 0.45 * len(plain)
    assert gzip.decompress(packed) == plain
    assert fetched(server, path, "gzip;q=0, *;q=0.5")[1] == plain


def test_pictures_are_sent_as_they_are(server):
    head, data = fetched(server, "/thumbnail/formula/newton", "gzip")
    assert head["Content-Encoding"] is None
    assert data[8:12] == b"WEBP"


def test_thumbnails_are_files_of_the_package_or_drawn(server, monkeypatch):
    path = "/thumbnail/formula/newton"
    status, kind, data = fetch(server, path)
    assert (status, kind, data[8:12]) == (200, "image/webp", b"WEBP")
    monkeypatch.setattr(pages, "thumbnail_files", dict)
    status, kind, data = fetch(server, path)
    assert (status, kind, data[1:4]) == (200, "image/png", b"PNG")


def upload(server, name, data, origin=True, length=None):
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    own = {"Origin": server.url} if origin else {}
    if length is not None:
        own["Content-Length"] = str(length)
    cookie, _ = entered(server)
    line.request("POST", f"/upload?name={name}", body=data, headers={"Cookie": cookie, **own})
    answer = line.getresponse()
    body = answer.read()
    line.close()
    return answer.status, json.loads(body) if body[:1] == b"{" else {}


def test_uploads_are_read_in_memory(server, tmp_path):
    fractals.render("seahorse", size=(8, 6), palette="ember", device="cpu").save(tmp_path / "a.png")
    fractals.render("seahorse", size=(8, 6), palette="ember", device="cpu").save(tmp_path / "a.jpg")
    for name in ("a.png", "a.jpg"):
        status, found = upload(server, name, (tmp_path / name).read_bytes())
        assert (status, found["scene"]["color"]["palette"]) == (200, "ember")
    toml = fractals.load_scene("seahorse").to_toml().encode()
    assert upload(server, "../../x.toml", toml)[1]["scene"]["view"]["width"] == "0.0065"
    kfr = b"Re: -0.75\r\nIm: 0.1\r\nZoom: 1e3\r\nIterations: 500\r\n"
    assert upload(server, "place.kfr", kfr)[1]["scene"]["view"]["center"] == ["-0.75", "-0.1"]
    status, found = upload(server, "fire.map", b"0 0 0\n255 128 0\n255 255 255\n")
    assert (status, list(found)) == (200, ["palette", "lost"])


BAD_FILES = {
    "a.toml": b"\xff\xfe",
    "b.toml": b"[[[[",
    "c.toml": b'[color]\npalette = "/etc/passwd"\n',
    "d.toml": b'[color.coloring]\nname = "picture_trap"\npicture = "/etc/passwd.png"\n',
    "e.png": b"\x89PNG\r\n\x1a\n",
    "f.jpg": b"no picture",
    "g.kfr": b"\0" * 1000,
    "h.exe": b"MZ",
    "i": b"",
    "j.json": b"[" * 10000,
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files_get_one_line(server, name):
    status, found = upload(server, name, BAD_FILES[name])
    assert status == 400
    assert "\n" not in found["error"]
    assert "internal error" not in found["error"]


def test_uploads_are_bounded_and_from_the_page(server):
    assert upload(server, "a.toml", b"", origin=False)[0] == 403
    assert upload(server, "a.toml", b"", length=2**30)[0] == 413


def test_no_token_is_logged(own_server, capfd):
    server = own_server()
    cookie, path = entered(server)
    send(server, headers(server, bearer=server.token, host="evil.example"))
    send(server, headers(server), f"/ws?token={server.token}")
    send(server, ["Host: x", f"Authorization: Bearer {server.token}"], "/\x00")
    server.running.close()
    out, err = capfd.readouterr()
    for secret in (server.token, path.partition("=")[2], cookie.partition("=")[2]):
        assert secret not in out + err
