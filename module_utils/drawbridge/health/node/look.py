# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a node finds about itself: results of checks become findings. Only a finding of two looks counts. Pure.

A busy node answers late. So a check with a finding runs again, with twice the time.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ...proof import limits
from ...proof.checks.check import Check, Output, Program, Texts
from ...proof.checks.collect import results
from ...proof.checks.state_gpus import NOT_COVERED
from ...proof.measure import Found, Missing, Remark
from ...proof.node import ProofNode
from ...proof.tools.output import first_line, stopped
from ..finding import HEALS, NODE, REBOOT, Finding
from ..rows import ROW

WARNINGS = frozenset((NOT_COVERED,))
"""As in proof/checks/table.py, which a node does not carry, because it imports the proof's load checks."""
HELD = -1000
"""Code of a program that was not started, because one of an earlier look can't be killed. No signal has this number."""
_SILENT = {
    HELD: "of an earlier check still hangs",
    124: "does not answer",
    126: "can't be executed",
    127: "is not installed",
}
NHC = "nhc"
_NHC = re.compile(r"ERROR:? +(?:[^\s:]+: +)?(?:Health check failed: +)?(?P<what>\S.*)")
"""Lines of LBNL NHC 1.4 and 1.5: "ERROR:  nhc:  Health check failed:  check_fs_mount:  /scratch not mounted"."""

_CGROUP = re.compile(r"/proc/[0-9]+/cgroup")


@dataclass(frozen=True)
class Noted:
    """A finding, with the check and the part by which a second look confirms it."""

    check: str
    part: str
    """Such as rail3 or GPU 3; empty: the node."""
    finding: Finding


@dataclass(frozen=True)
class Look:
    """One look at the node."""

    noted: tuple[Noted, ...] = ()
    warnings: tuple[str, ...] = ()
    silent: frozenset[tuple[str, str]] = frozenset()
    """Checks and parts that gave no answer, so that this look says nothing of them."""

    @property
    def doubtful(self) -> frozenset[str]:
        """Checks that run a second time."""
        return frozenset(it.check for it in self.noted if not _once(it.check)) | self.unjudged

    @property
    def unjudged(self) -> frozenset[str]:
        """Checks of which this look does not say everything."""
        return frozenset(check for check, _part in self.silent)


@dataclass(frozen=True)
class Files:
    """Files of the checks."""

    texts: Texts
    unread: Collection[str] = ()
    """Patterns of files that were not read in time, in the order of reading."""
    code: int = 0
    """Of the program that reads them: HELD if one of an earlier look still hangs."""


def look(
    node: ProofNode, checks: Sequence[Check], ran: Sequence[tuple[Program, Output]], files: Files, strict: bool = True
) -> Look:
    """Judge results. `ran` has the programs of all checks that apply, `files` their files.

    With `strict`, a file that gives no answer is a finding, too.
    """
    applying = [check for check in checks if check.applies(node)]
    late = [check for check in applying if any(path in files.unread for path in check.files(node))]
    looks = [_late(node, late, files)] if late and strict else []
    named: set[Program] = set()
    for check, found in results([it for it in applying if it not in late], node, ran, files.texts):
        mute = {one: output.code for one, output in ran if stopped(output.code) and one in check.programs(node)}
        one, causes = _of_check(node, check, found, mute, named)
        looks.append(one)
        named |= causes
    return together(*looks, Look(silent=frozenset((check.name, "") for check in late)))


def together(*looks: Look) -> Look:
    """All looks as one."""
    return Look(
        tuple(dict.fromkeys(it for one in looks for it in one.noted)),
        tuple(dict.fromkeys(it for one in looks for it in one.warnings)),
        frozenset(it for one in looks for it in one.silent),
    )


def confirmed(first: Look, second: Look) -> tuple[Finding, ...]:
    """What counts. The second look is one of the doubtful checks of the first.

    Of a part that gave no answer at first, all that it says then counts.
    """
    seen = {*((it.check, it.part) for it in first.noted), *first.silent}
    at_once = [it.finding for it in first.noted if _once(it.check) and (it.check, it.part) not in first.silent]
    again = [it.finding for it in second.noted if (it.check, it.part) in seen or (it.check, "") in first.silent]
    return tuple(dict.fromkeys((*at_once, *again)))


