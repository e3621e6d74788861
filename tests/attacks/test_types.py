# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What Kubernetes finds in the types of the policies' expressions, which strict validation has checked already.

Its controller works only here: it takes a minute of a processor, and in the cluster it is for people.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.attacks.client import Client, Json
from tests.attacks.scene import Scene, until
from tests.stack import ssh

POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
DROP_IN = "/run/systemd/system/kube-controller-manager.service.d/types.conf"
ALONE = "[Service]\nEnvironment=CONTROLLERS=validatingadmissionpolicy-status-controller\n"

pytestmark = pytest.mark.live


@pytest.fixture
def judge(scene: Scene) -> Iterator[None]:
    """The controller that judges types, and no other."""
    ssh(
        "ctl",
        f"install -D /dev/stdin {DROP_IN}; systemctl daemon-reload; systemctl start kube-controller-manager",
        ALONE,
    )
    try:
        yield
    finally:
        ssh("ctl", f"systemctl stop kube-controller-manager; rm {DROP_IN}; systemctl daemon-reload")


def judged(client: Client) -> dict[str, Json] | None:
    """What it says of each policy; None before it has looked at all."""
    found = client.ask("GET", POLICIES).body["items"]
    if any("typeChecking" not in policy.get("status", {}) for policy in found):
        return None
    return {policy["metadata"]["name"]: policy["status"]["typeChecking"] for policy in found}


@pytest.mark.usefixtures("judge")
def test_kubernetes_finds_no_fault_in_the_policies_types(client: Client) -> None:
    until(lambda: judged(client), "the policies' types are checked")
    found = judged(client)
    assert found and all(name.startswith("drawbridge-") for name in found)
    assert {name: warnings for name, warnings in found.items() if warnings} == {}
