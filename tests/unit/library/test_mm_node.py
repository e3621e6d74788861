# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The module against an emulated cluster, with every fault that its commands can have."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.unit.library.gpfs_site import ADAPTERS, Site
from tests.waiting import until

NODES = ["gpu01", "gpu02"]
ARGS: dict[str, Any] = {
    "nodes": NODES,
    "accept_license": True,
    "variables": {"accept_license": "gpfs_client_accept_license"},
    "settle_s": 120,
    "lock_wait_s": 0,
}
JOIN = [f"{name}: join the cluster as a client" for name in NODES]
LICENSE = [f"{name}: designate a client licence" for name in NODES]
START = [f"{name}: start GPFS" for name in NODES]
BATCHES = ["mmaddnode", "mmchlicense", "mmstartup"]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: Any, capfd: Any) -> Site:
    monkeypatch.setattr(f"{ADAPTERS}.members.layer.SECONDS_A_NODE", 0)
    return Site(tmp_path, monkeypatch, capfd)


def test_fresh_nodes_join_in_one_batch_as_predicted_and_the_second_run_only_reads(site: Site) -> None:
    predicted = site.run("nsd1", "mm_node", check=True, **ARGS)
    assert site.written("nsd1") == []
    done = site.run("nsd1", "mm_node", **ARGS)
    assert not done.get("failed"), done
    for key in ("changed", "steps", "diff", "pending"):
        assert predicted[key] == done[key]
    assert done["steps"] == JOIN + LICENSE + START
    assert done["diff"]["after"] == "gpu01 client active\ngpu02 client active\n"
    assert site.written("nsd1") == BATCHES
    assert [site.state()["nodes"][name]["designation"] for name in NODES] == ["", ""]
    again = site.run("nsd1", "mm_node", **ARGS)
    assert (again["changed"], again["steps"]) == (False, [])
    assert site.written("nsd1") == BATCHES


def test_one_more_node_costs_that_node(site: Site) -> None:
    site.run("nsd1", "mm_node", **ARGS)
    more = site.run("nsd1", "mm_node", **{**ARGS, "nodes": [*NODES, "gpu03"]})
    assert {step.split(":")[0] for step in more["steps"]} == {"gpu03"}


def test_without_consent_nothing_is_touched_and_the_line_is_printed(site: Site) -> None:
    refused = site.run("nsd1", "mm_node", **{**ARGS, "accept_license": False})
    assert refused["failed"] and not refused["changed"]
    assert "accept_license is false, but gpu01, gpu02 would get" in refused["msg"]
    assert refused["msg"].endswith("gpfs_client_accept_license: true")
    assert refused["left"] == JOIN + LICENSE + START
    assert site.written("nsd1") == []


def test_a_licence_that_is_there_needs_no_consent_again(site: Site) -> None:
    site.run("nsd1", "mm_node", **ARGS)
    site.change(lambda state: state["daemons"]["gpu02"].update(state="down"))
    done = site.run("nsd1", "mm_node", **{**ARGS, "accept_license": False})
    assert done["steps"] == START[1:]


@pytest.mark.parametrize(
    ("knob", "told"),
    [
        ("unreachable", "mmaddnode did not add gpu02: gpu02 cannot be reached."),
        ("without_packages", "mmaddnode did not add gpu02: GPFS is not installed on node gpu02."),
        ("foreign", "mmaddnode did not add gpu02: Node gpu02 belongs to another GPFS cluster."),
    ],
)
def test_a_node_that_cannot_join_is_named_and_the_others_go_on(site: Site, knob: str, told: str) -> None:
    site.change(lambda state: state[knob].append("gpu02"))
    result = site.run("nsd1", "mm_node", **ARGS)
    assert result["failed"] and result["changed"]
    assert result["msg"] == told
    assert JOIN[0] in result["done"] and LICENSE[0] in result["done"]
    assert {JOIN[1], LICENSE[1], START[1]} <= set(result["left"])
    assert site.state()["nodes"]["gpu01"]["license"] == "client"


def test_an_unreachable_member_is_pending_and_the_others_go_on(site: Site) -> None:
    site.run("nsd1", "mm_node", **ARGS)
    site.change(lambda state: state["unreachable"].append("gpu01"))
    result = site.run("nsd1", "mm_node", **{**ARGS, "nodes": [*NODES, "gpu03"]})
    assert not result.get("failed"), result
    assert {step.split(":")[0] for step in result["steps"]} == {"gpu03"}
    assert len(result["pending"]) == 1
    assert result["pending"][0].startswith("gpu01: start GPFS: its daemon's state is unknown")
    assert result["pending"][0].endswith("mmsdrrestore -N gpu01")


