# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.check import FILES, LOAD
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.passport import parse
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.cluster import NodeInSlurm

from .pretended import CHECK, IDLE, Kept, Killed, Slurm, proof, settings

EIGHT = [f"n{number:05}" for number in range(8)]
DRAINED = frozenset({"DRAIN"})
UNPROVED = NodeInSlurm("IDLE", DRAINED, "drawbridge: proof: not measured yet")
FOREIGN = NodeInSlurm("IDLE", DRAINED, "fan broken")


def test_a_sound_cluster_is_proved_and_nothing_is_left() -> None:
    slurm = Slurm(EIGHT)
    kept = Kept(slurm)
    result = proof(settings(), slurm, kept).run(EIGHT)
    assert result.passed
    assert [it.verdict for it in result.nodes] == ["proved"] * 8
    assert result.findings == ()
    assert (slurm.reserved, slurm.nodes) == ([], dict.fromkeys(EIGHT, IDLE))
    assert result.fabric.ports_passed == result.fabric.ports == 16
    assert result.fabric.leaf_pairs_passed == result.fabric.leaf_pairs == 4
    assert kept.results == [result]


@pytest.mark.parametrize("seed", range(20))
def test_noise_names_no_node(seed: int) -> None:
    slurm = Slurm(EIGHT, seed=seed)
    assert proof(settings(), slurm, Kept(slurm)).run(EIGHT).passed


def test_a_slow_cable_is_named_with_its_measure_and_its_node_is_drained() -> None:
    slurm = Slurm(EIGHT, cables={("n00002", 1): 0.6})
    result = proof(settings(), slurm, Kept(slurm)).run(EIGHT)
    (found,) = result.findings
    assert (found.kind, found.nodes, found.rails, found.leaves) == ("cable", ("n00002",), (1,), ("u0r1",))
    assert "n00002 rail1 at u0r1" in found.text
    assert "Gb/s, below 380.4 Gb/s (0.97 x 98.0 %" in found.text
    assert {it.name for it in result.nodes if it.verdict == "failed"} == {"n00002"}
    assert slurm.nodes["n00002"].reason.startswith("drawbridge: proof: n00002 rail1")
    assert all(slurm.nodes[name] == IDLE for name in EIGHT if name != "n00002")


def test_a_slow_path_between_leaves_is_no_nodes_fault() -> None:
    slurm = Slurm(EIGHT, paths={("u0", "u1"): 0.5})
    result = proof(settings(), slurm, Kept(slurm)).run(EIGHT)
    assert {(it.kind, it.leaves) for it in result.findings} == {("path", ("u0r0", "u1r0")), ("path", ("u0r1", "u1r1"))}
    assert all(it.verdict == "proved" for it in result.nodes)
    assert not result.passed


def test_a_node_that_gives_no_answer_fails_and_is_no_partner() -> None:
    slurm = Slurm(EIGHT, silent={"n00005"})
    result = proof(settings(), slurm, Kept(slurm)).run(EIGHT)
    assert [(it.nodes, it.kind) for it in result.findings] == [(("n00005",), "missing")]
    assert not any("n00005" in test.nodes for request in slurm.asked for test in request.tests)


def test_others_nodes_are_left_alone_and_named() -> None:
    nodes = {
        "n00000": FOREIGN,
        "n00001": NodeInSlurm("ALLOCATED", job="4711"),
        "n00002": NodeInSlurm("DOWN", reason="Not responding"),
        "n00003": NodeInSlurm("IDLE", frozenset({"MAINTENANCE"})),
    }
    slurm = Slurm(EIGHT, nodes)
    result = proof(settings(), slurm, Kept(slurm)).run(EIGHT)
    skipped = {it.name: it.why for it in result.nodes if it.verdict == "skipped"}
    assert skipped == {
        "n00000": ("it is drained with the reason: fan broken",),
        "n00001": ("job 4711 runs on it",),
        "n00002": ("it is down (Not responding)",),
        "n00003": ("Slurm says MAINTENANCE",),
    }
    assert {name: slurm.nodes[name] for name in nodes} == nodes
    assert not result.passed


def test_no_free_node_is_no_proof() -> None:
    slurm = Slurm(EIGHT, dict.fromkeys(EIGHT, FOREIGN))
    result = proof(settings(), slurm, Kept(slurm)).run(EIGHT)
    assert result.complete
    assert not result.passed


def test_its_own_drain_ends_with_the_proof_and_comes_back_with_a_fault() -> None:
    waiting = {"n00001": UNPROVED, "n00002": UNPROVED}
    slurm = Slurm(EIGHT, dict(waiting), cables={("n00002", 0): 0.4})
    proof(settings(), slurm, Kept(slurm)).run(EIGHT)
    assert slurm.nodes["n00001"] == IDLE
    assert slurm.nodes["n00002"].reason.startswith("drawbridge: proof: n00002 rail0")


