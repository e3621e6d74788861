# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Looks of the controller at an emulated Slurm that refuses, lies, hangs and forgets."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.controller.kube import Last
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.controller.memory import Notes
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.controller.tend_io import (
    KUBERNETES,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.finding import Finding
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.model import Breaker, Reboot

from tests.unit.module_utils.health.controlled import LINK, LOST, MOUNT, NAMES, ROWS, Controller
from tests.unit.module_utils.health.emulated_scontrol import new

DRAINED = "drawbridge: health: "


def test_a_finding_drains_its_node_and_its_end_lifts_the_drain(controller: Controller) -> None:
    controller.report(f"RMA=4711 {MOUNT}", "n01")
    assert controller.tend() == ["update nodename=n01 state=drain reason=drawbridge: health: /fs1 is not mounted"]
    assert controller.tend() == []
    controller.report("RMA=4711", "n01")
    assert [call.split(" reason")[0] for call in controller.tend()] == ["update nodename=n01 state=undrain"]
    assert controller.tend() == []
    assert controller.node("n01")["comment"] == "RMA=4711"
    text = "/fs1 is not mounted"
    assert controller.history() == [("n01", what, text) for what in ("found", "drained", "gone", "lifted")]
    assert controller.said[1:] == []


def test_nodes_with_the_same_finding_share_a_call(controller: Controller) -> None:
    controller.report(MOUNT, "n01", "n12")
    assert controller.tend() == ["update nodename=n[01,12] state=drain reason=drawbridge: health: /fs1 is not mounted"]


def test_drains_of_others_stay(controller: Controller) -> None:
    controller.node("n01").update(flags=["DRAIN"], reason="fan", comment=MOUNT)
    controller.node("n02").update(flags=["DRAIN"], reason="drawbridge: proof: slow")
    controller.node("n03").update(state="DOWN", reason=f"{DRAINED}/fs1 is not mounted")
    assert controller.tend() == []


def test_nodes_that_the_intent_lacks_are_left_alone(controller: Controller) -> None:
    controller.slurm.nodes["x1"] = new("x1", comment=MOUNT)
    controller.slurm.nodes["x2"] = new("x2", "IDLE+DRAIN", f"{DRAINED}/fs1 is not mounted")
    assert controller.tend() == []


def test_a_node_that_a_proof_has_reserved_is_left_alone(controller: Controller) -> None:
    controller.node("n01").update(comment=ROWS, reservation="drawbridge-proof")
    controller.node("n02").update(flags=["DRAIN"], reason=f"{DRAINED}a", reservation="drawbridge-proof")
    assert controller.tend() == []
    controller.node("n01")["reservation"] = controller.node("n02")["reservation"] = ""
    assert [call.split()[1] for call in controller.tend()] == ["nodename=n01", "nodename=n02"]


def test_a_breaker_keeps_nodes_in_service_until_a_person_closes_it(controller: Controller) -> None:
    controller.report(MOUNT, *NAMES[:7])
    assert controller.tend() == [
        "update nodename=n[08-20] comment=drawbridge health: {kept: breaker site is open}",
        f"update nodename=n[01-07] comment={MOUNT} {{kept: breaker site is open}}",
    ]
    assert not any(it["flags"] for it in controller.slurm.nodes.values())
    assert controller.tend(2) == []
    opened = controller.memory()["opened"]
    assert opened["site"]["why"] == "findings would keep 7 of 20 nodes drained, the limit is 2"
    assert ("", "opened", f"site: {opened['site']['why']}") in controller.history()
    assert ("n07", "kept", "breaker site is open") in controller.history()
    # less findings close no breaker
    for name in NAMES[:7]:
        controller.report("drawbridge health: {kept: breaker site is open}", name)
    assert controller.tend(2) == []
    assert "site" in controller.memory()["opened"]


@pytest.mark.parametrize("damage", ["lost", "broken", "unreadable"])
def test_a_lost_memory_closes_no_breaker(damage: str, controller: Controller) -> None:
    controller.report(MOUNT, *NAMES[:7])
    controller.tend()
    memory = controller.place.store.memory
    memory.unlink()
    if damage == "broken":
        memory.write_text('{"opened": []}')
    if damage == "unreadable":
        memory.symlink_to("/dev/null")
    for name in NAMES[1:7]:
        controller.report("drawbridge health: {kept: breaker site is open}", name)
    controller.said.clear()
    assert controller.tend() == []
    assert "site" in controller.memory()["opened"]
    assert "open breakers in the nodes' records: site" in controller.said[0]


def test_a_lost_memory_reboots_no_node_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}/bin")
    controller = Controller(tmp_path, reboot=Reboot(allowed=True))
    controller.report(LOST, "n01")
    assert [call.split()[0] for call in controller.tend(2)] == ["update", "reboot"]
    controller.place.store.memory.unlink()
    controller.node("n01").update(state="IDLE", flags=["DRAIN"], since=controller.slurm.now)
    assert controller.tend(3) == []


