# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The gate's side of a node, and what to do. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from ..gate.gate_names import CLOSED, TAINT
from .model import CRITICAL, OK, WARNING, Finding, Job, Member, Node

STARTING = ("CONFIGURING",)
TIMER = "systemctl status drawbridge-gate.timer; journalctl -u drawbridge-gate"
LOOK = "kubectl get pods -A --field-selector spec.nodeName={name}"


def findings(node: Node) -> Iterator[Finding]:
    """Kubernetes' side of a node. A node that the gate does not guard has none."""
    member = node.member
    if member is None:
        if node.gated and node.kube_known:
            step = f"ansible-playbook playbooks/onboard.yml -e 'onboard_nodes={node.name}'"
            text = "its partition is gated, but Kubernetes has no such node"
            yield Finding(CRITICAL, "absent", text, f"join it: {step}")
        return
    if not (node.gated or member.value):
        return
    yield from _kubelet(node, member)
    yield from STATES[member.gate](node, member)


def _kubelet(node: Node, member: Member) -> Iterator[Finding]:
    if not member.ready:
        text = "its kubelet does not report Ready, so pods do not start or can't be proved gone"
        yield Finding(CRITICAL, "not ready", text, f"ssh {node.name} systemctl status kubelet containerd")
    if member.cordoned:
        text = "it is cordoned; Drawbridge cordons no node, so a person or an operator did"
        yield Finding(WARNING, "cordoned", text, f"ask who did; then: kubectl uncordon {node.name}")
    if member.adopting:
        text = "the take-over of this node by the gate has not finished"
        yield Finding(WARNING, "adopting", text, "finish it: ansible-playbook playbooks/gate.yml")


def _closed(node: Node, member: Member) -> Iterator[Finding]:
    job = _gated_job(node)
    if job and job.state in STARTING:
        yield Finding(OK, "opening", f"the gate opens it to job {job.number} of {job.user}")
    elif job and job.state == "RUNNING":
        text = f"job {job.number} of {job.user} runs here, but its pods can't, because the node is closed"
        step = f"read the cause: squeue -j {job.number} -O admin_comment:500; then: scontrol requeue {job.number}"
        yield Finding(WARNING, "closed", text, step)


def _gated_job(node: Node) -> Job | None:
    """The job that the gate should have opened the node to."""
    gated = [job for job in node.jobs if job.partition in node.gated_partitions]
    return gated[0] if gated else None


def _held(node: Node, member: Member) -> Iterator[Finding]:
    job = node.owner
    if job is None:
        text = f"it is held for {member.value}, but this job is not on it"
        step = f"wait two minutes for the reconciler; then, on the controller: {TIMER}"
        yield Finding(WARNING, "held", text, step)
    elif job.state in ("SUSPENDED", "STOPPED"):
        text = f"job {job.number} is suspended, but its pods and their GPUs go on"
        yield Finding(WARNING, "suspended", text, f"scontrol resume {job.number}, or scancel {job.number}")
    else:
        yield Finding(OK, "held", f"only pods of job {job.number} of {job.user} may run here, since {job.since}")


def _dirty(node: Node, member: Member) -> Iterator[Finding]:
    if node.owner and node.owner.state == "COMPLETING":
        yield Finding(OK, "closing", f"job {member.owner} ends; its pods must go before the node closes")
        return
    text = f"{member.value}: the job is over, but the node is not yet proved empty"
    step = f"wait two minutes; then look: {LOOK.format(name=node.name)}; on the node: {TIMER}"
    yield Finding(WARNING, "dirty", text, step)


def _open(node: Node, member: Member) -> Iterator[Finding]:
    text = f"it has no taint {TAINT}, so pods of any tenant may run here"
    step = f"look: {LOOK.format(name=node.name)}; then close it, docs/guides/break-glass.md"
    yield Finding(CRITICAL, "open", text, step)


def _foreign(node: Node, member: Member) -> Iterator[Finding]:
    text = f"its taint has the value {member.value}, which is not the gate's, so the gate does not touch it"
    step = f"find who wrote it; then set {TAINT}={CLOSED}, docs/guides/break-glass.md"
    yield Finding(CRITICAL, "foreign", text, step)


STATES = {"closed": _closed, "held": _held, "dirty": _dirty, "open": _open, "foreign": _foreign}
