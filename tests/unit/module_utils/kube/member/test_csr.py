# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import base64
import ipaddress
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.member.csr import (
    CLIENT,
    SERVING,
    Applicant,
    refusal,
)
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

GPU01 = Applicant("gpu01", "192.0.2.21", "abcdef")
OTHER = ec.generate_private_key(ec.SECP256R1())
ME = "system:node:gpu01"


def item(
    signer: str = SERVING,
    common: str = ME,
    group: str = "system:nodes",
    names: tuple[str, ...] = ("gpu01", "192.0.2.21"),
    usages: tuple[str, ...] = ("digital signature", "server auth"),
    username: str = ME,
) -> dict[str, Any]:
    """A request as the API server has it."""
    subject = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group), x509.NameAttribute(NameOID.COMMON_NAME, common)]
    builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name(subject))
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName([general(name) for name in names]), critical=False)
    pem = builder.sign(OTHER, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    spec = {
        "signerName": signer,
        "username": username,
        "usages": list(usages),
        "request": base64.b64encode(pem).decode(),
    }
    return {"metadata": {"name": "csr-x"}, "spec": spec, "status": {}}


def general(name: str) -> x509.GeneralName:
    if name.startswith("https:"):
        return x509.UniformResourceIdentifier(name)
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


FIRST = {"signer": CLIENT, "names": (), "usages": ("digital signature", "key encipherment", "client auth")}


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        (item(), ""),
        (item(names=("gpu01",)), ""),
        (item(**FIRST), ""),
        (item(common="system:node:gpu02"), "its subject is CN=system:node:gpu02"),
        (item(group="system:masters"), "its subject is"),
        (item(names=("gpu01", "192.0.2.22")), "it requests 192.0.2.22"),
        (item(names=("gpu01", "kubernetes.default.svc")), "it requests kubernetes.default.svc"),
        (item(names=("gpu01", "https://kubernetes")), "it requests https://kubernetes"),
        (item(names=()), "it names no address"),
        (item(usages=("client auth",)), "its usages are client auth"),
        (item(usages=("server auth", "client auth")), "its usages are client auth, server auth"),
        (item(**{**FIRST, "names": ("gpu01",)}), "it requests gpu01"),
        (item(**{**FIRST, "usages": ("any",)}), "its usages are any"),
        ({**item(), "spec": {**item()["spec"], "request": "bm90aGluZw=="}}, "it can't be parsed"),
    ],
)
def test_only_due_requests_are_approved(request_: dict[str, Any], why: str) -> None:
    found = refusal(request_, GPU01)
    assert why in found
    assert bool(why) == bool(found)


@pytest.mark.parametrize(
    ("request_", "applicant", "sent"),
    [
        (item(), GPU01, True),
        (item(username="system:node:gpu02"), GPU01, False),
        # its name in the request is no evidence of who sent it
        (item(username="system:bootstrap:zzzzzz"), GPU01, False),
        (item(**FIRST, username="system:bootstrap:abcdef"), GPU01, True),
        (item(**FIRST, username="system:bootstrap:zzzzzz"), GPU01, False),
        # a member renews its own
        (item(**FIRST), Applicant("gpu01", "192.0.2.21"), True),
        (item(**FIRST, username="system:bootstrap:"), Applicant("gpu01", "192.0.2.21"), False),
        ({**item(), "status": {"conditions": [{"type": "Denied"}]}}, GPU01, False),
    ],
)
def test_the_api_server_says_who_asks(request_: dict[str, Any], applicant: Applicant, sent: bool) -> None:
    assert applicant.sent(request_) is sent