def rebooting(root: Path, monkeypatch: pytest.MonkeyPatch, proofs: str = "") -> Controller:
    monkeypatch.setenv("PATH", f"{root}/bin")
    found = Controller(root, proofs, reboot=Reboot(allowed=True))
    found.report(LOST, "n01")
    return found


def test_one_reboot_then_the_node_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    controller = rebooting(tmp_path, monkeypatch)
    reason = "reason=drawbridge: health: [node reboot] GPU 3: GPUs present: lost"
    assert controller.tend() == [f"update nodename=n01 state=drain {reason}"]
    assert controller.tend() == [f"reboot ASAP nextstate=DOWN {reason} n01"]
    assert controller.tend() == []
    controller.slurm.issue("n01")
    assert controller.tend(2) == []
    controller.slurm.boot("n01")
    controller.report("", "n01")
    assert [call.split(" reason")[0] for call in controller.tend()] == ["update nodename=n01 state=resume"]
    assert controller.node("n01")["state"] == "IDLE"
    assert controller.tend(2) == []
    assert [what for _node, what, _text in controller.history()] == ["found", "drained", "rebooted", "gone", "lifted"]


def test_a_reboot_that_does_not_help_waits_for_a_person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    controller = rebooting(tmp_path, monkeypatch)
    controller.tend(2)
    controller.slurm.issue("n01")
    controller.tend()
    controller.slurm.boot("n01")
    repair = "[node repair] GPU 3: GPUs present: lost"
    # a proof takes nodes with a drain alone
    assert controller.tend() == [f"update nodename=n01 state=drain reason={DRAINED}{repair}"]
    assert controller.tend(3) == []
    controller.report("", "n01")
    assert controller.tend(3) == []


def test_a_refused_reboot_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    controller = rebooting(tmp_path, monkeypatch)
    controller.slurm.faults["reboot_program"] = False
    controller.tend(2)
    assert controller.memory()["reboots"] == {}
    assert "RebootProgram isn't defined" in controller.said[-1]
    controller.slurm.faults.clear()
    assert [call.split()[0] for call in controller.tend()] == ["reboot"]


def test_a_reboot_without_an_answer_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    controller = rebooting(tmp_path, monkeypatch)
    controller.tend()
    controller.hung = {"reboot"}
    controller.tend()
    assert [*controller.memory()["reboots"]] == ["n01"]
    controller.hung = set()
    assert controller.tend(2) == []


