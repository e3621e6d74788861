# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.daemon.plan import DaemonState
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.member.plan import (
    NO_MEMBER,
    MemberState,
    findings,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.member.text import bootstrap, files

GOOD = MemberState(DaemonState("kubelet.service", {}), True, True)
PARAMS = {
    "name": "gpu01",
    "address": "192.0.2.21",
    "program": "/usr/bin/kubelet",
    "flags": ["--v=2"],
    "ca_file": "/etc/kubernetes/pki/ca.crt",
    "ca": "PEM",
    "config": {"serverTLSBootstrap": True},
}


def test_a_token_is_in_one_file_alone() -> None:
    token = "abcdef.0123456789abcdef"
    text = bootstrap("https://api:6443", "PEM", token)
    assert json.loads(text)["users"][0]["user"] == {"token": token}
    assert not any(token in (other.content or "") for other in files(PARAMS).values())
    with pytest.raises(ValueError, match="six and sixteen"):
        bootstrap("https://api:6443", "PEM", "abcdef")


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (GOOD, []),
        (replace(GOOD, daemon=replace(GOOD.daemon, enabled=False)), ["does not start at boot"]),
        (replace(GOOD, kubelet_serving_cert=False, why="self-signed"), ["self-signed; set serverTLSBootstrap"]),
        (
            replace(GOOD, member=False, kubelet_serving_cert=False, why="it has no certificate"),
            ["no member of the cluster (it has no"],
        ),
        (replace(NO_MEMBER, why="?"), ["does not run", "does not start at boot", "is no member"]),
    ],
)
def test_faults_of_a_membership_are_named(state: MemberState, said: list[str]) -> None:
    found = findings(state, PARAMS)
    assert len(found) == len(said)
    assert all(part in line for part, line in zip(said, found))


def test_lines() -> None:
    assert GOOD.lines()[-1] == "member, serving certificate verified"
    assert NO_MEMBER.lines()[-1] == "no member, serving certificate not verified"
