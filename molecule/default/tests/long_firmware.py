# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""On demand, on the hosts of this scenario: rolling.yml sets parameters of NIC firmware, and boots the node."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from .conftest import Lab

NODE, RAILS = "gpu04", 8
NODES = "inventories/lab/group_vars/all/nodes.yml"
FACTORY = {"ATS_ENABLED": ["False(0)"] * 3, "SRIOV_EN": ["False(0)", "True(1)", "True(1)"]}
"""[default, current, next boot] of each port; an administrator had switched SRIOV_EN on."""
WANTED = ["ATS_ENABLED=1", "SRIOV_EN=0"]
IN_EFFECT = {"ATS_ENABLED": ["False(0)", "True(1)", "True(1)"], "SRIOV_EN": ["False(0)"] * 3}
TOOL, STATE = "/usr/local/bin/mlxconfig", "/var/lib/lab/mlxconfig"
SET = "in its firmware"


def firmware(lab: Lab) -> list[dict[str, list[str]]]:
    """The parameters of each port."""
    return list(json.loads(lab.ssh(NODE, f"cat {STATE}/state.json"))["devices"].values())


def boot(lab: Lab) -> str:
    return lab.ssh(NODE, "cat /proc/sys/kernel/random/boot_id")


@pytest.fixture(scope="module")
def given(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, ...]]:
    """The intent with parameters of firmware. The node has mlxconfig, and ports with other parameters."""
    ports = " ".join(f"/sys/class/net/rail{rail}/device" for rail in range(RAILS))
    addresses = [Path(line).name for line in lab.ssh(NODE, f"readlink -f {ports}").split()]
    state = json.dumps({"devices": dict.fromkeys(addresses, FACTORY)})
    lab.ssh(NODE, f"ln -sfn /opt/lab/launch {TOOL}; mkdir -p {STATE}; cat > {STATE}/state.json", stdin=state)
    intent: dict[str, Any] = yaml.safe_load(Path(NODES).read_text())
    intent["drawbridge_nodes"]["classes"]["h100"]["nics"][0]["firmware"] = WANTED
    file = tmp_path_factory.mktemp("firmware") / "nodes.json"
    file.write_text(json.dumps(intent))
    yield "-e", f"@{file}"
    lab.ssh(NODE, f"rm -rf {TOOL} {STATE}")


def test_a_run_without_consent_sets_nothing_and_prints_the_line(lab: Lab, given: tuple[str, ...]) -> None:
    done = lab.playbook("nic", "--limit", f"{NODE},localhost", *given)
    assert done.code == 0, done.output
    assert "add fabric_nic_may_set_firmware: true" in str(done.results())
    assert firmware(lab) == [FACTORY] * RAILS


def test_a_maintenance_without_consent_is_refused(lab: Lab, given: tuple[str, ...]) -> None:
    done = lab.playbook(
        "rolling", "-e", f"rolling_nodes={NODE}", "-e", "rolling_maintenance=no", "-e", "rolling_what=firmware", *given
    )
    assert done.code == 2
    assert "give the consent -e fabric_nic_may_set_firmware=true" in str(done.results())


def test_the_parameters_are_in_effect_after_the_maintenance(lab: Lab, given: tuple[str, ...]) -> None:
    before, name = boot(lab), f"firmware-{time.time():.0f}"
    consent = ("-e", "rolling_what=firmware", "-e", "fabric_nic_may_set_firmware=true", *given)
    done = lab.playbook("rolling", "-e", f"rolling_nodes={NODE}", "-e", f"rolling_maintenance={name}", *consent)
    assert done.code == 0, done.output
    # the node is visited again after its boot
    steps = [step for _, _, result in done.results() for step in result.get("steps") or ()]
    assert sum(SET in step for step in steps) == RAILS
    assert boot(lab) != before
    check = lab.playbook("nic", "--check", "--limit", f"{NODE},localhost", *given)
    assert (check.code, check.changed(), check.steps()) == (0, [], {}), check.output
    assert firmware(lab) == [IN_EFFECT] * RAILS
    assert lab.ssh("ctl", f"sinfo -h -n {NODE} -o %t").strip() in {"idle", "mix", "alloc"}
