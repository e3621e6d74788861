# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The mounts as the kernel and systemd have them, a stale one, a server that refuses, and an export that goes."""

from __future__ import annotations

import json
from typing import Any

from lab.hosts.paths import Paths
from tests.running import Lab, Run
from tests.stack import lab, ssh, until

DATA = {"server": "filer", "export": "/export/data", "mount": "/nfs/data", "nconnect": 4, "options": ["noatime"]}
MORE = {"server": "filer", "export": "/export/data/more", "mount": "/nfs/more"}


def run(*exports: dict[str, Any], **variables: Any) -> Run:
    told = json.dumps({"exports": exports, **variables})
    return Lab(Paths.of()).playbook("../molecule/nfs_client/converge", "--extra-vars", told)


def failure(done: Run) -> str:
    assert done.code != 0
    return "".join(result["msg"] for _, _, result in done.results() if result.get("failed"))


def mounted() -> list[str]:
    return ssh("gpu01", "findmnt --noheadings --list --output TARGET | grep ^/nfs/ || true").split()


def test_the_export_is_mounted_by_a_unit_that_starts_before_slurmd_and_kubelet() -> None:
    assert mounted() == ["/nfs/data"]
    assert ssh("gpu01", "systemctl is-active nfs-data.mount").strip() == "active"
    flags = ssh("gpu01", "nfsstat -m")
    assert "/nfs/data from filer:/export/data" in flags and "nconnect=4" in flags and "noatime" in flags
    for daemon in ("slurmd", "kubelet"):
        drop_in = ssh("gpu01", f"cat /etc/systemd/system/{daemon}.service.d/30-drawbridge-nfs.conf")
        assert "After=drawbridge-nfs.service" in drop_in


def test_an_export_that_the_server_lacks_is_named() -> None:
    words = failure(run(DATA, MORE))
    assert "filer:/export/data/more can't be mounted at /nfs/more: " in words
    assert "No such file or directory; correct export in drawbridge_nfs.mounts" in words


def test_a_server_that_refuses_is_named_and_the_next_run_mounts() -> None:
    ssh("gpu01", "mkdir /nfs/data/more")
    lab("fault", "gpu01", "mount.nfs", "refuse", "--times", "0")
    try:
        words = failure(run(DATA, MORE))
    finally:
        lab("fault", "gpu01", "mount.nfs", "--clear")
    assert "filer:/export/data/more can't be mounted at /nfs/more" in words
    done = run(DATA, MORE)
    assert done.code == 0, done.output
    assert sorted(mounted()) == ["/nfs/data", "/nfs/more"]


def test_a_mount_that_is_used_is_never_unmounted_by_force() -> None:
    # a service would be stopped with the mount: its working directory makes it depend on that
    ssh("gpu01", "systemd-run --quiet --unit=reader sh -c 'cd /nfs/more && exec sleep infinity'")
    where = "readlink /proc/$(systemctl show --property MainPID --value reader)/cwd"
    until(lambda: ssh("gpu01", where).strip() == "/nfs/more", 60, "somebody is in the mount")
    try:
        assert "sleep" in failure(run(DATA, nfs_client_may_unmount=True))
        assert "/nfs/more" in mounted()
    finally:
        ssh("gpu01", "systemctl stop reader")
    done = run(DATA, nfs_client_may_unmount=True)
    assert done.code == 0, done.output
    assert mounted() == ["/nfs/data"]
    assert run(DATA).steps() == {}
