# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A control plane without nodes, once for all tables."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.hosts.paths import REPOSITORY, Paths
from tests.attacks.client import Client
from tests.attacks.scene import Scene, build, until

LAB = (sys.executable, str(REPOSITORY / "lab/lab"))
STILL = "systemctl stop kube-controller-manager kube-scheduler"
ADMIN = "/apis/rbac.authorization.k8s.io/v1/clusterroles/admin"


def control_plane(folder: Path) -> Iterator[Client]:
    """The lab's API server, alone on its host, for as long as a fixture has it."""
    try:
        subprocess.run([*LAB, "up", "ctl"], check=True, timeout=300)
        found = Client(Paths.of().kubeconfig, folder)
        yield found
        found.close()
    finally:
        subprocess.run([*LAB, "down"], check=True, timeout=120)


def stage(client: Client) -> Scene:
    """The cluster when the attacks begin, without controllers."""
    until(lambda: client.ask("GET", ADMIN).body.get("rules"), "Kubernetes' own roles are complete")
    ssh = ["ssh", "-F", str(Paths.of().ssh_config), "ctl", STILL]
    return build(client, lambda: subprocess.check_call(ssh, timeout=60))


@pytest.fixture(scope="session")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """The lab's API server, for all tables."""
    yield from control_plane(tmp_path_factory.mktemp("admin"))


@pytest.fixture(scope="session")
def scene(client: Client) -> Scene:
    """The stage."""
    return stage(client)
