# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import tomllib
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.member.view import kube_node

from tests.unit.module_utils.lab import kube

PEM = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----"


def test_a_registry_with_a_certificate_of_its_own() -> None:
    registry = {"name": "nvcr.io", "mirrors": ["https://mirror"], "ca": PEM}
    hosts, authority = kube_node(kube(registries=[registry]))["runtime"]["registries"]
    assert (hosts["path"], authority["path"]) == (
        "/etc/containerd/certs.d/nvcr.io/hosts.toml",
        "/etc/containerd/certs.d/nvcr.io/ca.crt",
    )
    assert tomllib.loads(hosts["content"])["ca"] == authority["path"]
    assert authority["content"].endswith(f"{PEM}\n")
