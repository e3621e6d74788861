# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import time
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.decide import Seen
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.finding import FABRIC, Finding
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.node import report_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.node.look_io import Host
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.node.own_record import (
    UNANSWERED_S,
    Change,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.node.report_io import (
    Record,
    report,
)

from tests.node_record import RELEASES, recorded
from tests.unit.module_utils.health.fake_node import FakeNode

LINK = Finding("rail1: rail link: down", FABRIC)
COMMENT = "comment=drawbridge health: [fabric] rail1: rail link: down"
READ = "sinfo --nodes=gpu01"
DRAIN = "state=drain reason=drawbridge: health: [fabric] rail1: rail link: down"


@pytest.fixture
def node(tmp_path: Path) -> FakeNode:
    made = FakeNode(tmp_path)
    made.slurm()
    return made


def record(node: FakeNode, seconds: float = 300.0) -> Record:
    return Record("gpu01", Host("/", node.run, node.path, time.monotonic() + seconds))


def told(node: FakeNode, *found: Finding, report_only: tuple[str, ...] = ()) -> list[str]:
    """What Slurm hears in one report."""
    before = len(node.asked())
    report(record(node), found, report_only, False, node.run / "unanswered")
    return node.asked()[before:]


def test_a_record_is_read_and_changed_with_one_call_each(node: FakeNode) -> None:
    assert record(node).read() == Seen("gpu01", "IDLE")
    record(node).change(Change())
    record(node).change(Change(("comment=a b", "state=resume")))
    assert node.asked() == [READ, "update nodename=gpu01 comment=a b state=resume"]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("exit 1", "sinfo: 1"),
        ("echo 'Unable to contact slurm controller' >&2; exit 1", "Unable to contact slurm controller"),
        ("echo all is well", "scontrol has no state of gpu01"),
        ('test "$1" = show && echo "Node gpu01 not found" && exit 1; exit 0', "scontrol: Node gpu01 not found"),
        ("exec sleep 600", "sinfo: it hung"),
    ],
)
def test_a_slurm_without_an_answer_is_an_error(
    body: str, why: str, node: FakeNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_io, "ANSWER_S", 1.0 if "sleep" in body else 300.0)
    node.slurm_does(body)
    with pytest.raises(DeviceError, match=why):
        record(node).read()


@pytest.mark.parametrize("state", ["IDLE", "DOWN"])
def test_what_sinfo_does_not_say_for_certain_scontrol_shows(state: str, node: FakeNode) -> None:
    node.slurm(state, "Not responding", "RMA 4711")
    if state == "DOWN":
        node.write("/listing", "mixed+not_responding\x1fRMA 4\x1fNot responding\x1fRMA 4711\n")
    else:
        node.without_partition()
    assert record(node).read() == Seen("gpu01", state, frozenset(), "Not responding", "RMA 4711")
    assert node.asked() == [READ, "show node gpu01"]
    assert told(node, LINK)[2:] == [f"update nodename=gpu01 comment=RMA 4711 {COMMENT.partition('=')[2]}"]


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("name", ["empty", "drained", "null", "failing"])
def test_the_emulated_sinfo_prints_what_the_real_one_prints(name: str, release: str, node: FakeNode) -> None:
    real = recorded(release)[name]
    seen = real.seen()
    node.slurm("+".join([seen.state, *sorted(seen.flags)]), seen.reason, seen.comment)
    assert (node.root / "listing").read_text() == real.outputs["report"]


def test_a_report_that_is_not_answered_drains_the_node_in_the_end(node: FakeNode) -> None:
    stamp = node.run / "unanswered"
    assert told(node, LINK) == [READ, f"update nodename=gpu01 {COMMENT}"]
    node.slurm(comment=COMMENT.partition("=")[2])
    assert told(node, LINK) == [READ]
    stamp.write_text(str(time.monotonic() - UNANSWERED_S + 60))
    assert told(node, LINK) == [READ]
    stamp.write_text(str(time.monotonic() - UNANSWERED_S))
    assert told(node, LINK)[1:] == [f"update nodename=gpu01 {DRAIN}"]


@pytest.mark.parametrize(
    ("state", "kept"), [("IDLE", " {kept: breaker site is open}"), ("IDLE+DRAIN", ""), ("DOWN", "")]
)
def test_an_answer_ends_the_wait(state: str, kept: str, node: FakeNode) -> None:
    stamp = node.run / "unanswered"
    stamp.write_text("0")
    node.slurm(state, comment=f"{COMMENT.partition('=')[2]}{kept}")
    assert told(node, LINK) == [READ]
    assert not stamp.exists()


def test_a_finding_that_is_gone_or_only_reported_ends_the_wait(node: FakeNode) -> None:
    stamp = node.run / "unanswered"
    for found, report_only in (((), ()), ((LINK,), ("rail link",))):
        stamp.write_text("0")
        told(node, *found, report_only=report_only)
        assert not stamp.exists()


def test_a_broken_stamp_begins_anew(node: FakeNode) -> None:
    stamp = node.run / "unanswered"
    stamp.write_text("")
    assert f"update nodename=gpu01 {COMMENT}" in told(node, LINK)
    assert time.monotonic() - float(stamp.read_text()) < UNANSWERED_S


def test_slurm_that_refuses_a_change_is_an_error(node: FakeNode) -> None:
    node.tool("scontrol", f"{node.shows()}; echo 'slurm_update error: Invalid node name specified' >&2; exit 1")
    with pytest.raises(DeviceError, match="Invalid node name"):
        told(node, LINK)
