"""The certificates that Python trusts, in a file that Java can read.

A Java from PyPI knows only the public authorities. Where `SSL_CERT_FILE` names others, such as a
company's own, Java has to be told; the trimmed Java has no tool for it, and the format is small.
"""

from __future__ import annotations

import hashlib
import ssl
import struct
from collections.abc import Sequence
from pathlib import Path

_MAGIC = 0xFEEDFEED
_VERSION = 2
_TRUSTED_CERTIFICATE = 2
_PASSWORD = "changeit"  # Java's own default; the format guards integrity with it, nothing else
_SALT = b"Mighty Aphrodite"  # a constant of the format


def write_truststore(pem: Path, target: Path) -> bool:
    """Write the authorities of `pem` to `target`; False if there are none to write."""
    try:
        context = ssl.create_default_context(cafile=str(pem))
    except (OSError, ssl.SSLError):
        return False
    certificates = context.get_ca_certs(binary_form=True)
    target.write_bytes(encode_truststore(certificates))
    return bool(certificates)


def encode_truststore(certificates: Sequence[bytes]) -> bytes:
    """A JKS key store of trusted certificates, each in DER."""
    body = struct.pack(">III", _MAGIC, _VERSION, len(certificates))
    for number, certificate in enumerate(certificates):
        body += struct.pack(">I", _TRUSTED_CERTIFICATE) + _text(f"ca{number}")
        body += struct.pack(">Q", 0)  # when it was added
        body += _text("X.509") + struct.pack(">I", len(certificate)) + certificate
    return body + hashlib.sha1(_PASSWORD.encode("utf-16-be") + _SALT + body).digest()


def _text(value: str) -> bytes:
    data = value.encode()
    return struct.pack(">H", len(data)) + data
