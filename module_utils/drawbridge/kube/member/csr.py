# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Certificate signing requests of kubelets: which ones this node sent, and which of these may be approved.

The API server records the sender, and only that record identifies it. The request's own text proves nothing.
"""

from __future__ import annotations

import base64
import ipaddress
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...core.libraries import library
from .text import CLIENT_SIGNER as CLIENT
from .text import SERVING_SIGNER as SERVING

if TYPE_CHECKING:
    from cryptography import x509
else:
    x509 = library("cryptography.x509")

COMMON = frozenset({"digital signature", "key encipherment"})
USAGES = {CLIENT: "client auth", SERVING: "server auth"}


@dataclass(frozen=True)
class Applicant:
    """The node whose requests may be approved, and the id of the bootstrap token made for it ("" for none)."""

    name: str
    address: str
    token_id: str = ""

    @property
    def user(self) -> str:
        """User name of the node's kubelet, once it is a member."""
        return f"system:node:{self.name}"

    def sent(self, item: dict[str, Any]) -> bool:
        """Whether this applicant sent the request, as the API server records it, and the request is still undecided."""
        spec, conditions = item["spec"], (item.get("status") or {}).get("conditions")
        senders = {SERVING: self.user, CLIENT: f"system:bootstrap:{self.token_id}" if self.token_id else self.user}
        return not conditions and spec.get("username") == senders.get(spec["signerName"])


def refusal(item: dict[str, Any], applicant: Applicant) -> str:
    """Why the request may not be approved; empty if it may."""
    signer = item["spec"]["signerName"]
    try:
        request = x509.load_pem_x509_csr(base64.b64decode(item["spec"]["request"]))
    except ValueError as err:
        return f"it can't be parsed: {err}"
    if not request.is_signature_valid:
        return "it is not signed with its own key"
    expected = [(x509.NameOID.COMMON_NAME, applicant.user), (x509.NameOID.ORGANIZATION_NAME, "system:nodes")]
    if Counter((it.oid, str(it.value)) for it in request.subject) != Counter(expected):
        return f"its subject is {request.subject.rfc4514_string()}, not {applicant.name}"
    usages = set(item["spec"].get("usages") or [])
    if USAGES[signer] not in usages or usages - COMMON - {USAGES[signer]}:
        return f"its usages are {', '.join(sorted(usages))}"
    names = alternatives(request)
    allowed = {applicant.name, str(ipaddress.ip_address(applicant.address))} if signer == SERVING else set()
    if more := sorted(names - allowed):
        return f"it requests {', '.join(more)}"
    return "it names no address" if signer == SERVING and not names else ""


def alternatives(request: x509.CertificateSigningRequest) -> set[str]:
    """All names and addresses that the certificate would be valid for."""
    try:
        found = request.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return set()
    return {str(name.value) for name in found}
