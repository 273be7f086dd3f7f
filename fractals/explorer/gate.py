"""The gate of the explorer, for HTTP and WebSocket, and the cookies of its visitors.

The gate checks host, origin and cookie, and sets the headers of every answer.

A browser sends a cookie with requests of any page, and a page elsewhere can give its own name this
machine's address. Therefore the host must be on a list that is fixed at the start, and a request
that changes anything must come from a page of the server itself.
"""

import contextlib
import hashlib
import hmac
import http
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from contextlib import AbstractContextManager, nullcontext
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import parse_qs

from fractals.backends.cache_folder import read_own, reason, trusted_folder, write_own
from fractals.errors import OptionError
from fractals.explorer import entrance
from fractals.explorer.classroom import MARK, Classroom
from fractals.explorer.scheduler import print_line
from fractals.explorer.session import Rates

# --- Who may come in: addresses that open once, and cookies that outlive the server
#
# A cookie is a visitor's number and the time at which it came, signed. The key is a secret in the
# user's state folder, so that a server that is started again knows its visitors. The signature
# covers where the server listens and whether it is read-only: a cookie of one opens no other.

AGE = 30 * 86_400  # seconds for which a cookie is valid
OPEN = 8  # most addresses that wait to be opened
BYTES = 32  # of a secret
NAME = "explorer-secret"


def state_folder() -> Path:
    """Return the folder of what a program keeps of its runs, whether it is there or not."""
    import platformdirs

    return Path(platformdirs.user_state_dir("fractals", False))


class Visitors:
    """The visitors of a server, present and past."""

    def __init__(self, folder: Path | None = None) -> None:
        """`folder`: where the secret is kept; None: it ends with the server."""
        self.scope = ""  # what a cookie is for
        self._folder = folder
        self._secret = self._kept() or self._new()
        self._open: list[str] = []  # tokens of addresses, the oldest first

    def invite(self) -> str:
        """Return a token that admits one browser."""
        self._open = [*self._open[1 - OPEN :], secrets.token_urlsafe(32)]
        return self._open[-1]

    def admit(self, token: str) -> str:
        """Return the cookie of a new visitor; "" where the token is unknown or was used."""
        given = token.encode("utf-8", "replace")
        found = [each for each in self._open if hmac.compare_digest(given, each.encode())]
        if not found:
            return ""
        self._open.remove(found[0])
        return self.cookie(secrets.token_urlsafe(9))

    def cookie(self, name: str) -> str:
        """Return the cookie of a visitor who comes now."""
        named = f"{name}.{int(time.time()):x}"
        return f"{named}.{self._signature(named)}"

    def known(self, cookie: str) -> str:
        """Return the name of the visitor that has a cookie; "" where the cookie is not valid."""
        named, _, signature = cookie.rpartition(".")
        given = signature.encode("utf-8", "replace")
        if not hmac.compare_digest(given, self._signature(named).encode()):
            return ""
        name, _, since = named.partition(".")
        return name if time.time() - int(since, 16) < AGE else ""

    def forget(self) -> None:
        """Make all cookies and open addresses invalid."""
        self._open = []
        self._secret = self._new()

    def port(self) -> int:
        """Return a port that is the same in each run: open pages then find the server again."""
        return 20_000 + int.from_bytes(hashlib.sha256(b"port" + self._secret).digest()[:2]) % 10_000

    def _signature(self, named: str) -> str:
        text = f"{self.scope} {named}".encode("utf-8", "replace")
        return hmac.new(self._secret, text, hashlib.sha256).hexdigest()

    def _kept(self) -> bytes:
        if self._folder is not None:
            with contextlib.suppress(OSError):
                data = read_own(trusted_folder(self._folder) / NAME, BYTES)
                if len(data) == BYTES:
                    return data
        return b""

    def _new(self) -> bytes:
        made = secrets.token_bytes(BYTES)
        if self._folder is not None:
            try:
                write_own(trusted_folder(self._folder) / NAME, made)
            except OSError as error:
                print_line(f"a server that is started again knows no visitor: {reason(error)}")
        return made


Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


