# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Why Slurm gives a node no jobs, and what to do. Pure.

Reasons begin with the words of the program that drained the node.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..gate.slurm import APPENDED, FAILED, LOST, REASON
from . import health_finding, health_text
from .health_text import PROVE
from .model import CRITICAL, OK, WARNING, Finding, Node, SlurmNode


class Known(NamedTuple):
    """A drain reason that Drawbridge or Slurm writes. {name}, {rest} and {reason} are filled in."""

    start: str
    level: int
    word: str
    cause: str
    step: str


ONBOARD = "ansible-playbook playbooks/onboard.yml -e 'onboard_nodes={name}'"
RESUME = "scontrol update nodename={name} state=resume"
UNFINISHED = "a run of Drawbridge drained it for a change and did not finish ({reason})"
AGAIN = f"if no run is active, run again, which lifts the drain: {ONBOARD}"
SCRIPT = "a script of Slurm failed on it ({reason})"
LOG = f"ssh {{name}} journalctl {{log}}; when the cause is repaired: {RESUME}"
PARTS = ("drawbridge: prolog part ", "drawbridge: epilog part ")
"""Of the program that runs the site's parts and Drawbridge's."""
REBOOTS = frozenset({"REBOOT_REQUESTED", "REBOOT_ISSUED"})
KNOWN = (
    Known(
        "drawbridge: joins, not proven yet",
        WARNING,
        "joining",
        "it is in Slurm, but its hardware and health are not proved yet",
        f"finish its onboarding: {ONBOARD}",
    ),
    Known(
        "drawbridge: hardware: ",
        CRITICAL,
        "hardware",
        "its hardware differs from its node class: {rest}",
        f"repair the hardware, then prove and resume it: {ONBOARD}",
    ),
    Known(
        "drawbridge: proof: ",
        CRITICAL,
        "failed its proof",
        "{rest}",
        f"repair it, and prove it again; a node that passes takes jobs again: {PROVE}",
    ),
    Known(
        "drawbridge: maintenance ",
        WARNING,
        "maintenance",
        "maintenance drained it: {rest}",
        "if no run is active, run rolling.yml again with the same -e rolling_maintenance, which goes on with this node",
    ),
    Known(
        "drawbridge: retires",
        WARNING,
        "retiring",
        "it leaves the cluster",
        "take it out of the intent when it has left; to keep it: " + ONBOARD,
    ),
    Known(
        "drawbridge: is installed again",
        WARNING,
        "reinstalling",
        "a person installs it again",
        "when it is installed, run rejoin.yml with its new fingerprint: docs/guides/reinstalled-nodes.md",
    ),
    Known(
        f"{REASON}has no taint",
        CRITICAL,
        "open",
        "the gate found it without its taint, so pods of any tenant may run there",
        "look: kubectl get pods -A --field-selector spec.nodeName={name}; then close it, docs/guides/break-glass.md",
    ),
    Known(
        REASON,
        CRITICAL,
        "gate",
        "the gate drained it: {rest}",
        "repair that cause; the gate proves the node empty every half minute and then lifts its drain",
    ),
    # of a layer that changes a daemon or mounts, such as "drawbridge kubelet: "
    Known("drawbridge ", WARNING, "changing", UNFINISHED, AGAIN),
    *(Known(start, CRITICAL, "script", SCRIPT, LOG.replace("{log}", "-t slurm-dispatch")) for start in PARTS),
    *(Known(start, CRITICAL, "script", SCRIPT, LOG.replace("{log}", "-u slurmd")) for start in FAILED),
)


