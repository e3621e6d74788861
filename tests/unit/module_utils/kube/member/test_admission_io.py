# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.member import (
    admission_io as kube_admission,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.member.admission_io import (
    CSRS,
    SECRETS,
    Approver,
    token,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.member.csr import Applicant
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.member.text import OWN_TOKEN

from tests.unit.module_utils.kube.member.test_csr import FIRST, item


class Api:
    """Secrets and signing requests."""

    def __init__(self, *items: dict[str, Any], refuse: int = 0) -> None:
        self.items, self.refuse = list(items), refuse
        self.calls: list[tuple[str, str]] = []
        self.bodies: list[Any] = []

    def __call__(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        self.calls.append((method, path))
        self.bodies.append(body)
        if self.refuse:
            return self.refuse, {"message": "no"}
        if method == "GET":
            signer = path.rpartition("%3D")[2].replace("%2F", "/")
            return 200, {"items": [it for it in self.items if it["spec"]["signerName"] == signer]}
        if method == "PUT":
            for it in self.items:
                if it["metadata"]["name"] in path:
                    it["status"] = body["status"]
        return 200, {}


GPU01 = Applicant("gpu01", "192.0.2.21", "abcdef")


def test_a_token_is_good_for_one_purpose_and_gone_after() -> None:
    api = Api()
    with pytest.raises(ZeroDivisionError), token(api, "gpu01") as made:
        assert OWN_TOKEN.fullmatch(made)
        raise ZeroDivisionError
    secret = api.bodies[0]["stringData"]
    assert {key for key in secret if key.startswith("usage")} == {"usage-bootstrap-authentication"}
    assert secret["auth-extra-groups"] == "system:bootstrappers:drawbridge"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", secret["expiration"])
    assert api.calls == [("POST", SECRETS), ("DELETE", f"{SECRETS}/bootstrap-token-{made[:6]}")]


def test_without_the_right_there_is_no_token() -> None:
    with pytest.raises(DeviceError, match="no bootstrap token for gpu01: no"), token(Api(refuse=403), "gpu01"):
        pass


def named(name: str, **change: Any) -> dict[str, Any]:
    return {**item(**change), "metadata": {"name": name}}


def test_this_nodes_requests_are_approved_and_no_others() -> None:
    first = named("csr-1", **FIRST, username="system:bootstrap:abcdef")
    own, others = named("csr-2"), named("csr-3", username="system:node:gpu02", common="system:node:gpu02")
    greedy = named("csr-4", names=("gpu01", "192.0.2.99"))
    api = Api(first, own, others, greedy)
    approver = Approver(api, GPU01)
    approver.approve()
    assert [path for method, path in api.calls if method == "PUT"] == [f"{CSRS}/csr-{n}/approval" for n in (1, 2)]
    assert first["status"]["conditions"][0]["type"] == "Approved"
    assert approver.refused == {"csr-4": "it requests 192.0.2.99"}
    api.calls.clear()
    approver.approve()
    assert {method for method, _ in api.calls} == {"GET"}


def test_it_works_while_others_wait_and_ends(monkeypatch: Any) -> None:
    monkeypatch.setattr(kube_admission, "POLL_S", 0.001)
    own = named("csr-2")
    approver = Approver(Api(own), GPU01)
    with approver.running():
        while not own["status"].get("conditions"):
            pass
    assert approver.error == ""


@pytest.mark.parametrize(
    ("api", "error"),
    [
        (Api(refuse=403), "signing requests can't be listed: no"),
        (lambda *_: {}["items"], "KeyError: 'items'"),
    ],
)
def test_errors_reach_the_report(monkeypatch: Any, api: Any, error: str) -> None:
    """The host would wait for its certificate, and its time limit would be the only message."""
    monkeypatch.setattr(kube_admission, "POLL_S", 0.001)
    approver = Approver(api, GPU01)
    with approver.running():
        while not approver.error:
            pass
    assert approver.error == error
