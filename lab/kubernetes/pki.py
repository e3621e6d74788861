# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Certificates and kubeconfigs: one authority per lab, one identity per component and per node."""

from __future__ import annotations

import base64
import datetime
import ipaddress
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

VALID = datetime.timedelta(days=365)
# Guests may run a little behind the machine.
EARLY = datetime.timedelta(hours=1)


@dataclass(frozen=True)
class Pair:
    """A certificate and its key, PEM."""

    certificate: bytes
    key: bytes


@dataclass(frozen=True)
class Authority:
    """The lab's certificate authority and the key pair that signs service account tokens."""

    ca: Pair
    tokens: Pair
    """Its `certificate` is the bare public key."""

    @classmethod
    def ensure(cls, directory: Path) -> Authority:
        """Read the lab's authority from `directory`, making it at the first call."""
        if not (directory / "sa.pub").exists():
            directory.mkdir(parents=True, exist_ok=True)
            ca, tokens = _self_signed("drawbridge-lab"), _token_pair()
            for name, content in (("ca.key", ca.key), ("ca.crt", ca.certificate), ("sa.key", tokens.key)):
                write_private(directory / name, content)
            write_private(directory / "sa.pub", tokens.certificate)
        read = {name: (directory / name).read_bytes() for name in ("ca.crt", "ca.key", "sa.pub", "sa.key")}
        return cls(Pair(read["ca.crt"], read["ca.key"]), Pair(read["sa.pub"], read["sa.key"]))

    def client(self, name: str, group: str | None = None) -> Pair:
        """Issue a certificate that makes its holder the Kubernetes user `name` in `group`."""
        return self._issue(_subject(name, group), ExtendedKeyUsageOID.CLIENT_AUTH, ())

    def server(self, name: str, addresses: Sequence[str]) -> Pair:
        """Issue a certificate for a server reached by `addresses`: DNS names and IP addresses."""
        return self._issue(_subject(name, None), ExtendedKeyUsageOID.SERVER_AUTH, addresses)

    def kubeconfig(self, server: str, pair: Pair) -> str:
        """Write a kubeconfig for an issued client certificate; `server` is an https URL."""

        def encoded(pem: bytes) -> str:
            return base64.b64encode(pem).decode()

        cluster = {"server": server, "certificate-authority-data": encoded(self.ca.certificate)}
        user = {"client-certificate-data": encoded(pair.certificate), "client-key-data": encoded(pair.key)}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "lab", "cluster": cluster}],
            "users": [{"name": "lab", "user": user}],
            "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "lab"}}],
            "current-context": "lab",
        }
        return yaml.safe_dump(config, sort_keys=False)

    def _issue(self, subject: x509.Name, usage: x509.ObjectIdentifier, addresses: Sequence[str]) -> Pair:
        key = ec.generate_private_key(ec.SECP256R1())
        issuer = x509.load_pem_x509_certificate(self.ca.certificate).subject
        signer = _private(self.ca.key)
        builder = _builder(subject, issuer, key.public_key(), signer.public_key())
        builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        if addresses:
            names = x509.SubjectAlternativeName([_general_name(address) for address in addresses])
            builder = builder.add_extension(names, critical=False)
        return Pair(_pem(builder.sign(signer, hashes.SHA256())), _key_pem(key))


def write_private(path: Path, content: str | bytes) -> None:
    """Write a file that only its owner ever could read, replacing an older one at once."""
    partial = path.with_name(f".{path.name}.partial")
    partial.unlink(missing_ok=True)
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
    partial.rename(path)


def _self_signed(name: str) -> Pair:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = _subject(name, None)
    builder = _builder(subject, subject, key.public_key(), key.public_key())
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    # Python 3.13 refuses an authority that does not say what its key is for.
    builder = builder.add_extension(_signing_only(), critical=True)
    return Pair(_pem(builder.sign(key, hashes.SHA256())), _key_pem(key))


def _signing_only() -> x509.KeyUsage:
    others = ("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement")
    never = dict.fromkeys((*others, "encipher_only", "decipher_only"), False)
    return x509.KeyUsage(key_cert_sign=True, crl_sign=True, **never)


def _token_pair() -> Pair:
    key = ec.generate_private_key(ec.SECP256R1())
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return Pair(public, _key_pem(key))


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, signer: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.timezone.utc)
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key)
    builder = builder.serial_number(x509.random_serial_number())
    # Python 3.13 verifies strictly: each certificate names its own key and the one that signed it.
    builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    by = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer)
    builder = builder.add_extension(by, critical=False)
    return builder.not_valid_before(now - EARLY).not_valid_after(now + VALID)


def _subject(name: str, group: str | None) -> x509.Name:
    parts = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group)] if group else []
    return x509.Name([*parts, x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _general_name(address: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(address))
    except ValueError:
        return x509.DNSName(address)


def _private(pem: bytes) -> ec.EllipticCurvePrivateKey:
    key = serialization.load_pem_private_key(pem, None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise TypeError(f"the lab's authority has a {type(key).__name__}, not an elliptic curve key; run lab down")
    return key


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
