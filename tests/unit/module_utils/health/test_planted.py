# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of hardware: each one is named, drains its node alone, and ends as its row says."""

from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.finding import (
    HEALS,
    REBOOT,
    REPAIR,
    Finding,
    written,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.model import Health, Reboot
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.rows import EPILOG, PROLOG
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.check import Output

from tests.unit.module_utils.health.emulated_node import NHC, EmulatedNode
from tests.unit.module_utils.health.planted import FAULTS, HARDWARE
from tests.unit.module_utils.health.simulated import PERSON, Controller, site
from tests.unit.module_utils.proof.checks.healthy import SMI, xml

SICK, MATE = "n05", "n06"


def planted(name: str) -> tuple[Finding, ...]:
    """What a node with this fault finds."""
    node = EmulatedNode(SICK, nhc=NHC)
    node.said[NHC, "MARK_OFFLINE=0", "DETACHED_MODE=0"] = ""
    FAULTS[name].plant(node)
    return node.look()


def drained(*found: Finding, proofs: tuple[str, ...] = ()) -> Controller:
    """A site with these findings of one node, after a look of the controller."""
    controller = site([8, 8], Health(reboot=Reboot(allowed=True)), proofs)
    controller.report(SICK, *found)
    controller.report(MATE)
    controller.look()
    assert controller.drained() == {SICK} and not controller.memory.opened
    return controller


def state(controller: Controller) -> str:
    own = controller.slurm.records[SICK]
    return "+".join([own.state, *sorted(own.flags)])


def test_there_are_enough_faults() -> None:
    assert len(HARDWARE) >= 30


def test_a_healthy_node_has_no_finding() -> None:
    node = EmulatedNode(SICK)
    assert [node.look(it) for it in ("health", PROLOG, EPILOG)] == [(), (), ()]
    node.pass_time(300.0)
    assert node.look() == ()


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_and_ends_as_its_row_says(name: str) -> None:
    fault, found = FAULTS[name], planted(name)
    assert fault.fits(found), found
    controller = drained(*found)
    assert all(str(it) in controller.slurm.records[SICK].reason for it in written(found))
    controller.report(SICK)
    controller.look()
    if fault.ends == HEALS:
        assert state(controller) == "IDLE"
        return
    assert "DRAIN" in state(controller)
    if fault.ends == REBOOT:
        assert state(controller) == "IDLE+DRAIN+REBOOT_REQUESTED"
        controller.slurm.issue(SICK)
    controller.slurm.register(SICK, booted=True)
    controller.look()
    assert state(controller) == ("IDLE" if fault.ends == REBOOT else "IDLE+DRAIN")
    if fault.ends == REPAIR:
        controller.slurm.scontrol(["scontrol", "update", f"nodename={SICK}", "state=resume"], PERSON)
    controller.look()
    assert state(controller) == "IDLE" and not controller.drained()


@pytest.mark.parametrize("name", [name for name, it in FAULTS.items() if it.ends == REBOOT])
def test_a_fault_that_lasts_after_its_reboot_waits_for_a_repair(name: str) -> None:
    found = planted(name)
    controller = drained(*found)
    controller.look()
    controller.slurm.issue(SICK)
    controller.slurm.register(SICK, booted=True)
    controller.look()
    assert state(controller) == "DOWN+DRAIN" and "[node repair] " in controller.slurm.records[SICK].reason
    controller.report(SICK)
    assert not controller.look().acts


@pytest.mark.parametrize("name", [name for name, it in FAULTS.items() if it.ends == REBOOT])
def test_after_its_reboot_a_node_of_a_class_with_passports_waits_for_a_proof(name: str) -> None:
    controller = drained(*planted(name), proofs=(SICK,))
    controller.look()
    controller.slurm.issue(SICK)
    controller.report(SICK)
    controller.slurm.register(SICK, booted=True)
    controller.look()
    assert state(controller) == "DOWN+DRAIN" and "needs a new proof" in controller.slurm.records[SICK].reason
    assert not controller.look().acts


@pytest.mark.parametrize("where", [PROLOG, EPILOG])
def test_what_a_job_waits_for_reads_files_alone(where: str) -> None:
    for name, seen in {"dead rail": True, "MTU mismatch": True, "ECC errors": False, "full disk": False}.items():
        node = EmulatedNode(SICK, nhc=NHC)
        FAULTS[name].plant(node)
        found = node.look(where)
        assert FAULTS[name].fits(found) if seen else found == ()
        assert not node.calls


def test_a_fault_that_is_seen_once_is_none() -> None:
    """Of a busy node: its tool is late, or prints something else, at the first try."""
    for answer in (Output("", "", 124), Output("", "", 1), "", str(EmulatedNode().said[SMI])[:4000], xml(1)):
        node = EmulatedNode(SICK)
        node.said[SMI] = [answer, str(node.said[SMI])]
        assert node.look() == () and node.calls.count(SMI) == 2
