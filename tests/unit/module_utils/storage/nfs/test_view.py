# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.nfs.model import Export, Nfs
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.nfs.view import (
    nfs_client,
    shared,
)

from ...site.test_refused import site

NODES = load(site("lab")).nodes
NFS = Nfs((Export("filer", "/x", "/data", options=("noatime",)), Export("nas", "/home", "/home")), wait_s=30)


@pytest.mark.parametrize(
    ("system", "manager", "package"),
    [("ubuntu-24.04", "apt", "nfs-common"), ("rhel-9", "dnf", "nfs-utils"), ("other", "apt", "nfs-common")],
)
def test_the_package_follows_the_operating_system(system: str, manager: str, package: str) -> None:
    view = nfs_client(replace(NODES, os=system), NFS, None)["mounts"]
    assert (view["manager"], view["package"]) == (manager, package)


def test_mounts_are_plain_data_and_share_one_unit() -> None:
    assert nfs_client(NODES, NFS, object())["kubelet"]
    view = nfs_client(NODES, NFS, None)
    assert not view["kubelet"], "a site without Kubernetes gets no file for kubelets"
    mounts = view["mounts"]
    assert [(each["mount"], each["options"]) for each in mounts["mounts"]] == [("/data", ["noatime"]), ("/home", [])]
    assert mounts["wait_s"] == 30 and "ExecStart=/usr/bin/systemctl start /data /home\n" in view["service"]


def test_other_layers_see_source_and_mount() -> None:
    assert [(each.kind, each.source, each.mount) for each in shared(NFS)] == [
        ("nfs", "filer:/x", "/data"),
        ("nfs", "nas:/home", "/home"),
    ]
