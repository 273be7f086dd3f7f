"""One gate for HTTP and WebSocket: host, origin, cookie; and the headers of every answer.

A browser sends a cookie with requests of any page, and a page elsewhere can give its own name this
machine's address. Therefore the host must be on a list that is fixed at the start, and a request
that changes anything must come from a page of the server itself.
"""

import hmac
import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from contextlib import AbstractContextManager, nullcontext
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; worker-src 'self'; font-src 'self'; manifest-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
METHODS = ("GET", "HEAD", "POST")
ENTER = "/enter"


class Gate:
    """An ASGI application around another, which only sees requests that may pass."""

    def __init__(self, app: App, secure: bool = False) -> None:
        self.app, self.secure = app, secure
        # Opens the page once, or any number of times as ``Authorization: Bearer``
        self.token = secrets.token_urlsafe(32)
        self._once = secrets.token_urlsafe(32)  # in the address that the browser is opened with
        self._session = secrets.token_urlsafe(32)
        self._hosts: frozenset[str] = frozenset()
        # Where pages of the server come from, such as "http://127.0.0.1:8000"
        self.origins: frozenset[str] = frozenset()
        self._cookie = "fractals"

    def serve_at(self, hosts: Iterable[str], port: int) -> None:
        """Set the hosts that requests may name; a host may have a port of its own."""
        scheme, usual = ("https", 443) if self.secure else ("http", 80)
        named = [host if _has_port(host) else f"{host}:{port}" for host in hosts]
        named += [name.rpartition(":")[0] for name in named if name.endswith(f":{usual}")]
        self._hosts = frozenset(name.lower() for name in named)
        self.origins = frozenset(f"{scheme}://{name}" for name in self._hosts)
        # Cookies are shared between the ports of a host.
        self._cookie = f"fractals-{port}"

    def invitation(self) -> str:
        """Return a path that opens the page once."""
        self._once = secrets.token_urlsafe(32)
        return f"{ENTER}?token={self._once}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        status = self._refusal(scope)
        if scope["type"] == "websocket":
            if status:
                await receive()
                await _refuse_websocket(scope, send, status)
                return
            with _served(scope):
                await self.app(scope, receive, send)
            return
        send = _with_headers(send)
        if status:
            await _answer(send, status)
        elif scope["path"] == ENTER:
            await self._enter(scope, send)
        else:
            with _served(scope):
                await self.app(scope, receive, send)

    def _refusal(self, scope: Scope) -> int:
        """Return the status with which a request is refused; 0 where it may pass."""
        headers = scope["headers"]
        hosts = [value for name, value in headers if name == b"host"]
        if len(hosts) != 1 or hosts[0].decode("latin-1").lower() not in self._hosts:
            return 421
        origins = [value.decode("latin-1") for name, value in headers if name == b"origin"]
        bearer = self._has_bearer(headers)
        websocket = scope["type"] == "websocket"
        if len(origins) > 1 or (origins and origins[0] not in self.origins):
            return 403
        if not websocket and scope["method"] not in METHODS:
            return 405
        changes = websocket or scope["method"] == "POST"
        if changes and not origins and not bearer:
            return 403
        if not websocket and scope["path"] == ENTER:
            return 0
        return 0 if bearer or self._has_cookie(headers) else 401

    def _has_bearer(self, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        given = [value for name, value in headers if name == b"authorization"]
        return len(given) == 1 and hmac.compare_digest(given[0], f"Bearer {self.token}".encode())

    def _has_cookie(self, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        for name, value in headers:
            if name != b"cookie":
                continue
            cookies: SimpleCookie = SimpleCookie()
            try:
                cookies.load(value.decode("latin-1"))
            except CookieError:
                return False
            given = cookies.get(self._cookie)
            if given and hmac.compare_digest(given.value.encode(), self._session.encode()):
                return True
        return False

    async def _enter(self, scope: Scope, send: Send) -> None:
        """Exchange the one-time token for the cookie."""
        query = parse_qs(scope["query_string"].decode("latin-1"), max_num_fields=4)
        given = query.get("token", [""])[0]
        known = hmac.compare_digest(given.encode("utf-8", "replace"), self._once.encode())
        if scope["method"] != "GET" or not known:
            await _answer(send, 403)
            return
        self._once = secrets.token_urlsafe(32)
        cookie = f"{self._cookie}={self._session}; Path=/; HttpOnly; SameSite=Strict"
        cookie += "; Secure" if self.secure else ""
        # A redirect keeps the token out of the page's address. Browsers hold a strict cookie back
        # on a redirect that another site began, but not on an address that a user opened.
        await _answer(send, 303, [(b"location", b"/"), (b"set-cookie", cookie.encode())])


def _served(scope: Scope) -> AbstractContextManager[None]:
    """Tell the connection that a guest's request is answered; a test may have no connection."""
    visit = scope.get("state", {}).get("visit")
    return visit.served() if visit else nullcontext()


def _has_port(host: str) -> bool:
    return host.rpartition(":")[2].isdecimal() and not host.endswith("]")


def _with_headers(send: Send) -> Send:
    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            own = {name for name, _ in HEADERS}
            kept = [pair for pair in message.get("headers", []) if pair[0].lower() not in own]
            message = {**message, "headers": [*kept, *HEADERS]}
        await send(message)

    return sending


async def _answer(send: Send, status: int, headers: Iterable[tuple[bytes, bytes]] = ()) -> None:
    body = (
        b"" if status == 303 else f"{status}: open the address that the server printed\n".encode()
    )
    head = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        *headers,
    ]
    if status >= 400:  # requests of a stranger that follow in the same connection are not read
        head.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": body})


async def _refuse_websocket(scope: Scope, send: Send, status: int) -> None:
    if "websocket.http.response" in scope.get("extensions", {}):
        head = [(b"content-length", b"0"), *HEADERS]
        await send({"type": "websocket.http.response.start", "status": status, "headers": head})
        await send({"type": "websocket.http.response.body", "body": b""})
    else:
        await send({"type": "websocket.close", "code": 4400 + status % 100})