def test_a_quorum_node_among_the_clients_is_reported(site: Site) -> None:
    site.run("nsd1", "mm_node", **ARGS)
    site.device("nsd1").add_fault("mmaddnode", "drift")
    site.run("nsd1", "mm_node", **{**ARGS, "nodes": [*NODES, "gpu03"]})
    result = site.run("nsd1", "mm_node", **{**ARGS, "nodes": [*NODES, "gpu03"]})
    assert not result["changed"] and len(result["pending"]) == 1
    assert result["pending"][0].startswith("gpu03: be a client only: the cluster has it as quorum")


def test_a_node_that_stays_arbitrating_is_waited_for_and_not_started_again(site: Site) -> None:
    site.change(lambda state: state.update(arbitrating_polls=10**6))
    result = site.run("nsd1", "mm_node", **{**ARGS, "settle_s": 1})
    assert result["failed"]
    assert result["left"] == [f"{name}: wait for GPFS, which is arbitrating" for name in NODES]
    site.run("nsd1", "mm_node", **{**ARGS, "settle_s": 1})
    assert site.written("nsd1") == BATCHES


def test_another_cluster_is_refused(site: Site) -> None:
    result = site.run("nsd1", "mm_node", **ARGS, cluster="ess.example.org")
    assert result["failed"] and not result["changed"]
    assert "drawbridge_gpfs.cluster is ess.example.org, but this host belongs to drawbridge-lab.nsd1" in result["msg"]
    assert not site.run("nsd1", "mm_node", **ARGS, cluster="drawbridge-lab.nsd1").get("failed")


def test_a_host_that_is_no_member_is_no_admin(site: Site) -> None:
    result = site.run("gpu01", "mm_node", **ARGS)
    assert result["failed"] and not result["changed"]
    assert "this host belongs to no GPFS cluster" in result["msg"]


def test_a_lock_that_is_held_for_a_while_is_waited_for(site: Site) -> None:
    site.change(lambda state: state.update(lock_held_until=time.time() + 3600, lock_timeout_s=0.1))

    def let_go() -> None:
        until(lambda: "mmaddnode" in site.written("nsd1"), 120, "mmaddnode has given up once")
        site.change(lambda state: state.update(lock_held_until=0.0))

    with ThreadPoolExecutor(1) as pool:
        holder = pool.submit(let_go)
        done = site.run("nsd1", "mm_node", **{**ARGS, "lock_wait_s": 600})
    holder.result()
    assert not done.get("failed"), done
    assert site.written("nsd1").count("mmaddnode") > 1


def test_a_lock_that_stays_held_is_reported(site: Site) -> None:
    site.change(lambda state: state.update(lock_held_until=time.time() + 600, lock_timeout_s=0.1))
    result = site.run("nsd1", "mm_node", **{**ARGS, "lock_wait_s": 2})
    assert result["failed"] and not result["changed"]
    assert "Timed out waiting for lock" in result["msg"]


DRIFTED = {"mmaddnode": "gpu02 quorum client active", "mmchlicense": "gpu02 server active"}
"""A node that another user made more than a client is no failure; the run reports it."""


@pytest.mark.parametrize("verb", BATCHES)
@pytest.mark.parametrize("effect", ["refuse", "lie", "hang", "die", "drift"])
def test_faults_are_reported_and_the_next_run_finishes(site: Site, verb: str, effect: str) -> None:
    site.hosts["nsd1"].arm("gpfs", verb, effect)
    in_vain = effect == "lie" or (effect == "drift" and verb not in DRIFTED)
    start = time.monotonic()
    result = site.run("nsd1", "mm_node", **{**ARGS, "settle_s": 2 if in_vain else 120})
    assert time.monotonic() - start < 600
    if effect == "drift" and verb in DRIFTED:
        assert not result.get("failed"), result
        assert result["diff"]["after"].splitlines()[1] == DRIFTED[verb]
    else:
        assert result["failed"], result
        assert result["left"]
    again = site.run("nsd1", "mm_node", **ARGS)
    assert not again.get("failed"), again
    assert site.run("nsd1", "mm_node", check=True, **ARGS)["steps"] == []
    whole = {line.partition(": be a client only")[0] for line in again["pending"]}
    assert whole == ({"gpu02"} if (verb, effect) == ("mmaddnode", "drift") else set())


def test_a_failing_mmlscluster_is_never_an_empty_cluster(site: Site) -> None:
    site.device("nsd1").add_fault("mmlscluster", "refuse")
    result = site.run("nsd1", "mm_node", **ARGS)
    assert result["failed"] and not result["changed"]
    assert result["msg"].startswith("mmlscluster failed: Make sure that the following nodes are available")
    assert site.written("nsd1") == []


def test_missing_packages_are_reported(site: Site, tmp_path: Path) -> None:
    result = site.hosts["nsd1"].run("mm_node", **ARGS, mm_path=str(tmp_path / "none"))
    assert "mmlscluster can't be run: No such file or directory; install Storage Scale's packages" in result["msg"]