STYLE = f"style-src 'self' {entrance.page('index.html')[1]}"
POLICY = (
    f"default-src 'none'; script-src 'self'; {STYLE}; img-src 'self' blob:; "
    "connect-src 'self'; media-src 'self'; worker-src 'self'; font-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
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
REQUESTS = 120.0, 1200.0  # of a visitor in a second, and at once: a page loads some 150 files
MOST_VISITORS = 1000  # whose requests are counted
FIELDS = 32  # most of an address that lets somebody in: those who send a link on add some
BEARER = "bearer"  # the name of whoever has the token


class Gate:
    """An ASGI application around another, which only sees requests that may pass."""

    def __init__(
        self,
        app: App,
        secure: bool = False,
        visitors: Visitors | None = None,
        classroom: Classroom | None = None,
    ) -> None:
        """`classroom`: whose guests come in, too."""
        self.app, self.secure, self.classroom = app, secure, classroom
        self.visitors = visitors or Visitors()
        # Opens the page any number of times, as ``Authorization: Bearer``
        self.token = secrets.token_urlsafe(32)
        self.full: Callable[[str], bool] = lambda visitor: False  # whether there is no room for one
        self._rates = Rates(*REQUESTS, MOST_VISITORS)
        self._hosts: frozenset[str] = frozenset()
        # Where pages of the server come from, such as "http://127.0.0.1:8000"
        self.origins: frozenset[str] = frozenset()
        self._cookie = "fractals"

    def serve_at(self, hosts: Iterable[str], port: int, scope: str = "") -> None:
        """Set the hosts that requests may name; a host may have a port of its own.

        `scope`: what cookies are for, besides the port.
        """
        scheme, usual = ("https", 443) if self.secure else ("http", 80)
        named = [host if _has_port(host) else f"{host}:{port}" for host in hosts]
        named += [name.rpartition(":")[0] for name in named if name.endswith(f":{usual}")]
        self._hosts = frozenset(name.lower() for name in named)
        self.origins = frozenset(f"{scheme}://{name}" for name in self._hosts)
        # Cookies are shared between the ports of a host.
        self._cookie = f"fractals-{port}"
        self.visitors.scope = f"{port} {scope}"

    def invitation(self) -> str:
        """Return a path that opens the page once."""
        return f"{ENTER}?token={self.visitors.invite()}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        visitor = self._visitor(scope["headers"])
        status = self._refusal(scope, visitor)
        if scope["type"] == "websocket":
            if status:
                await receive()
                await _refuse_websocket(scope, send, status)
                return
            with _served(scope):
                await self.app({**scope, "visitor": visitor}, receive, send)
            return
        if status == 401 and self.classroom and scope["path"] == "/":
            await _ask(scope, send, status)
            return
        bare, send = send, _answering(scope, send)
        if status:
            await _answer(send, status)
        elif scope["path"] == ENTER:
            await self._enter(scope, send, visitor, bare)
        else:
            with _served(scope):
                await self.app({**scope, "visitor": visitor}, receive, send)

    def _refusal(self, scope: Scope, visitor: str) -> int:
        """Return the status with which a request is refused; 0 where it may pass."""
        headers = scope["headers"]
        hosts = [value for name, value in headers if name == b"host"]
        if len(hosts) != 1 or hosts[0].decode("latin-1").lower() not in self._hosts:
            return 421
        origins = [value.decode("latin-1") for name, value in headers if name == b"origin"]
        websocket = scope["type"] == "websocket"
        if len(origins) > 1 or (origins and origins[0] not in self.origins):
            return 403
        if not websocket and scope["method"] not in METHODS:
            return 405
        changes = websocket or scope["method"] == "POST"
        if changes and not origins and visitor != BEARER:
            return 403
        if not websocket and scope["path"] == ENTER:
            return 0
        if not visitor:
            return 401
        if not websocket and changes and visitor.startswith(MARK):
            return 403  # guests of a class bring no files
        if not self._rates.spend(visitor):
            return 429
        return 503 if scope["path"] == "/" and self.full(visitor) else 0

    def _visitor(self, headers: Iterable[tuple[bytes, bytes]]) -> str:
        """Return the name of the visitor that a request is of; "" for a stranger's."""
        given = [value for name, value in headers if name == b"authorization"]
        if len(given) == 1 and hmac.compare_digest(given[0], f"Bearer {self.token}".encode()):
            return BEARER
        for name, value in headers:
            if name != b"cookie":
                continue
            cookies: SimpleCookie = SimpleCookie()
            try:
                cookies.load(value.decode("latin-1"))
            except CookieError:
                return ""
            found = cookies.get(self._cookie)
            if found and (visitor := self.visitors.known(found.value)):
                guest = visitor.startswith(MARK)
                known = not guest or (self.classroom and self.classroom.knows(visitor))
                return visitor if known else ""
        return ""

    async def _enter(self, scope: Scope, send: Send, visitor: str, bare: Send) -> None:
        """Exchange the one-time token for the cookie; who has one already may come in.

        Guests of a class come in by its code. `bare` sends a page of its own.
        """
        text = scope["query_string"].decode("latin-1")
        try:
            query = parse_qs(text, keep_blank_values=True, max_num_fields=FIELDS)
        except ValueError:  # more fields
            await _answer(send, 400)
            return
        asks = scope["method"] == "GET"
        made = self.visitors.admit(query.get("token", [""])[0]) if asks else ""
        if self.classroom and asks and not made and not visitor and "token" not in query:
            code, name = (query.get(key, [""])[0] for key in ("code", "name"))
            if "name" not in query:  # of a link or a QR code
                await _ask(scope, bare, 200, "", code)
                return
            try:
                address = (scope.get("client") or ("",))[0]
                made = self.visitors.cookie(self.classroom.admit(code, name, address))
            except OptionError as error:
                await _ask(scope, bare, 403, str(error), code, name)
                return
        if not made and not visitor:
            await _answer(send, 403)
            return
        head = [(b"location", b"/")]
        if made:
            cookie = f"{self._cookie}={made}; Path=/; HttpOnly; SameSite=Strict; Max-Age={AGE}"
            head.append((b"set-cookie", (cookie + "; Secure" * self.secure).encode()))
        # A redirect keeps the token out of the page's address. Browsers hold a strict cookie back
        # on a redirect that another site began, but not on an address that a user opened.
        await _answer(send, 303, head)


def _served(scope: Scope) -> AbstractContextManager[None]:
    """Tell the connection that a guest's request is answered; a test may have no connection."""
    visit = scope.get("state", {}).get("visit")
    return visit.served() if visit else nullcontext()


async def _ask(
    scope: Scope, send: Send, status: int, problem: str = "", code: str = "", name: str = ""
) -> None:
    """Answer the page at which guests of a class come in."""
    languages = b",".join(v for k, v in scope["headers"] if k == b"accept-language")
    text, style = entrance.page_of(languages.decode("latin-1"), problem, code, name)
    policy = POLICY.replace(STYLE, f"style-src {style}")
    policy = policy.replace("form-action 'none'", "form-action 'self'")
    policy = policy.replace("script-src 'self'", f"script-src {entrance.SCRIPT}")
    body = text.encode()
    head = [
        (b"content-security-policy", policy.encode()),
        *HEADERS[1:],
        (b"content-type", b"text/html; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": head})
    body = b"" if scope["method"] == "HEAD" else body
    await send({"type": "http.response.body", "body": body})


def _has_port(host: str) -> bool:
    return host.rpartition(":")[2].isdecimal() and not host.endswith("]")


# Pages that tell a visitor what is wrong. A browser gets a page, other programs a line.


ENTER_AGAIN = (
    "An address opens the page once, in one browser. Press Enter in the terminal in which "
    "<code>fractals explore</code> runs: it prints another one, with a code for a phone's camera."
)
AGAIN = "This page tries again by itself."
PROBLEMS = {
    401: ("This browser is not known here", ENTER_AGAIN),
    403: ("This address was used before, or is wrong", ENTER_AGAIN),
    404: ("There is nothing at this address", "Files of an export are kept for 10 minutes."),
    421: (
        "The explorer does not have this name",
        "Open the address that it printed. <code>fractals explore --allow-host NAME</code> gives "
        "it another name.",
    ),
    429: ("Too much was asked for at once", AGAIN),
    503: ("The explorer is full", f"As many visitors as it admits look about in it. {AGAIN}"),
}
WAIT = 5  # seconds until a page tries again
PAGE, STYLE_HASH = entrance.page("problem.html")
PROBLEM_HEADERS = (
    (HEADERS[0][0], POLICY.replace(STYLE, f"style-src {STYLE_HASH}").encode()),
    *HEADERS[1:],
    (b"content-type", b"text/html; charset=utf-8"),
)
RETRY = ((b"retry-after", str(WAIT).encode()), (b"refresh", str(WAIT).encode()))


def _answering(scope: Scope, send: Send) -> Send:
    """Return a function that sends an answer with HEADERS, and a page in place of an error."""
    wanted = b"".join(value for name, value in scope["headers"] if name == b"accept")
    page = b""

    async def sending(message: MutableMapping[str, Any]) -> None:
        nonlocal page
        if message["type"] == "http.response.start":
            own = {name for name, _ in HEADERS}
            head = [pair for pair in message.get("headers", []) if pair[0].lower() not in own]
            status = message["status"]
            added: Iterable[tuple[bytes, bytes]] = HEADERS
            if status >= 400 and b"text/html" in wanted:
                page, added = problem_page(status).encode(), PROBLEM_HEADERS
                head = [pair for pair in head if not pair[0].lower().startswith(b"content-")]
                head.append((b"content-length", str(len(page)).encode()))
                head += RETRY if AGAIN in PROBLEMS.get(status, ("", ""))[1] else ()
            await send({**message, "headers": [*head, *added]})
        elif page:
            if not message.get("more_body"):
                body = b"" if scope["method"] == "HEAD" else page
                await send({"type": "http.response.body", "body": body})
        else:
            await send(message)

    return sending


def problem_page(status: int) -> str:
    """Return the page of an error."""
    title, text = PROBLEMS.get(status, (http.HTTPStatus(status).phrase, ""))
    back = "" if status in (401, 403, 421) else '<p><a href="/">Open the explorer</a></p>'
    return Template(PAGE).substitute(title=title, text=text, back=back, status=status)


async def _answer(send: Send, status: int, headers: Iterable[tuple[bytes, bytes]] = ()) -> None:
    title, text = PROBLEMS.get(status, (http.HTTPStatus(status).phrase, ""))
    line = f"{status}: {title}. {re.sub('<.*?>', '', text)}".strip(" .")
    body = b"" if status == 303 else f"{line}\n".encode()
    head = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        *headers,
    ]
    if status in (401, 403, 405, 421):
        # Requests of a stranger that follow in the same connection are not read.
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
