# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The mount and both clusters' records, after converge and a second run."""

from __future__ import annotations

import json

from testinfra.host import Host

from lab.hosts.paths import Paths

SSH_CONFIG = Paths.of().ssh_config
testinfra_hosts = [f"ssh://gpu01?ssh_config={SSH_CONFIG}&timeout=60"]

MM = "/usr/lpp/mmfs/bin"


def of(name: str) -> Host:
    return Host.get_host(f"ssh://{name}", ssh_config=str(SSH_CONFIG), timeout=60)


def written(host: Host) -> list[str]:
    journal = host.check_output("cat /var/lib/lab/gpfs/journal.jsonl").splitlines()
    return [call["tool"] for call in map(json.loads, journal) if call["writes"]]


def test_the_node_has_the_owners_file_system_and_is_no_member_there(host: Host) -> None:
    assert " /gpfs/data " in host.check_output("cat /proc/self/mountinfo")
    row = host.check_output(f"{MM}/mmlsmount data -L -Y").splitlines()[-1].split(":")
    assert row[6:9] == ["data", "fs1", "drawbridge-lab.ess1"]
    assert "gpu01" not in of("ess1").check_output(f"{MM}/mmlscluster -Y")


def test_root_is_squashed(host: Host) -> None:
    assert "fs1       (rw, root remapped to 65534:65534)" in of("ess1").check_output(f"{MM}/mmauth show all")


def test_each_side_was_changed_once_and_the_second_run_wrote_nothing(host: Host) -> None:
    assert written(of("ess1")) == ["mmauth", "mmauth"]
    assert written(of("nsd1")) == ["mmaddnode", "mmchlicense", "mmremotecluster", "mmremotefs"]
    assert written(host) == ["mmstartup", "mmmount"]


def test_no_key_file_is_left(host: Host) -> None:
    for name in ("nsd1", "ess1"):
        assert of(name).check_output("find /var/lib/drawbridge/gpfs -name '*.pub'") == ""
