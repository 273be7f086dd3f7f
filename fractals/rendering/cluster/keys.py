"""Keys for TLS between the machines of a cluster: an authority, and a certificate that it signed.

All machines of a cluster share one certificate: whoever has its key may send tasks and do them. The
authority's own key is thrown away, so nobody can sign another certificate later.
"""

import datetime
import os
from pathlib import Path
from typing import Any, NamedTuple

from fractals.errors import FractalsError
from fractals.io.files import writing

KEYS = ("ca.pem", "cert.pem", "key.pem")
DAYS = 365
MISSING = "keys for TLS need cryptography: pip install 'fractals-numba[cluster]'"


class Keys(NamedTuple):
    """The certificate of an authority, and a certificate and its key: PEM texts, or paths."""

    authority: str
    certificate: str
    key: str


def make_keys(days: int = DAYS) -> Keys:
    """Return new keys that are valid for some days, as texts.

    Raises
    ------
    FractalsError
        `cryptography` is not installed.
    """
    try:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
    except ImportError:
        raise FractalsError(MISSING) from None

    def named(text: str) -> Any:
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

    def builder(subject: Any, key: Any, authority: bool) -> Any:
        begin = datetime.datetime.now(datetime.UTC) - datetime.timedelta(hours=1)  # clocks differ
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(named("fractals cluster authority"))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(begin)
            .not_valid_after(begin + datetime.timedelta(days=days))
            .add_extension(x509.BasicConstraints(authority, 0 if authority else None), True)
        )

    authority_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    authority_id = x509.SubjectKeyIdentifier.from_public_key(authority_key.public_key())
    signs = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
    authority = (
        builder(named("fractals cluster authority"), authority_key, True)
        .add_extension(signs, True)
        .add_extension(authority_id, False)
        .sign(authority_key, hashes.SHA256())
    )
    usages = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
    issuer = x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(authority_id)
    certificate = (
        builder(named("fractals cluster"), key, False)
        .add_extension(x509.ExtendedKeyUsage(usages), False)
        .add_extension(issuer, False)
        .sign(authority_key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    found = authority.public_bytes(pem), certificate.public_bytes(pem), secret
    return Keys(*(content.decode("ascii") for content in found))


def write_keys(folder: Path, days: int = DAYS) -> None:
    """Write new keys to a folder.

    Raises
    ------
    FractalsError
        A key exists already, can't be written, or `cryptography` is not installed.
    """
    contents = make_keys(days)
    with writing(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in KEYS:
            if os.path.lexists(folder / name):
                raise FractalsError(f"'{folder / name}' exists already: name another folder")
        for name, content in zip(KEYS, contents, strict=True):
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            with os.fdopen(os.open(folder / name, flags, 0o600), "w") as file:
                file.write(content)