def nhc(output: Output, tool: str) -> Look:
    """What LBNL NHC says: its first error."""
    if not output.code:
        return Look()
    lines = "\n".join((output.stdout, output.stderr)).splitlines()
    error = next((found["what"] for line in lines if (found := _NHC.match(line))), "")
    said = error or _silence(tool, output.code) or first_line(output.stdout, output.stderr)
    text = f"{NHC}: {' '.join(said.split()) or f'exit code {output.code}'}"
    return Look((Noted(NHC, "", Finding(text, NODE, REBOOT if output.code == HELD else HEALS)),))


def idle(texts: Texts) -> bool:
    """Whether no job runs here, from comm and cgroup of all processes; False if they were not read.

    Without control groups a step's own process shows it. Slurm's scope has one for itself.
    """
    groups = {path.split("/")[2]: text for path, text in texts.items() if _CGROUP.fullmatch(path)}
    for process, group in groups.items():
        steps = texts.get(f"/proc/{process}/comm", "").strip() == "slurmstepd" and "slurmstepd.scope" not in group
        if steps or "/step_" in group:
            return False
    return bool(groups)


def words(program: Program) -> tuple[str, ...]:
    """A command without the environment that `env` sets before it."""
    at = next((at for at, word in enumerate(program.argv) if not re.fullmatch(r"env|-i|[A-Z_]+=.*", word)), 0)
    return program.argv[at:]


def _once(check: str) -> bool:
    return check in ROW and ROW[check].once


def _late(node: ProofNode, late: Sequence[Check], files: Files) -> Look:
    """One finding for the file that gave no answer, the first that was not read. Only a reboot ends its reader."""
    check = late[0]
    if files.code == HELD:
        what, ends = f"its files: the reader {_SILENT[HELD]}", REBOOT
    else:
        what, ends = f"{next(it for it in check.files(node) if it in files.unread)} does not answer", HEALS
    return Look((Noted(check.name, "", Finding(f"{check.name}: {what}", NODE, ends)),))


def _of_check(
    node: ProofNode, check: Check, found: Sequence[Found], mute: Mapping[Program, int], named: Collection[Program]
) -> tuple[Look, set[Program]]:
    """The findings of one check, and the programs whose silence is their cause. Those in `named` are not named again.

    `mute` has the programs of the check that gave no answer. Some checks do without one. What could not be measured is
    a fault of the node.
    """
    noted: list[Noted] = []
    warnings: list[str] = []
    causes: set[Program] = set()
    parts: set[str] = set()
    for one in found:
        part = _part(node, one.where)
        before = ": ".join(filter(None, (part, check.name)))
        silent = [it for it, code in mute.items() if isinstance(one, Missing) and stopped(code) in one.why]
        if silent:
            causes.update(silent)
            parts.add(part)
            code = mute[silent[0]]
            text, ends = _silence(words(silent[0])[0], code), REBOOT if code == HELD else HEALS
        else:
            text, ends = _text(check, node, one)
        if not text or (silent and all(it in named for it in silent)):
            continue
        if one.name in WARNINGS or (isinstance(one, Remark) and one.warning):
            warnings.append(f"{before}: {text}")
        else:
            fault = NODE if isinstance(one, Missing) else ROW[check.name].fault
            noted.append(Noted(check.name, part, Finding(f"{before}: {text}", fault, ends)))
    return Look(tuple(noted), tuple(warnings), frozenset((check.name, it) for it in parts)), causes


def _text(check: Check, node: ProofNode, found: Found) -> tuple[str, str]:
    """The finding without place and check, and what ends its drain; empty for a measure within its limit."""
    if isinstance(found, Missing):
        return f"not measured: {found.why}", HEALS
    if isinstance(found, Remark):
        return found.why, found.ends
    fault = limits.judge(found, check.limit(node, found))
    if fault is None:
        return "", HEALS
    name = "" if found.name == check.name else f"{found.name} is "
    return name + fault.fact[len(f"{found.where}: {found.name} is ") :], HEALS


def _silence(tool: str, code: int) -> str:
    """Why a program gave no answer; empty if it ended by itself."""
    name, why = tool.rpartition("/")[2], stopped(code)
    return f"{name} {_SILENT[code]}" if code in _SILENT else why and f"{name}: {why}"


def _part(node: ProofNode, where: str) -> str:
    """The place without the node's name, which Slurm's record has."""
    return "" if where == node.name else where[len(node.name) + 1 :] if where.startswith(f"{node.name} ") else where
