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

from tests.unit.module_utils.health.fake_node import FakeNode

LINK = Finding("rail1: rail link: down", FABRIC)
COMMENT = "comment=drawbridge health: [fabric] rail1: rail link: down"
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
    assert node.asked() == ["show node gpu01", "update nodename=gpu01 comment=a b state=resume"]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("exit 1", "scontrol: 1"),
        ("echo 'Unable to contact slurm controller' >&2; exit 1", "Unable to contact slurm controller"),
        ("echo all is well", "scontrol has no state of gpu01"),
        ("exec sleep 600", "it hung"),
    ],
)
def test_a_slurm_without_an_answer_is_an_error(
    body: str, why: str, node: FakeNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_io, "ANSWER_S", 1.0 if "sleep" in body else 300.0)
    node.tool("scontrol", body)
    with pytest.raises(DeviceError, match=why):
        record(node).read()


def test_a_report_that_is_not_answered_drains_the_node_in_the_end(node: FakeNode) -> None:
    stamp = node.run / "unanswered"
    assert told(node, LINK) == ["show node gpu01", f"update nodename=gpu01 {COMMENT}"]
    node.slurm(comment=COMMENT.partition("=")[2])
    assert told(node, LINK) == ["show node gpu01"]
    stamp.write_text(str(time.monotonic() - UNANSWERED_S + 60))
    assert told(node, LINK) == ["show node gpu01"]
    stamp.write_text(str(time.monotonic() - UNANSWERED_S))
    assert told(node, LINK)[1:] == [f"update nodename=gpu01 {DRAIN}"]


@pytest.mark.parametrize(
    ("state", "kept"), [("IDLE", " {kept: breaker site is open}"), ("IDLE+DRAIN", ""), ("DOWN", "")]
)
def test_an_answer_ends_the_wait(state: str, kept: str, node: FakeNode) -> None:
    stamp = node.run / "unanswered"
    stamp.write_text("0")
    node.slurm(state, comment=f"{COMMENT.partition('=')[2]}{kept}")
    assert told(node, LINK) == ["show node gpu01"]
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
