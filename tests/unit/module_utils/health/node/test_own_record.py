# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health import decide
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.decide import Memory, Seen
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.finding import (
    FABRIC,
    Finding,
    Report,
    counting,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.model import Health
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.node.own_record import (
    LOST,
    UNANSWERED_S,
    Change,
    after_job,
    at_intervals,
    before_job,
    listed,
    seen,
    unanswered,
)

from tests.node_record import RELEASES, recorded

MOMENTS = [(release, name) for release in RELEASES for name in recorded(release)]
SHOWN = """NodeName=gpu01 Arch=x86_64 CoresPerSocket=8{nbsp}
   CPUAlloc=0 CPUEfctv=16 CPUTot=16 CPULoad=0.01
   OS=Linux 6.12.48 #1 SMP{nbsp}
   State={state} ThreadsPerCore=2 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A
   BootTime=2026-11-29T10:00:00 SlurmdStartTime=2026-11-29T10:01:00
   CurrentWatts=n/a AveWatts=n/a{rest}

"""
LINK = Finding("rail1: rail link: down", FABRIC)
ECC = Finding("GPU 3: GPU memory errors: 2", ends="reboot")
KEPT = "breaker site is open"
SAYS = "comment=drawbridge health: [fabric] rail1: rail link: down"
IDLE = Seen("gpu01", "IDLE")
OURS = "drawbridge: health: [fabric] rail1: rail link: down"


def shown(rest: str = "", state: str = "IDLE") -> str:
    """The record as slurm_sprint_node_table of Slurm 24.11 prints it, whose words end with a blank here and there."""
    return SHOWN.format(state=state, rest=rest, nbsp=" ")


@pytest.mark.parametrize(
    ("rest", "reason", "comment"),
    [
        ("", "", ""),
        ("\n   Reason=power work [root@2026-11-29T11:09:31]", "power work", ""),
        ("\n   Comment=RMA 4711", "", "RMA 4711"),
        # what a person writes may look like Slurm's own words
        (
            "\n   Reason=see Comment=x [root@now]\n   Comment=Reason=lost State=DOWN",
            "see Comment=x",
            "Reason=lost State=DOWN",
        ),
        ("\n   Comment=one\n   Reason=two\n three", "", "one\n   Reason=two\n three"),
        ("\n   Comment=rack 7\n   Extra=x\n   ReservationName=drawbridge-proof", "", "rack 7"),
        ("\n   Comment=rack 7 \n   InstanceId=i-1 InstanceType=m5", "", "rack 7 "),
        ("\n   Comment=rack 7\n   Topology=default:sw1", "", "rack 7"),
        (f"\n   Reason={OURS} [slurm@2026-11-29T11:09:31]", OURS, ""),
    ],
)
def test_a_record_is_read_by_its_lines(rest: str, reason: str, comment: str) -> None:
    assert seen(shown(rest), "gpu01") == Seen("gpu01", "IDLE", frozenset(), reason, comment)


@pytest.mark.parametrize(
    ("state", "base", "flags"),
    [
        ("MIXED+DRAIN", "MIXED", {"DRAIN"}),
        ("DOWN*+DRAIN", "DOWN", {"DRAIN", "NOT_RESPONDING"}),
        ("IDLE+DYNAMIC_NORM", "IDLE", {"DYNAMIC_NORM"}),
    ],
)
def test_a_state_has_its_flags(state: str, base: str, flags: set[str]) -> None:
    found = seen(shown(state=state), "gpu01")
    assert (found.state, found.flags) == (base, flags)


def test_a_text_without_state_is_no_record() -> None:
    with pytest.raises(ValueError, match="scontrol has no state of gpu01"):
        seen("slurm_load_node error: Unable to contact slurm controller", "gpu01")


@pytest.mark.parametrize(("release", "name"), MOMENTS)
def test_sinfo_lists_what_scontrol_shows_or_nothing_certain(release: str, name: str) -> None:
    """scontrol's first line of a reason is the reason."""
    moment = recorded(release)[name]
    found = listed(moment.outputs["report"], moment.node)
    if name in ("sign", "mixed-drained", "down", "no-partition", "no-partition-drained", "unknown"):
        assert found is None
    else:
        assert found
        shown = seen(moment.outputs["shown"], moment.node)
        reason = "" if name == "none" else shown.reason
        assert replace(found, reason=found.reason.partition("\n")[0]) == replace(shown, reason=reason)


@pytest.mark.parametrize(
    ("columns", "comment"),
    [
        (("     ", "none", "(null)"), ""),
        (("(null", "none", "(null)"), "(null)"),
        (("     ", "none", "      x\n"), "      x\n"),
        (("RMA 4", "Comment=x", f"RMA 4711 {'x' * 9000} "), f"RMA 4711 {'x' * 9000} "),
    ],
)
def test_no_comment_is_lost(columns: tuple[str, ...], comment: str) -> None:
    found = listed("\x1f".join(("idle", *columns)) + "\n", "gpu01")
    assert found and found.comment == comment


@pytest.mark.parametrize(
    "text",
    ["", "idle", "\n", "idle\x1f     \x1fnone\x1f(null)", "idle\x1f     \x1fnone\n", "idle\x1f     \x1fa\x1fb\x1fc\n"],
)
def test_another_text_is_no_listing(text: str) -> None:
    assert listed(text, "gpu01") is None


def with_report(*findings: Finding, kept: str = "", site: str = "", node: Seen = IDLE) -> Seen:
    return replace(node, comment=str(Report(site, findings, kept)))


def told(node: Seen, *found: Finding, waited_s: float = 0.0, returns: bool = False) -> Change:
    return at_intervals(node, found, (), returns, waited_s)


@pytest.mark.parametrize(
    ("node", "found", "words"),
    [
        (IDLE, [], ()),
        (IDLE, [LINK], (SAYS,)),
        (with_report(LINK), [LINK], ()),
        (with_report(LINK), [], ("comment=",)),
        (with_report(LINK, site="RMA 4711 x=1"), [], ("comment=RMA 4711 x=1",)),
        # the answer is the controller's
        (with_report(LINK, kept=KEPT), [], (f"comment=drawbridge health: {{kept: {KEPT}}}",)),
        (
            with_report(site="RMA", kept=KEPT),
            [ECC],
            (f"comment=RMA drawbridge health: [node reboot] {ECC.text} {{kept: {KEPT}}}",),
        ),
        (with_report(LINK, kept=KEPT), [LINK], ()),
    ],
)
def test_a_report_is_written_when_it_changes(node: Seen, found: list[Finding], words: tuple[str, ...]) -> None:
    assert told(node, *found).words == words


def test_a_report_has_nothing_that_looks_like_slurms_own_words() -> None:
    words = told(IDLE, Finding("nhc: Reason=x; State={y}")).words
    assert words == ("comment=drawbridge health: nhc: Reason = x, State = (y)",)


def test_an_unanswered_report_drains_the_node_after_its_time() -> None:
    node = with_report(LINK)
    assert told(node, LINK, waited_s=UNANSWERED_S - 1) == Change()
    assert told(node, LINK, waited_s=UNANSWERED_S).words == ("state=drain", f"reason={OURS}")
    changed = told(IDLE, LINK, waited_s=UNANSWERED_S).words
    assert changed == (SAYS, "state=drain", f"reason={OURS}")


@pytest.mark.parametrize(
    "node",
    [
        replace(IDLE, flags=frozenset({"DRAIN"}), reason="power work"),
        replace(IDLE, state="DOWN", reason="RAM"),
        with_report(LINK, kept=KEPT),
    ],
)
def test_an_answered_node_does_not_drain_itself(node: Seen) -> None:
    assert not unanswered(node, [LINK])
    assert not [word for word in told(node, LINK, waited_s=9 * UNANSWERED_S).words if "state" in word]
    assert unanswered(IDLE, [LINK]) and not unanswered(IDLE, [])


def test_a_check_that_only_reports_drains_no_node() -> None:
    change = at_intervals(IDLE, [LINK], ("rail link",), False, UNANSWERED_S)
    assert change.words == (SAYS,)
    assert before_job(IDLE, [LINK], ("rail link",)).refuses is False
    assert before_job(IDLE, [LINK], ("rail",)).refuses is True
    both = before_job(with_report(ECC), [LINK], ("GPU memory errors",))
    assert both.words[1:] == ("state=drain", f"reason={OURS}")


@pytest.mark.parametrize("reason", LOST)
def test_a_lost_node_without_findings_returns(reason: str) -> None:
    lost = replace(IDLE, state="DOWN", reason=reason)
    assert told(lost, returns=True).words == ("state=resume",)
    assert told(with_report(LINK, node=lost), returns=True).words == ("comment=", "state=resume")
    assert told(lost).words == ()
    assert told(lost, LINK, returns=True).words == (SAYS,)
    for other in (
        replace(lost, reason="power work"),
        replace(lost, flags=frozenset({"DRAIN"})),
        replace(lost, state="IDLE"),
    ):
        assert told(other, returns=True).words == ()


def test_before_a_job_a_finding_drains_the_node_and_refuses_the_job() -> None:
    change = before_job(IDLE, [LINK], ())
    assert change.words == (
        SAYS,
        "state=drain",
        f"reason={OURS}",
    )
    assert change.refuses
    assert before_job(with_report(LINK), [LINK], ()).words == ("state=drain", f"reason={OURS}")


def test_before_a_job_findings_that_were_not_looked_for_stay() -> None:
    node = with_report(ECC, Finding("rail1: rail link: slow", FABRIC), site="RMA")
    change = before_job(node, [LINK], ())
    both = f"[node reboot] {ECC.text}; [fabric] {LINK.text}"
    assert change.words == (
        f"comment=RMA drawbridge health: {both}",
        "state=drain",
        f"reason=drawbridge: health: {both}",
    )
    assert after_job(node, [LINK]) == Change(
        (f"comment=RMA drawbridge health: {both}",), f"reported: [fabric] {LINK.text}"
    )
    assert after_job(with_report(LINK), [LINK]) == Change()


def test_before_a_job_an_open_breaker_lets_it_start() -> None:
    change = before_job(with_report(kept=KEPT), [LINK], ())
    assert change.words == (f"comment=drawbridge health: [fabric] {LINK.text} {{kept: {KEPT}}}",)
    assert (change.refuses, change.says) == (False, f"a job starts despite [fabric] {LINK.text}: {KEPT}")


def test_before_a_job_another_drain_keeps_its_reason() -> None:
    change = before_job(replace(IDLE, flags=frozenset({"DRAIN"}), reason="power work"), [LINK], ())
    assert change.words == (SAYS,)
    assert change.refuses


def test_nodes_and_controller_count_and_drain_alike() -> None:
    """The controller changes nothing about a drain that a node made."""
    for report_only in ((), ("rail link",)):
        node = with_report(LINK, ECC)
        [act] = decide.decide([node], {"u": ["gpu01"]}, Health(report_only=report_only), Memory(), 0.0).acts
        counted = counting(node.report.findings, report_only)
        assert act.text == decide.reason(counted)
        drained = replace(node, flags=frozenset({"DRAIN"}), reason=act.text)
        assert decide.decide([drained], {"u": ["gpu01"]}, Health(report_only=report_only), Memory(), 0.0).acts == ()
