# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.member import (
    admission_io as kube_admission,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.member.admission_io import (
    SECRETS,
    SIGNERS,
    Approver,
    token,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.member.csr import Applicant
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.member.text import (
    OWN_TOKEN,
    SERVING_SIGNER,
)

from tests.unit.module_utils.kube.member.test_csr import FIRST, item


class Api:
    """Secrets and signing requests. Each change has a version, and a watch returns the changes after one."""

    def __init__(self, *items: dict[str, Any], refuse: int = 0) -> None:
        self.items, self.refuse = list(items), refuse
        self.calls: list[tuple[str, str]] = []
        self.bodies: list[Any] = []
        self.changes: list[tuple[int, str, dict[str, Any]]] = []
        self.version, self.oldest = 7, 7

    def __call__(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        self.calls.append((method, path))
        self.bodies.append(body)
        if self.refuse:
            return self.refuse, {"message": "no"}
        if method == "WATCH":
            return self._watch({key: one for key, (one,) in parse_qs(urlsplit(path).query).items()})
        if method == "GET":
            items = [it for it in self.items if it["spec"]["signerName"] == signer(path)]
            return 200, {"items": items, "metadata": {"resourceVersion": str(self.version)}}
        if method == "PUT":
            [found] = [it for it in self.items if f"/{it['metadata']['name']}/approval" in path]
            found["status"] = body["status"]
            self.changed("MODIFIED", found)
        return 200, {}

    def create(self, new: dict[str, Any]) -> None:
        self.items.append(new)
        self.changed("ADDED", new)

    def changed(self, kind: str, it: dict[str, Any]) -> None:
        self.version += 1
        seen = {**it, "metadata": {**it["metadata"], "resourceVersion": str(self.version)}}
        self.changes.append((self.version, kind, seen))

    def _watch(self, query: dict[str, str]) -> tuple[int, Any]:
        assert 0 < int(query["timeoutSeconds"]) <= 2
        since = int(query["resourceVersion"])
        if since < self.oldest:
            return 200, {"items": [{"type": "ERROR", "object": {"kind": "Status", "code": 410, "message": "too old"}}]}
        name = query["fieldSelector"].removeprefix("spec.signerName=")
        found = [
            {"type": kind, "object": it}
            for version, kind, it in self.changes
            if version > since and it["spec"]["signerName"] == name
        ]
        return 200, {"items": found}

    def approved(self) -> list[str]:
        return [path.split("/")[-2] for method, path in self.calls if method == "PUT"]

    def lists(self) -> int:
        return sum(method == "GET" for method, _ in self.calls)


def signer(path: str) -> str:
    return parse_qs(urlsplit(path).query)["fieldSelector"][0].removeprefix("spec.signerName=")


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


def rounds(approver: Approver, number: int = 1) -> None:
    for _ in range(number):
        for kind in SIGNERS:
            approver.approve(kind)


def test_this_nodes_requests_are_approved_and_no_others() -> None:
    first = named("csr-1", **FIRST, username="system:bootstrap:abcdef")
    own, others = named("csr-2"), named("csr-3", username="system:node:gpu02", common="system:node:gpu02")
    greedy = named("csr-4", names=("gpu01", "192.0.2.99"))
    api = Api(first, own, others, greedy)
    approver = Approver(api, GPU01)
    rounds(approver)
    assert api.approved() == ["csr-1", "csr-2"]
    assert first["status"]["conditions"][0]["type"] == "Approved"
    assert approver.refused == {"csr-4": "it requests 192.0.2.99"}
    api.calls.clear()
    rounds(approver, 5)
    assert {method for method, _ in api.calls} == {"WATCH"}


def test_after_the_first_list_the_api_server_sends_changes_alone() -> None:
    """A thousand nodes that join have thousands of requests, and each node's approver would read all of them."""
    api = Api(*(named(f"csr-{n}", username="system:node:gpu02") for n in range(1000)))
    approver = Approver(api, GPU01)
    rounds(approver, 3)
    api.create(named("csr-new", **FIRST, username="system:bootstrap:abcdef"))
    rounds(approver, 3)
    api.create(named("csr-serving"))
    rounds(approver, 3)
    assert api.approved() == ["csr-new", "csr-serving"]
    assert api.lists() == len(SIGNERS)


@pytest.fixture
def api() -> Api:
    return Api()


@pytest.fixture
def approver(api: Api) -> Approver:
    """It has listed all requests, of which there were none."""
    approver = Approver(api, GPU01)
    rounds(approver)
    return approver


@pytest.mark.parametrize("status", [200, 410])
def test_a_version_that_the_api_server_has_forgotten_needs_a_new_list(
    api: Api, approver: Approver, status: int
) -> None:
    """It says so in an event, or by the status of its answer."""
    api.create(named("csr-2"))
    if status == 200:
        api.oldest = api.version
    else:
        api.refuse = status
    rounds(approver)
    api.refuse = 0
    rounds(approver)
    assert api.approved() == ["csr-2"]
    assert api.lists() == 2 * len(SIGNERS)


def test_a_request_that_could_not_be_approved_is_not_forgotten(api: Api, approver: Approver) -> None:
    api.create(named("csr-2"))

    def busy(method: str, path: str, body: Any) -> tuple[int, Any]:
        return (503, {"message": "busy"}) if method == "PUT" else api(method, path, body)

    approver.ask = busy
    with pytest.raises(DeviceError, match="signing request csr-2 can't be approved: busy"):
        approver.approve(SERVING_SIGNER)
    approver.ask = api
    rounds(approver)
    assert api.approved() == ["csr-2"]


def test_an_error_of_a_watch_is_reported(approver: Approver) -> None:
    status = {"kind": "Status", "code": 500, "message": "etcd is away"}
    approver.ask = lambda *_: (200, {"items": [{"type": "ERROR", "object": status}]})
    with pytest.raises(DeviceError, match="signing requests can't be watched: etcd is away"):
        approver.approve(SERVING_SIGNER)


def test_it_works_while_others_wait_and_ends(monkeypatch: Any) -> None:
    monkeypatch.setattr(kube_admission, "PAUSE_S", 0.001)
    own = named("csr-2")
    approver = Approver(Api(own), GPU01)
    with approver.running():
        while not own["status"].get("conditions"):
            pass
    assert approver.error == ""


class Waits:
    """In place of the event that ends the thread: how long it waited, until it has waited so often."""

    def __init__(self, often: int) -> None:
        self.often, self.seconds = often, list[float]()

    def wait(self, seconds: float) -> bool:
        self.seconds.append(seconds)
        return len(self.seconds) > self.often


def test_an_api_server_in_trouble_gets_fewer_requests_and_a_well_one_no_fewer() -> None:
    api = Api(refuse=503)
    approver, waits = Approver(api, GPU01), Waits(8)
    approver.follow(SERVING_SIGNER, waits)
    pauses = waits.seconds[1:]
    assert pauses[:3] == [kube_admission.PAUSE_S * factor for factor in (2, 4, 8)]
    assert pauses[-1] == kube_admission.LONGEST_PAUSE_S
    assert approver.error == "signing requests can't be listed: no"
    api.refuse = 0
    approver.follow(SERVING_SIGNER, waits := Waits(3))
    assert {*waits.seconds} == {kube_admission.PAUSE_S}
    assert approver.error == ""
    # the host would wait for its certificate, and its time limit would be the only message
    approver.ask = lambda *_: {}["items"]
    approver.follow(SERVING_SIGNER, Waits(1))
    assert approver.error == "KeyError: 'items'"