def test_a_look_with_a_full_disk_changes_all_but_reboots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    controller = rebooting(tmp_path, monkeypatch)
    controller.tend()
    store = controller.place.store

    def full(*_given: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store, "save", full)
    controller.report(MOUNT, *NAMES[2:9])
    run, kept = controller.run, list[bool]()

    def watched(argv: list[str], ok: tuple[int, ...] = (0,)) -> Completed:
        kept.append(argv[1] != "show" and store.memory.exists())
        return run(argv, ok)

    object.__setattr__(controller.place, "run", watched)
    calls = controller.tend()
    assert kept and not any(kept), "an old memory would close the breaker if the program died now"
    assert {call.split()[0] for call in calls} == {"update"} and "kept: breaker site is open" in calls[0]
    assert not store.memory.exists()
    assert "No space left" in controller.said[-1]
    monkeypatch.undo()
    monkeypatch.setenv("PATH", f"{tmp_path}/bin")
    for name in NAMES[3:9]:
        controller.report("drawbridge health: {kept: breaker site is open}", name)
    controller.tend()
    assert "site" in controller.memory()["opened"]


def test_a_disk_that_is_full_for_a_moment_costs_no_reboot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    controller = rebooting(tmp_path, monkeypatch)
    controller.tend()
    store, tries = controller.place.store, [1]
    save = store.save

    def full_once(notes: Notes) -> None:
        if tries and tries.pop():
            raise OSError(28, "No space left on device")
        save(notes)

    monkeypatch.setattr(store, "save", full_once)
    assert controller.tend() == []
    assert controller.memory()["reboots"] == {}
    assert [call.split()[0] for call in controller.tend()] == ["reboot"]


def test_slurm_that_lies_is_found_out_and_tried_again(controller: Controller) -> None:
    controller.report(MOUNT, "n01")
    controller.slurm.faults["lie"] = ["update"]
    assert len(controller.tend(3)) == 3
    assert controller.said[1:] == ["Slurm accepted the drain, but it is not in effect: n01"]
    controller.slurm.faults.clear()
    assert len(controller.tend(2)) == 1
    assert [what for _node, what, _text in controller.history()] == ["found", "drained"]


def test_a_refusal_is_said_once_and_stops_no_other_node(controller: Controller) -> None:
    controller.report(MOUNT, "n01")
    controller.report(LINK, "n02")
    controller.slurm.faults["refuse"] = {"n01": "Invalid node state specified"}
    controller.tend(3)
    assert controller.node("n02")["flags"] == ["DRAIN"]
    assert len(controller.said[1:]) == 1
    assert controller.said[1].endswith(
        "Invalid node state specified; this was the drain of n01: drawbridge: health: /fs1 is not mounted"
    )
    assert controller.metrics()["refused_changes"] == 1


def test_a_node_that_vanishes_between_look_and_change_costs_one_look(controller: Controller) -> None:
    """slurmctld stops at the unknown name, and leaves those after it."""
    controller.report(MOUNT, "n01", "n02")
    run = controller.run

    def vanishing(argv: list[str], ok: tuple[int, ...] = (0,)) -> Completed:
        done = run(argv, ok)
        if argv[1] == "show":
            controller.slurm.nodes.pop("n01", None)
        return done

    object.__setattr__(controller.place, "run", vanishing)
    controller.tend()
    assert controller.node("n02")["flags"] == []
    controller.tend()
    assert controller.node("n02")["flags"] == ["DRAIN"]


def test_a_silent_slurmctld_changes_nothing(controller: Controller) -> None:
    controller.report(MOUNT, *NAMES[:7])
    controller.tend()
    before, looked = controller.memory(), controller.metrics()["look_timestamp_seconds"]
    controller.slurm.faults["silent"] = True
    controller.report("", *NAMES[:7])
    assert controller.tend(2) == []
    assert controller.memory() == before
    found = controller.metrics()
    assert (found["up"], found["look_timestamp_seconds"], found['breaker_open{breaker="site"}']) == (0, looked, 1)
    assert controller.said[-1].startswith("slurmctld is silent, so nothing changes: ")
    assert ("n01", "gone", "/fs1 is not mounted") not in controller.history()


