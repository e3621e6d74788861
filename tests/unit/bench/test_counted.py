# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Sessions are counted whoever opens them: netmiko in our action, and ssh, which several calls share one of."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from bench.counted import ROOT, Counting, groups, run, spent
from tests.unit.emulated_switch import Leaf

FABRIC = ROOT / "inventories/lab/group_vars/all/fabric.yml"


@pytest.fixture
def counting(tmp_path: Path, leaf: Leaf) -> Counting:
    """A folder for counts, and an inventory of one switch with two ports beside it."""
    variables = {
        "ansible_host": leaf.login.host,
        "ansible_port": leaf.login.port,
        "ansible_user": leaf.login.user,
        "ansible_ssh_private_key_file": leaf.login.key_file,
        "ansible_ssh_common_args": f"-o UserKnownHostsFile={leaf.login.known_hosts_file}",
    }
    inventory = {"all": {"children": {"switches": {"hosts": {"leaf1": variables}}}}}
    (tmp_path / "hosts.yml").write_text(yaml.safe_dump(inventory))
    fabric = yaml.safe_load(FABRIC.read_text())
    fabric["drawbridge_fabric"]["switches"][0]["ports"] = "Ethernet1-2"
    (tmp_path / "group_vars").mkdir()
    (tmp_path / "group_vars/all.yml").write_text(yaml.safe_dump({**fabric, "fabric_switch_may_flap_ports": True}))
    return Counting(tmp_path / "count", f"Host 127.0.0.1\n  Port {leaf.login.port}\n")


def test_netmikos_sessions_are_those_of_the_switchs_journal(counting: Counting, leaf: Leaf, tmp_path: Path) -> None:
    for wanted in (2, 1):
        done = run(counting, "-i", str(tmp_path / "hosts.yml"), "playbooks/parts/fabric.yml")
        assert done.returncode == 0, done.stdout + done.stderr
        assert sum(call.get("event") == "connect" for call in leaf.journal()) == wanted
        report = counting.report("fabric")
        assert spent(report) == {"results": {"leaf1": 2}, "sessions": {"leaf1": wanted}}
        assert report["hosts"]["leaf1"]["received_bytes"] > report["hosts"]["leaf1"]["sent_bytes"] > 1000


def test_calls_of_ssh_share_one_session_and_no_run_finds_that_of_another(
    counting: Counting, leaf: Leaf, tmp_path: Path
) -> None:
    ask = {"ansible.builtin.raw": "show version"}
    play = {"hosts": "leaf1", "gather_facts": False, "tasks": [ask, ask]}
    (tmp_path / "raw.yml").write_text(yaml.safe_dump([play]))
    for _ in range(2):
        done = run(counting, "-i", str(tmp_path / "hosts.yml"), str(tmp_path / "raw.yml"))
        assert done.returncode == 0, done.stdout + done.stderr
        assert sum(call.get("line") == "show version" for call in leaf.journal()) == 2
        assert spent(counting.report("raw")) == {"results": {"leaf1": 2}, "sessions": {"leaf1": 1}}


def test_groups_hold_the_hosts_of_their_children() -> None:
    found = groups()
    assert found["nodes"] == found["gpu"] == ["gpu01", "gpu02", "gpu03", "gpu04"]
    assert {"ctl", "leaf1", *found["nodes"]} <= set(found["all"])


def test_no_master_outlives_the_counting(counting: Counting, tmp_path: Path, leaf: Leaf) -> None:
    master = counting.masters / "one"
    master.parent.mkdir(parents=True)
    counting.prepare()
    options = ["-o", f"UserKnownHostsFile={leaf.login.known_hosts_file}", "-i", leaf.login.key_file]
    lasting = ["-o", "ControlMaster=yes", "-o", "ControlPersist=60", "-o", f"ControlPath={master}"]
    command = ["ssh", "-F", str(counting.ssh_config), *options, *lasting, "admin@127.0.0.1", "show version"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert master.exists()
    counting.close()
    assert not master.exists()
