# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What Drawbridge reads of this machine's GPUs, beside nvidia-smi. The wrong record claims one more GPU than exists."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Command
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus import instances_text, state
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.listed_io import files, on_bus
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.states import STATES
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.vendors import VENDORS
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.preflight import hardware_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.preflight.hardware_findings import TABLE
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.preflight.model import Answer, of_table
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.model import Intent
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.preflight_view import preflight
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.view import slurm_node

from roles.slurm_gate.files.gate.command import Commands
from roles.slurm_gate.files.gate.host import Host, obstacle
from tests.gpu import machine
from tests.gpu.driver import Gpu, accepts, differences
from tests.gpu.proposed import NODE, intent
from tests.node_record import HEALTH

pytestmark = pytest.mark.live

VENDOR = VENDORS["nvidia"]
ENDS_S = 30.0
"""How long the driver may list a process that has ended."""


def test_describe_reads_each_gpu_as_nvidia_smi_does(gpus: list[Gpu], facts: dict[str, Any]) -> None:
    assert differences(gpus, facts["gpus"]) == []
    assert [line for line in facts["missing"] if "GPU" in line] == []


def test_the_proposed_class_has_these_gpus_and_a_type_that_slurm_accepts(
    gpus: list[Gpu], described: dict[str, Any]
) -> None:
    mine = intent(described).nodes.class_of(NODE).gpus
    assert (mine.vendor, mine.count, mine.present) == ("nvidia", len(gpus), len(gpus))
    assert mine.numbers == [gpu.minor for gpu in gpus]
    assert not mine.divided
    assert accepts(gpus[0].name, mine.type)


def test_the_state_reader_knows_every_text_of_this_driver(gpus: list[Gpu], run: Command) -> None:
    reader = STATES["nvidia"]
    found = reader.read([run(list(argv)).out for argv in reader.programs], {})
    assert [(it.values[state.PCI], it.values[state.PRODUCT]) for it in found] == [(it.pci, it.name) for it in gpus]
    assert [dict(it.unknown) for it in found] == [{}] * len(gpus)


def test_the_driver_lists_whole_gpus_that_are_not_in_mig_mode(gpus: list[Gpu], run: Command) -> None:
    listing = run(list(VENDOR.listing)).out
    assert instances_text.listed(listing, VENDOR) == [{}] * len(gpus)
    assert [gpu.uuid in line for gpu, line in zip(gpus, listing.splitlines(), strict=True)] == [True] * len(gpus)
    assert VENDOR.divider
    modes = VENDOR.divider.read_modes(run(list(VENDOR.divider.modes)).out)
    assert [it.now or it.later for it in modes] == [False] * len(gpus)


def test_each_gpu_has_its_device_file_its_place_on_the_bus_and_its_uuid(gpus: list[Gpu]) -> None:
    assert files(VENDOR, [gpu.minor for gpu in gpus]) == [gpu.minor for gpu in gpus]
    assert {gpu.pci for gpu in gpus} <= set(on_bus(VENDOR))
    for gpu in gpus:
        about = Path(VENDOR.about.format(pci=gpu.pci)).read_text()
        keys = dict(line.split(":", 1) for line in about.splitlines())
        assert keys[VENDOR.identity].strip() == gpu.uuid


@pytest.mark.parametrize("more", [0, 1])
def test_preflight_finds_a_wrong_number_of_gpus_alone(
    gpus: list[Gpu], described: dict[str, Any], run: Command, more: int
) -> None:
    own = intent(described)
    want = preflight(None, own.nodes, own.slurm, {}, None, NODE)
    want = {**want, "gpus": want["gpus"] + more}
    answer = Answer(NODE, {"gpus": hardware_io.gpus(want, run)}, want)
    found = {it.name: it.text for it in of_table(TABLE, answer) if it.name in ("gpu_count", "gpu_vendor", "gpu_driver")}
    assert found == ({"gpu_count": f"it has {len(gpus)} GPUs, its node class has {len(gpus) + 1}"} if more else {})


@pytest.mark.parametrize("more", [0, 1])
def test_the_health_check_finds_a_wrong_number_of_gpus_alone(
    gpus: list[Gpu], described: dict[str, Any], tmp_path: Path, more: int
) -> None:
    wanted = health(intent(described, more=more))
    check = HEALTH.Check(tmp_path, machine.LIMIT_S, machine.LIMIT_S)
    finding = HEALTH.finding(lambda: check.gpus(wanted["gpus"], wanted["gpu_files"], wanted["gpu_list"]))
    assert finding == (f"{len(gpus)} GPUs instead of {len(gpus) + 1}" if more else "")


def health(own: Intent) -> dict[str, Any]:
    """The record of the health check on the node."""
    placed = slurm_node(own.nodes, own.slurm, NODE, True)["slurmd"]
    (content,) = (file["content"] for file in placed if file["path"].endswith("/health.json"))
    return json.loads(content)


def test_the_gate_sees_a_process_with_a_cuda_context_until_it_ends(gpus: list[Gpu]) -> None:
    host = Host(Commands(), "ctr", VENDOR.proof())
    assert left(host) == ""
    with machine.computing() as pid:
        name = host.gpu_processes()[pid]
        assert f"process {pid} ({name}) uses a GPU" in left(host)
        assert pid in host.holders()
    deadline = time.monotonic() + ENDS_S
    while (found := left(host)) and time.monotonic() < deadline:
        time.sleep(1)
    assert found == ""


def test_the_driver_lists_a_process_with_a_cuda_context_by_its_number(gpus: list[Gpu]) -> None:
    if not machine.in_hosts_pids():
        pytest.skip("NOT CHECKED: in this PID namespace the driver's numbers of processes mean nothing")
    with machine.computing() as pid:
        assert pid in machine.users()


def left(host: Host) -> str:
    """Why GPUs are in use; empty if they are not. The driver's own daemons may hold them."""
    found = host.gpu_processes()
    return obstacle([], found, host.daemons(found, VENDOR.daemons))
