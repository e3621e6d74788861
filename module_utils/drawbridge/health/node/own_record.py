# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a node changes in its own record in Slurm: its report, and a drain where no controller answers. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from ...nodes.scontrol import state_flags
from ..decide import Seen
from ..finding import REASON, Finding, counting, reason, written
from ..pages import subject

UNANSWERED_S = 600.0
"""Seconds until a report without an answer shows that the controller's program is dead. It looks every 30 s."""
LOST = ("Not responding", "Node unexpectedly rebooted")
"""Reasons that slurmctld itself gives a node. Such a node stays down until an administrator or a program resumes it."""
_STATE = re.compile(r"^ {3}State=(\S+)", re.MULTILINE)
_REASON = re.compile(r"^ {3}Reason=(.*?)(?: \[[^ ]+@[^ ]+\])?$", re.MULTILINE)
_SIGN = "\x1f"
LISTING = (
    *("sinfo", "--noheader", "--all", "--local"),
    f"--Format=StateComplete:0{_SIGN},Comment:5{_SIGN},Reason:0{_SIGN},Comment:0",
)
"""With --nodes=NAME slurmctld sends one record. For `scontrol show node NAME` it sends the table of all nodes.

A width of 0 cuts nothing. Without a comment sinfo prints `(null)`, as for a person's text `(null)`. In a column of five
it then prints blanks.
"""
_LATER = r"(?:Extra|InstanceId|InstanceType|ReservationName|TLSCert\w+|Topology|Parameters)="
_COMMENT = re.compile(rf"^ {{3}}Comment=(.*?)(?=\n {{3}}{_LATER}|\s*\Z)", re.MULTILINE | re.DOTALL)
"""A person's text may have several lines."""


@dataclass(frozen=True)
class Change:
    """One call of `scontrol update`, and what the log says about it."""

    words: tuple[str, ...] = ()
    """Besides nodename=; none: nothing changes."""
    says: str = ""
    refuses: bool = False
    """Whether no job may start on the node."""


def listed(text: str, name: str) -> Seen | None:
    """The record from LISTING; None where only `scontrol show node NAME` is certain.

    sinfo lists no node without a partition. slurmctld updates its count of used CPUs for the table of all nodes, not
    for one record. By an old count a node that is down looks mixed. A node that is down has a reason.
    """
    columns = text.split(_SIGN)
    if len(columns) != 4 or not text.endswith("\n"):
        return None
    state, start, why, comment = columns
    base, flags = state_flags({"State": state.upper()})
    why = "" if why == "none" else why
    if base == "MIXED" and why:
        return None
    comment = comment[:-1]
    return Seen(name, base, flags, why, "" if comment == "(null)" and not start.strip() else comment)


def seen(shown: str, name: str) -> Seen:
    """The record from `scontrol show node NAME`, whose keys begin lines. Raises ValueError for another text.

    In the form of one line, a person's comment could look like a key.
    """
    comment = _COMMENT.search(shown)
    before = shown[: comment.start()] if comment else shown
    state, reason = _STATE.search(before), _REASON.search(before)
    if not state:
        raise ValueError(f"scontrol has no state of {name}")
    base, flags = state_flags({"State": state[1]})
    return Seen(name, base, flags, reason[1] if reason else "", comment[1] if comment else "")


def _lost(why: str) -> bool:
    """Whether slurmctld itself set the node down. It appends its words to a reason that it kept of an earlier drain."""
    return why.rpartition(" : ")[2] in LOST and not why.startswith(REASON)


def unanswered(node: Seen, findings: Collection[Finding]) -> bool:
    """Whether these findings neither keep the node from jobs, nor does the controller say why not."""
    return bool(findings) and not node.unavailable and not node.report.kept


def at_intervals(
    node: Seen, found: Iterable[Finding], report_only: Collection[str], returns: bool, waited_s: float
) -> Change:
    """Report all findings. Without any, a lost node resumes if it `returns`.

    `waited_s` is how long the node's findings have been without an answer. After UNANSWERED_S it drains itself.
    """
    findings = written(found)
    words = _report(node, findings)
    lost = returns and node.state == "DOWN" and "DRAIN" not in node.flags and _lost(node.reason)
    if lost and not findings:
        return Change((*words, "state=resume"), f"resume: no finding; it was {node.state}, {node.reason}")
    counted = counting(findings, report_only)
    if unanswered(node, counted) and waited_s >= UNANSWERED_S:
        why = f"no answer of Slurm's controller to its report for {waited_s:.0f} s"
        return Change((*words, "state=drain", f"reason={reason(counted)}"), f"drained: {_listed(counted)}; {why}")
    return Change(words, f"reported: {_listed(findings) or 'no finding'}" if words else "")


def before_job(node: Seen, found: Iterable[Finding], report_only: Collection[str]) -> Change:
    """Report these findings besides earlier ones, and refuse the job unless the controller has answered."""
    own = written(found)
    words = _report(node, _merged(node, own))
    listed = _listed(own)
    if node.report.kept:
        return Change(words, f"a job starts despite {listed}: {node.report.kept}")
    if not counting(own, report_only):
        return Change(words, f"a job starts, these are only reported: {listed}")
    if node.unavailable:
        return Change(words, f"no job starts: {listed}", refuses=True)
    why = reason(counting(_merged(node, own), report_only))
    return Change((*words, "state=drain", f"reason={why}"), f"no job starts, drained: {listed}", refuses=True)


def after_job(node: Seen, found: Iterable[Finding]) -> Change:
    """Report these findings besides earlier ones."""
    own = written(found)
    words = _report(node, _merged(node, own))
    return Change(words, f"reported: {_listed(own)}" if words else "")


def _merged(node: Seen, own: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """A look at few things says nothing about the others. The next look at intervals clears findings that are gone."""
    new = {subject(it.text) for it in own}
    return written((*(it for it in node.report.findings if subject(it.text) not in new), *own))


def _report(node: Seen, findings: tuple[Finding, ...]) -> tuple[str, ...]:
    """The words that write the report, if it changes. The site's text and the controller's answer stay."""
    report = replace(node.report, findings=findings)
    return () if report == node.report else (f"comment={report}",)


def _listed(findings: Iterable[Finding]) -> str:
    return "; ".join(map(str, findings))
