"""Who may come in: addresses that open once, and cookies that outlive the server.

A cookie is a visitor's number and the time at which it came, signed. The key is a secret in the
user's state folder, so that a server that is started again knows its visitors. The signature
covers where the server listens and whether it is read-only: a cookie of one opens no other.
"""

import contextlib
import hashlib
import hmac
import secrets
import time
from pathlib import Path

from fractals.backends.cache_folder import read_own, reason, trusted_folder, write_own
from fractals.explorer.scheduler import print_line

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
        named = f"{secrets.token_urlsafe(9)}.{int(time.time()):x}"
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