def test_a_passport_names_its_checks_and_on_what_it_depends() -> None:
    slurm = Slurm(EIGHT, cables={("n00002", 0): 0.4})
    kept = Kept(slurm)
    result = proof(settings(passport=True), slurm, kept).run(EIGHT)
    assert sorted(slurm.passports) == [name for name in EIGHT if name != "n00002"]
    passport = parse(slurm.passports["n00001"])
    assert (passport.node, passport.proved, passport.depends) == ("n00001", result.ended, {"kernel": "6.12"})
    assert "fabric" in passport.checks


def test_classes_without_passports_get_none() -> None:
    slurm = Slurm(EIGHT)
    proof(settings(), slurm, Kept(slurm)).run(EIGHT)
    assert slurm.passports == {}


CALLS = 26
"""Of the proof below, with the last one that ends its reservation."""


def test_the_kills_below_meet_each_call_of_the_program() -> None:
    slurm = Slurm(EIGHT, {"n00001": UNPROVED}, cables={("n00002", 1): 0.6})
    proof(settings(passport=True), slurm, Kept(slurm)).run(EIGHT)
    assert len(slurm.calls) == CALLS


@pytest.mark.parametrize("at", range(1, CALLS))
def test_after_a_kill_before_its_end_the_next_run_cleans_and_goes_on(at: int) -> None:
    slurm = Slurm(EIGHT, {"n00001": UNPROVED}, cables={("n00002", 1): 0.6}, kill_at=at)
    kept = Kept(slurm)
    with pytest.raises(Killed):
        proof(settings(passport=True), slurm, kept).run(EIGHT)
    slurm.kill_at = 0
    result = proof(settings(passport=True), slurm, kept).run(EIGHT)
    assert [(it.kind, it.nodes) for it in result.findings] == [("cable", ("n00002",))]
    assert {it.name for it in result.nodes if it.verdict == "proved"} == {*EIGHT} - {"n00002"}
    assert (slurm.nodes["n00001"], slurm.reserved) == (IDLE, [])
    whole = Slurm(EIGHT, {"n00001": UNPROVED}, cables={("n00002", 1): 0.6})
    proof(settings(passport=True), whole, Kept(whole)).run(EIGHT)
    # the job that was killed runs again, and no other
    assert len(slurm.asked) <= len(whole.asked) + 1


def test_what_a_killed_run_left_is_cleaned_without_a_new_run() -> None:
    slurm = Slurm(EIGHT, {"n00001": UNPROVED}, kill_at=8)
    kept = Kept(slurm)
    with pytest.raises(Killed):
        proof(settings(), slurm, kept).run(EIGHT)
    assert slurm.nodes["n00001"] == IDLE
    slurm.kill_at = 0
    proof(settings(), slurm, kept).clean()
    assert slurm.nodes["n00001"] == UNPROVED
    assert slurm.reserved == []


def test_no_answer_from_any_node_names_no_node() -> None:
    slurm = Slurm(EIGHT, {"n00001": UNPROVED}, silent={*EIGHT})
    with pytest.raises(DeviceError, match="answered in 3 jobs"):
        proof(settings(), slurm, Kept(slurm)).run(EIGHT)
    assert slurm.nodes["n00001"] == UNPROVED
    assert slurm.reserved == []


def test_a_patrol_leaves_file_systems_to_jobs() -> None:
    slurm = Slurm(EIGHT)
    it = proof(settings(), slurm, Kept(slurm))
    it.checks = [CHECK, replace(CHECK, name="files", kind=LOAD, page=FILES)]
    assert it.run(EIGHT, patrol=True).passed
    assert {name for request in slurm.asked for name in request.checks} == {"clocks"}


def test_one_node_gets_idle_partners_of_its_unit() -> None:
    slurm = Slurm(EIGHT, {"n00001": NodeInSlurm("ALLOCATED", job="7"), "n00005": UNPROVED})
    result = proof(settings(), slurm, Kept(slurm)).run(["n00004"])
    assert {it.name: it.verdict for it in result.nodes} == dict.fromkeys(["n00004", "n00006", "n00007"], "proved")
    assert slurm.nodes["n00005"] == UNPROVED


def test_a_node_without_a_partner_is_not_proved() -> None:
    slurm = Slurm(EIGHT, {name: FOREIGN for name in EIGHT[1:]})
    result = proof(settings(passport=True), slurm, Kept(slurm)).run(["n00000"])
    assert [(it.verdict, it.why) for it in result.nodes] == [
        ("unknown", ("no test of the fabric with it passed, or no other node was idle",))
    ]
    assert slurm.passports == {}