def test_changes_after_a_hanging_one_wait(controller: Controller) -> None:
    controller.report(MOUNT, "n01")
    controller.report(LINK, "n02")
    controller.hung = {"update"}
    controller.tend()
    assert controller.said[-2].startswith(
        "scontrol gave no answer within 20 s and was killed; this was the drain of n01: "
    )
    assert controller.said[-1] == "1 changes wait for the next look"
    controller.hung = set()
    assert len(controller.tend()) == 2


def test_words_of_a_finding_may_change(controller: Controller) -> None:
    controller.report("drawbridge health: [user] /: disk space: 96 % full", "n01")
    controller.tend()
    controller.report("drawbridge health: [user] /: disk space: 97 % full", "n01")
    assert controller.tend() == [f"update nodename=n01 reason={DRAINED}[user] /: disk space: 97 % full"]
    controller.report("drawbridge health: [user] /: disk space: 97 % full; [fabric] rail3: rail link: down", "n01")
    controller.tend(2)
    assert [what for _node, what, _text in controller.history()] == ["found", "drained", "found", "reason"]


def test_a_drain_that_another_one_replaces_is_no_lift(controller: Controller) -> None:
    controller.report(MOUNT, "n01")
    controller.tend(2)
    controller.node("n01")["reason"] = "fan"
    controller.tend()
    assert controller.history()[-1] == ("n01", "reason", "another reason keeps it from jobs: fan")


def test_findings_of_others_count_as_those_of_nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last look at Node objects was expensive and is young; then it is too old, and the API server is silent."""
    monkeypatch.setenv("PATH", f"{tmp_path}/bin")
    controller = Controller(tmp_path, cordons=True)
    access = {"url": "https://127.0.0.1:1", "ca_file": f"{tmp_path}/none", "token_file": f"{tmp_path}/none"}
    object.__setattr__(controller.place, "settings", replace(controller.place.settings, access=access))
    assert controller.tend() == []
    assert "conditions and cordons count as before" in controller.said[-1]
    last = Last(controller.slurm.now, 60, {"n01": (Finding("cordon: by kubectl"),)})
    (controller.place.store.folder / KUBERNETES).write_text(last.text())
    assert controller.tend() == ["update nodename=n01 state=drain reason=drawbridge: health: cordon: by kubectl"]
    assert controller.tend() == []
    controller.slurm.now += 3600
    assert controller.tend() == [], "a silent API server ends no drain"
    last = Last(controller.slurm.now, 60, {})
    (controller.place.store.folder / KUBERNETES).write_text(last.text())
    assert [call.split()[2] for call in controller.tend()] == ["state=undrain"]


def test_the_metrics_of_a_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}/bin")
    controller = Controller(tmp_path, reboot=Reboot(allowed=True), breaker=Breaker(20, 50, 2))
    controller.report(LOST, "n01")
    controller.report("drawbridge health: [node repair] GPU 3: x: y; [user] /: full", "n11")
    controller.tend(3)
    found = controller.metrics()
    assert (found["up"], found["look_timestamp_seconds"]) == (1, controller.slurm.now)
    assert [found[f'findings{{fault="{it}"}}'] for it in ("node", "user", "fabric")] == [2, 1, 0]
    assert [found[f'drained_nodes{{ends="{it}"}}'] for it in ("heals", "reboot", "repair")] == [0, 1, 1]
    assert [found[f'breaker_open{{breaker="{it}"}}'] for it in ("site", "leaf1", "leaf2")] == [0, 0, 0]
    assert found['node_reboots{node="n01"}'] == 1
    controller.slurm.now += 31 * 86400
    controller.tend()
    assert 'node_reboots{node="n01"}' not in controller.metrics()


def test_files_are_for_those_who_need_them(controller: Controller) -> None:
    controller.report(MOUNT, "n01")
    controller.tend()
    store = controller.place.store
    modes = {file.name: file.stat().st_mode & 0o777 for file in store.folder.iterdir()}
    assert modes == {"memory.json": 0o600, "history.jsonl": 0o644, "lock": 0o600}
    assert json.loads(store.history.read_text().splitlines()[0])["what"] == "found"
