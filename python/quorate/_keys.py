"""Keys and certificates for a trial of federation on machines of one's own: `python -m quorate.flower FOLDER SITE..`."""

from __future__ import annotations

import argparse
import datetime
import ipaddress
import os
from pathlib import Path
from typing import Any


def make_keys(folder: str | os.PathLike[str], sites: list[str], host: str = "127.0.0.1") -> None:
    """Keys and certificates for a trial: a root, the server's certificate, and a key pair for each site.

    `host` is the address or the name at which sites reach the server. Made with the package `cryptography`, which Flower brings
    along. Not for production: the root's key is thrown away.
    """
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    place = Path(folder)
    wrong = [site for site in sites if not site or Path(site).name != site]
    if wrong or len(set(sites)) < len(sites):
        raise ValueError(f"names of sites are names of files too, and each is its own; got {', '.join(map(repr, sites))}")
    place.mkdir(parents=True, exist_ok=True)

    def private(key: Any, name: str, form: Any) -> None:
        # Nobody else may read it, at no moment.
        opened = os.open(place / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(opened, "wb") as file:
            file.write(key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))

    def named(name: str) -> x509.Name:
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])

    now = datetime.datetime.now(datetime.timezone.utc)
    root, server = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())

    def certificate(subject: str, key: Any) -> x509.CertificateBuilder:
        return (
            x509.CertificateBuilder()
            .subject_name(named(subject))
            .issuer_name(named("quorate trial root"))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(minutes=5))
            .not_valid_after(now + datetime.timedelta(days=30))
        )

    own = certificate("quorate trial root", root).add_extension(x509.BasicConstraints(ca=True, path_length=0), True)
    signed = certificate("quorate trial server", server).add_extension(
        x509.SubjectAlternativeName([x509.DNSName("localhost"), _address(host)]), False
    )
    private(server, "server.key", serialization.PrivateFormat.PKCS8)
    for name, made in (("root.pem", own), ("server.pem", signed)):
        (place / name).write_bytes(made.sign(root, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    for site in sites:
        key = ec.generate_private_key(ec.SECP384R1())
        private(key, f"site-{site}.key", serialization.PrivateFormat.OpenSSH)
        public = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
        (place / f"site-{site}.pub").write_bytes(public)


def _address(host: str) -> Any:
    from cryptography import x509

    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def command(words: list[str] | None = None) -> None:
    """`python -m quorate.flower FOLDER SITE.. [--host HOST]`."""
    parser = argparse.ArgumentParser(
        prog="python -m quorate.flower",
        description="Makes keys and certificates for a trial: a root, the server's certificate, a key pair for each site.",
        epilog="example: python -m quorate.flower keys north south",
    )
    parser.add_argument("folder", help="where they go; keys that are there already are not overwritten")
    parser.add_argument("sites", nargs="+", help="names of the sites")
    parser.add_argument("--host", default="127.0.0.1", help="address or name at which sites reach the server")
    given = parser.parse_args(words)
    try:
        make_keys(given.folder, given.sites, given.host)
    except (OSError, ValueError) as error:
        parser.error(str(error))
