# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The mounts as the kernel and systemd have them, a stale one, a server that refuses, and an export that goes."""

from __future__ import annotations

import json
from typing import Any

from lab.hosts.paths import Paths
from tests.running import Lab, Run
from tests.stack import lab, ssh

DATA = {"server": "filer", "export": "/export/data", "mount": "/nfs/data", "nconnect": 4, "options": ["noatime"]}
MORE = {"server": "filer", "export": "/export/more", "mount": "/nfs/more"}


def run(*exports: dict[str, Any], **variables: Any) -> Run:
    told = json.dumps({"exports": exports, **variables})
    return Lab(Paths.of()).playbook("../molecule/nfs_client/converge", "--extra-vars", told)


def failure(done: Run) -> str:
    assert done.code != 0
    return "".join(result["msg"] for _, _, result in done.results() if result.get("failed"))


def mounted() -> list[str]:
    return ssh("gpu01", "findmnt --noheadings --list --output TARGET | grep ^/nfs/ || true").split()


def test_both_exports_are_mounted_by_units_that_start_before_slurmd_and_kubelet() -> None:
    assert sorted(mounted()) == ["/nfs/data", "/nfs/sets"]
    assert ssh("gpu01", "systemctl is-active nfs-data.mount nfs-sets.mount").split() == ["active"] * 2
    flags = ssh("gpu01", "nfsstat -m")
    assert "/nfs/data from filer:/export/data" in flags and "nconnect=4" in flags and "noatime" in flags
    for daemon in ("slurmd", "kubelet"):
        drop_in = ssh("gpu01", f"cat /etc/systemd/system/{daemon}.service.d/30-drawbridge-nfs.conf")
        assert "After=drawbridge-nfs.service" in drop_in


def test_a_server_that_refuses_is_named_and_the_next_run_mounts() -> None:
    lab("fault", "gpu01", "mount.nfs", "refuse", "--times", "0")
    try:
        words = failure(run(DATA, MORE, nfs_client_may_unmount=True))
    finally:
        lab("fault", "gpu01", "mount.nfs", "--clear")
    assert "filer:/export/more can't be mounted at /nfs/more" in words
    done = run(DATA, MORE, nfs_client_may_unmount=True)
    assert done.code == 0, done.output
    assert sorted(mounted()) == ["/nfs/data", "/nfs/more"]


def test_a_mount_that_is_used_is_never_unmounted_by_force() -> None:
    ssh("gpu01", "cd /nfs/more; systemd-run --quiet --unit=reader --working-directory=/nfs/more sleep infinity")
    try:
        assert "sleep" in failure(run(DATA, nfs_client_may_unmount=True))
        assert "/nfs/more" in mounted()
    finally:
        ssh("gpu01", "systemctl stop reader")
    done = run(DATA, nfs_client_may_unmount=True)
    assert done.code == 0, done.output
    assert mounted() == ["/nfs/data"]
    assert run(DATA).steps() == {}
