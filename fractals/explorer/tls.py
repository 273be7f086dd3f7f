"""The certificate of a server, and its key."""

import ssl
from pathlib import Path

from fractals.errors import FractalsError, OptionError, shown

MAX_BYTES = 2**20  # of a file


def make_context(cert: str, key: str) -> ssl.SSLContext:
    """Return what TLS needs of a server.

    Raises
    ------
    FractalsError
        A file can't be read, has other content, or the key is not that of the certificate.
    """
    for option, path, mark in (
        ("--cert", cert, b"CERTIFICATE-----"),
        ("--key", key, b"PRIVATE KEY-----"),
    ):
        if mark not in _content(option, path):
            wanted = "certificate" if option == "--cert" else "private key"
            raise FractalsError(f"{option}: '{shown(path)}' holds no {wanted} in PEM format")

    def refuse() -> str:  # OpenSSL would ask at the terminal, and the server would hang
        raise OptionError(f"--key: '{shown(key)}' is encrypted: give a key without a passphrase")

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)  # at least TLS 1.2
    try:
        context.load_cert_chain(cert, key, refuse)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            reason = "the key is not that of the certificate"
        else:
            reason = f"a file is damaged ({error.reason or error})"
        raise FractalsError(f"--cert '{shown(cert)}', --key '{shown(key)}': {reason}") from None
    return context


def _content(option: str, path: str) -> bytes:
    try:
        with Path(path).open("rb") as file:
            return file.read(MAX_BYTES)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FractalsError(f"{option}: '{shown(path)}' can't be read: {reason}") from None
