# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Records of Slurm's nodes: recorded texts, and a site's own text that looks like Slurm's keys."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.controller.records import (
    nodes,
    reserved,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.decide import Seen
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.finding import REASON, Finding

HOME = Path(__file__).resolve().parents[4] / "transcripts/slurm"
OWN = f"{REASON}[node reboot] GPU 3: GPUs present: lost"


def one(rest: str, state: str = "IDLE+DRAIN", boot: str = "500", rebooted: Mapping[str, float] | None = None) -> Seen:
    line = f"NodeName=n1 Arch=x86_64 OS=Linux State={state} ThreadsPerCore=1 Partitions=a BootTime={boot} {rest}"
    [found] = nodes(f"{line.rstrip()}\n", rebooted or {})
    return found


@pytest.mark.parametrize("release", ["24.11", "26.05"])
def test_records_of_real_daemons(release: str) -> None:
    drained, busy, down, draining = nodes((HOME / f"nodes_{release}.txt").read_text(), {})
    assert (drained.name, drained.state, drained.flags) == ("n1", "IDLE", {"DRAIN"})
    assert (drained.reason, drained.ours) == (f"{REASON}/fs1 is not mounted", True)
    assert (busy.name, busy.state, busy.reason, busy.comment) == ("n2", "ALLOCATED", "", "")
    assert (down.state, down.reason, down.ours) == ("DOWN", "fan", False)
    assert draining.reason == "new fan, RMA=17 [a@b]"


@pytest.mark.parametrize(
    ("rest", "reason", "comment"),
    [
        ("Reason=fan [ben@900] Comment=rack 4 RMA=17 Extra=x", "fan", "rack 4 RMA=17"),
        ("Comment=RMA=17 Reason=none of it [a@1]", "", "RMA=17 Reason=none of it [a@1]"),
        ("Reason=a Comment=b [ben@900] Comment=c", "a Comment=b", "c"),
        ("Reason=a [b@c] d [ben@900]", "a [b@c] d", ""),
        ("Reason=no writer", "no writer", ""),
        ("Reason=no writer Comment=c InstanceId=i ReservationName=r", "no writer", "c"),
        ("Reason=two [ben@900]        lines Comment=c", "two", "c"),
        ("Comment=two\nlines", "", "two\nlines"),
        ("Reason=x : Not responding [slurm@900]", "x", ""),
        ("Reason=Not responding [slurm@900]", "Not responding", ""),
        ("", "", ""),
    ],
)
def test_reasons_and_comments_keep_their_own_words(rest: str, reason: str, comment: str) -> None:
    found = one(rest)
    assert (found.reason, found.comment) == (reason, comment)


def test_a_report_follows_the_sites_text() -> None:
    found = one("Comment=RMA=4711 drawbridge health: [node repair] GPU 3: x = 1 {kept: breaker site is open}")
    assert found.report.site == "RMA=4711"
    assert found.report.findings == (Finding("GPU 3: x = 1", "node", "repair"),)
    assert found.report.kept == "breaker site is open"


@pytest.mark.parametrize(
    ("boot", "rest", "rebooted", "booted"),
    [
        ("500", f"Reason={OWN} [root@1000]", {}, False),
        ("1002", f"Reason={OWN} [root@1000]", {}, False),
        ("1010", f"Reason={OWN} [root@1000]", {}, True),
        ("None", f"Reason={OWN} [root@1000]", {}, False),
        # slurmctld gives the reason the time of the order, and then that of the return
        ("1100", f"Reason={OWN} : reboot issued [slurm@1050]", {"n1": 1040.0}, True),
        ("500", f"Reason={OWN} : reboot issued [slurm@1050]", {"n1": 1040.0}, False),
        ("1100", f"Reason={OWN} : reboot issued : reboot complete [slurm@1200]", {}, True),
        ("1100", f"Reason={OWN} : reboot issued : reboot timed out [slurm@1110]", {"n1": 1040.0}, True),
        # a new reason after the boot
        ("1100", f"Reason={OWN} [root@1300]", {"n1": 1040.0}, True),
        ("1100", f"Reason={OWN} [root@1300]", {"n2": 1040.0}, False),
    ],
)
def test_a_boot_since_the_drain(boot: str, rest: str, rebooted: dict[str, float], booted: bool) -> None:
    found = one(rest, boot=boot, rebooted=rebooted)
    assert (found.reason, found.booted) == (OWN, booted)


@pytest.mark.parametrize(
    ("state", "added", "ours"),
    [
        ("IDLE+DRAIN", "", True),
        ("DOWN+DRAIN+NOT_RESPONDING", " : Not responding", True),
        ("DOWN+DRAIN+REBOOT_ISSUED", " : reboot issued", True),
        ("DOWN", " : reboot issued : reboot complete", True),
        ("DOWN+NOT_RESPONDING", " : Not responding", False),
        ("DOWN", "", False),
        ("IDLE+MAINTENANCE+RESERVED", "", False),
        ("IDLE", "", False),
    ],
)
def test_the_reason_of_an_earlier_drain_is_not_the_present_one(state: str, added: str, ours: bool) -> None:
    """Without accounting Slurm keeps it when it sets a node down by itself, or when a reservation holds the node."""
    assert one(f"Reason={OWN}{added} [root@1000]", state).ours == ours


@pytest.mark.parametrize("text", ["", "No nodes in the system\n", "Reason=x NodeName=n1\n"])
def test_a_text_without_records_is_no_answer(text: str) -> None:
    with pytest.raises(ValueError, match="scontrol shows no node"):
        nodes(text, {})


def test_nodes_that_a_proof_has_reserved() -> None:
    rows = (
        "n1 State=IDLE ReservationName=drawbridge-proof TLSCertTokenSet=no",
        "n2 State=IDLE",
        "n3 ReservationName=x",
    )
    text = "".join(
        f"NodeName={row}\n"
        for row in (*rows, "n4 ReservationName=drawbridge-proof", "n5 ReservationName=drawbridge-proofs")
    )
    assert reserved(text, "drawbridge-proof") == {"n1", "n4"}
    assert reserved("NodeName=n1\n", "drawbridge-proof") == frozenset()
