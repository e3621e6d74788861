# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Findings of a node's health, and how the node tells the controller about them.

A node writes its findings into Comment= of its own record in Slurm, after the site's text. The controller reads all
records and answers there if it drains no node for them:

    RMA 4711 drawbridge health: [node repair] GPU 3: GPU memory rows: ...; [user] /: disk space: ... {kept: ...}
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

NODE, USER, FABRIC = "node", "user", "fabric"
"""Whose fault it is: of this node's hardware or software, left by a job, or of what nodes share."""
FAULTS = (NODE, USER, FABRIC)
HEALS, REPAIR, REBOOT = "", "repair", "reboot"
"""What ends the drain: that the finding is gone, a proof or a person, or one reboot after which it is gone."""
ENDS = (HEALS, REBOOT, REPAIR)
"""From the lightest to the heaviest."""
REASON = "drawbridge: health: "
"""The start of the reason of each drain for findings."""
MARK = "drawbridge health: "
LONGEST, LONGEST_ONE = 400, 120
"""Characters of all findings, and of one. Slurm sends a record with each look at the node."""
_ONE = re.compile(rf"\[({'|'.join(FAULTS)})(?: ({REPAIR}|{REBOOT}))?\] (.*)", re.DOTALL)
_KEPT = re.compile(r" ?\{kept: ([^{}]*)\}$")
_KEY = re.compile(r"([A-Za-z])=")
_WORDLESS = "a check does not say what it found"


@dataclass(frozen=True)
class Finding:
    """One finding. `text` names part and check: "rail3: rail link: mlx5_3 is down"."""

    text: str
    fault: str = NODE
    ends: str = HEALS

    def __str__(self) -> str:
        """Without brackets what most findings are: the node's, and over when it is gone."""
        words = " ".join(filter(None, (self.fault, self.ends)))
        return self.text if words == NODE else f"[{words}] {self.text}"

    @classmethod
    def parse(cls, text: str) -> Finding:
        """Read what __str__ wrote."""
        found = _ONE.fullmatch(text.strip())
        return cls(found[3].strip(), found[1], found[2] or HEALS) if found else cls(text.strip())


@dataclass(frozen=True)
class Report:
    """Comment= of a node: the site's own text, the node's findings, and the controller's answer."""

    site: str = ""
    findings: tuple[Finding, ...] = ()
    kept: str = ""
    """Why the controller drains no node for findings now; empty: it has not said so."""

    def __str__(self) -> str:
        own = "; ".join(map(str, self.findings))
        answer = f"{{kept: {self.kept}}}" if self.kept else ""
        said = " ".join(filter(None, (own, answer)))
        return " ".join(filter(None, (self.site, f"{MARK}{said}" if said else "")))

    @classmethod
    def parse(cls, comment: str) -> Report:
        """Read what __str__ wrote; any other text is the site's."""
        site, mark, said = comment.partition(MARK)
        if not mark:
            return cls(site.strip())
        kept = _KEPT.search(said)
        said = said[: kept.start()] if kept else said
        found = tuple(Finding.parse(one) for one in said.split("; ") if one.strip())
        return cls(site.strip(), found, kept[1] if kept else "")


def written(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings as a report may have them: each once, the heaviest first, short, and without Slurm's own signs.

    Slurm's record is one line of Key=value, and scontrol strips quotes; `;` ends a finding and braces hold the answer.
    """
    each = {Finding(_plain(it.text), it.fault, it.ends) for it in findings}
    ordered = sorted(each, key=lambda it: (-ENDS.index(it.ends), it.fault, it.text))
    kept: list[Finding] = []
    for at, it in enumerate(ordered):
        if kept and len("; ".join(map(str, (*kept, it)))) > LONGEST:
            return (*kept, Finding(f"and {len(ordered) - at} more", it.fault, it.ends))
        kept.append(it)
    return tuple(kept)


def is_count(finding: Finding) -> bool:
    """Whether it only counts further findings."""
    return bool(re.fullmatch(r"and \d+ more", finding.text))


def _plain(text: str) -> str:
    line = " ".join(text.replace('"', "'").replace(";", ",").replace("{", "(").replace("}", ")").split())
    line = _KEY.sub(r"\1 = ", line.replace("[", "(").replace("]", ")")).strip() or _WORDLESS
    return line if len(line) <= LONGEST_ONE else f"{line[: LONGEST_ONE - 3]}..."


def reason(findings: Sequence[Finding]) -> str:
    """The reason of a drain for these findings."""
    return f"{REASON}{'; '.join(map(str, findings))}"


def of_reason(text: str) -> tuple[Finding, ...]:
    """The findings that a drain of Drawbridge's was made for; none of another reason."""
    if not text.startswith(REASON):
        return ()
    return tuple(Finding.parse(one) for one in text[len(REASON) :].split("; ") if one.strip())


def heaviest(findings: Iterable[Finding]) -> str:
    """What ends the drain for these findings."""
    return max((it.ends for it in findings), key=ENDS.index, default=HEALS)


def counting(findings: Iterable[Finding], report_only: Collection[str]) -> tuple[Finding, ...]:
    """Findings that may drain a node. `report_only` names checks whose findings drain none.

    A finding has the name of its check in its text: "rail3: rail link: down" or "60-passport: none".
    """
    counts = tuple(it for it in findings if not any(f": {name}: " in f": {it.text}: " for name in report_only))
    # beside checks that only report, "and 3 more" are of the same checks
    return () if all(map(is_count, counts)) else counts
