# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover.model import (
    DROPPED,
    KEPT,
    OURS,
    Change,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover.report import (
    counted,
    dropped,
    text,
    with_refusal,
)

LOST = [
    Change(DROPPED, "MailProg=/opt/mail", "", "", ("settings", "MailProg"), "/opt/mail"),
    Change(DROPPED, "Prolog=/opt/prolog", "Prolog=/ours", "", ("scripts", "prolog"), "/opt/prolog"),
    Change(DROPPED, "PartitionName=debug", "", "", ("partitions", "debug"), ""),
    Change(DROPPED, "PartitionName=debug Default=YES", "", "", ("partitions", "debug", "default"), True),
    Change(DROPPED, "PartitionName=debug AllowQos=a,b", "", "", ("partitions", "debug", "allow_qos"), ["a", "b"]),
    Change(DROPPED, "PartitionName=debug LLN=YES", "", "", ("partitions", "debug", "settings", "LLN"), "YES"),
    Change(DROPPED, "BackupAddr=x", "", "there is one slurmctld"),
]
FILES = {"/etc/slurm/slurm.conf": [Change(OURS, "A=1", "A=2", "why"), Change(KEPT, "B=1", "B=1"), *LOST]}


def test_lines_are_in_their_groups() -> None:
    shown = text(FILES)
    assert shown.index("ours:") < shown.index("- A=1   # why") < shown.index("+ A=2") < shown.index("kept:")
    assert shown.index("kept:") < shown.index("  B=1") < shown.index("dropped:") < shown.index("- MailProg=/opt/mail")
    assert "- BackupAddr=x   # there is one slurmctld" in shown
    assert counted(FILES) == f"set 1 lines, keep 1, drop {len(LOST)}"


def test_what_would_keep_lines_follows_them() -> None:
    assert text(FILES, lambda found: f"keeps: {len(found)}").endswith(
        f"to keep dropped lines, add to the intent:\n    keeps: {len(LOST)}\n"
    )


def test_only_a_refusal_that_consent_would_lift_lists_the_lines() -> None:
    assert dropped(FILES) == LOST
    assert with_refusal("no", FILES, may_drop=False) == f"no\n{text(FILES)}"
    assert with_refusal("slurmctld does not start", FILES, may_drop=True) == "slurmctld does not start"
    assert with_refusal("", FILES, may_drop=False) == ""
    assert with_refusal("no", {}, may_drop=False) == "no"