def findings(node: Node) -> Iterator[Finding]:
    """Slurm's side of a node."""
    slurm = node.slurm
    if slurm is None:
        yield Finding(
            CRITICAL,
            "unknown",
            "Slurm's configuration has no such node",
            f"compare its name with: sinfo -N; bring a new node into service: {ONBOARD.format(name=node.name)}",
        )
        return
    yield from _flags(slurm)
    if slurm.drained and slurm.reason.startswith(health_finding.REASON):
        lost = slurm.state == "DOWN" and slurm.reason.rpartition(APPENDED)[2] in LOST
        if lost and not slurm.flags & REBOOTS:
            yield _down(node, slurm)
        yield health_text.drained(node.name, slurm.reason)
    elif slurm.drained:
        yield _drained(node, slurm)
    elif slurm.state in ("UNKNOWN", "FUTURE"):
        step = f"ssh {node.name} systemctl status slurmd"
        yield Finding(WARNING, "unregistered", "slurmd has not registered with slurmctld", step)
    yield from health_text.reported(slurm)


def _drained(node: Node, slurm: SlurmNode) -> Finding:
    found = next((known for known in KNOWN if slurm.reason.startswith(known.start)), None)
    if found:
        rest, values = slurm.reason[len(found.start) :], {"name": node.name, "reason": slurm.reason}
        cause, step = (text.format(rest=rest, **values) for text in (found.cause, found.step))
        return Finding(found.level, found.word, cause, step)
    if slurm.state == "DOWN":
        return _down(node, slurm)
    resume = RESUME.format(name=node.name)
    if node.jobs:
        text = (
            f"{slurm.by or 'a person'} drained it ({slurm.reason or 'no reason'}); job {node.jobs[0].number} still runs"
        )
        return Finding(WARNING, "draining", text, f"wait for the job; when the work is done: {resume}")
    text = f"{slurm.by or 'a person'} drained it ({slurm.reason or 'no reason'}), and no job runs on it"
    return Finding(WARNING, "drained", text, f"do the work that the reason names; then: {resume}")


def _down(node: Node, slurm: SlurmNode) -> Finding:
    """Down, by slurmctld or by a person."""
    last, resume = slurm.reason.rpartition(" : ")[2], RESUME.format(name=node.name)
    if last == "Node unexpectedly rebooted":
        text = "it booted while slurmctld thought it up, so it must be proved first"
        return Finding(WARNING, "rebooted", text, f"wait a minute for the proof; if it stays down: {_onboard(node)}")
    if last in LOST:
        text = "slurmctld gets no answer from its slurmd"
        step = f"check power and network, then: ssh {node.name} systemctl status slurmd"
        return Finding(CRITICAL, "lost", text, step)
    text = f"it is down ({slurm.reason or 'no reason'})"
    return Finding(CRITICAL, "down", text, f"repair the cause that the reason names; then: {resume}")


def _onboard(node: Node) -> str:
    return ONBOARD.format(name=node.name)


def _flags(slurm: SlurmNode) -> Iterator[Finding]:
    """What Slurm says beside the state."""
    name, flags = slurm.name, slurm.flags
    if "INVALID_REG" in flags:
        text = "slurmd registered with less hardware than slurm.conf has for it"
        yield Finding(CRITICAL, "hardware", text, f"compare: ssh {name} slurmd -C; scontrol show node {name}")
    if "NOT_RESPONDING" in flags and slurm.state not in ("DOWN", "UNKNOWN"):
        text = "slurmctld waits for an answer from its slurmd, as for a moment after each resume"
        step = f"wait a minute; then: ssh {name} systemctl status slurmd"
        yield Finding(WARNING, "silent", text, step)
    if flags & REBOOTS:
        text = "a reboot through Slurm is not over"
        yield Finding(
            WARNING, "reboot", text, f"wait; to cancel a reboot that has not begun: scontrol cancel_reboot {name}"
        )
    if flags & {"POWERED_DOWN", "POWERING_DOWN", "POWERING_UP", "POWER_DOWN"}:
        text = "Slurm's power saving switched it off or changes its power"
        yield Finding(WARNING, "power", text, f"to start it: scontrol update nodename={name} state=power_up")
    if flags & {"MAINTENANCE", "RESERVED"}:
        yield Finding(OK, "reserved", "a reservation of Slurm keeps it: scontrol show reservation")
