# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The module against an emulated cluster, with every fault that its commands can have."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lab.emulators.storage.gpfs.states import default_state, local_copy
from tests.unit.library.gpfs_site import ADAPTERS, ADDRESSES, Site
from tests.waiting import until

NODES = ["gpu01", "gpu02"]
ARGS: dict[str, Any] = {
    "nodes": NODES,
    "accept_license": True,
    "variables": {"accept_license": "gpfs_client_accept_license", "dead": "gpfs_client_dead"},
    "lock_wait_s": 0,
}
JOIN = [f"{name}: join the cluster as a client" for name in NODES]
LICENSE = [f"{name}: designate a client licence" for name in NODES]
BATCHES = ["mmaddnode", "mmchlicense"]
ID = default_state()["id"]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: Any, capfd: Any) -> Site:
    monkeypatch.setattr(f"{ADAPTERS}.members.layer.SECONDS_A_NODE", 0)
    return Site(tmp_path, monkeypatch, capfd)


def node(site: Site, check: bool = False, **more: Any) -> dict[str, Any]:
    return site.run("nsd1", "mm_node", check, **{**ARGS, **more})


class TestJoining:
    def test_fresh_nodes_join_in_one_batch_as_predicted_and_the_second_run_only_reads(self, site: Site) -> None:
        done = site.converge("nsd1", node)
        assert done["steps"] == JOIN + LICENSE
        assert done["diff"]["after"] == "gpu01 client\ngpu02 client\n"
        assert site.written("nsd1") == BATCHES
        assert [site.state()["nodes"][name]["designation"] for name in NODES] == ["", ""]

    def test_one_more_node_costs_that_node(self, site: Site) -> None:
        node(site)
        more = node(site, nodes=[*NODES, "gpu03"])
        assert {step.split(":")[0] for step in more["steps"]} == {"gpu03"}

    def test_without_consent_nothing_is_touched_and_the_line_is_printed(self, site: Site) -> None:
        refused = node(site, accept_license=False)
        assert refused["failed"] and not refused["changed"]
        assert "accept_license is false, but gpu01, gpu02 would get" in refused["msg"]
        assert refused["msg"].endswith("gpfs_client_accept_license: true")
        assert refused["left"] == JOIN + LICENSE
        assert site.written("nsd1") == []

    @pytest.mark.parametrize(
        ("knob", "told"),
        [
            ("unreachable", "mmaddnode left out gpu02: gpu02 cannot be reached."),
            ("without_packages", "mmaddnode left out gpu02: GPFS is not installed on node gpu02."),
            ("foreign", "mmaddnode left out gpu02: Node gpu02 belongs to another GPFS cluster."),
            ("leftovers", "mmaddnode left out gpu02: Node gpu02 appears to already belong to a GPFS cluster."),
        ],
    )
    @pytest.mark.parametrize("alone", [False, True])
    def test_a_node_that_cannot_join_waits_and_the_others_go_on(
        self, site: Site, knob: str, told: str, alone: bool
    ) -> None:
        site.change(lambda state: state[knob].append("gpu02"))
        result = node(site, nodes=["gpu02"] if alone else NODES)
        assert not result.get("failed"), result
        assert result["pending"] == [told]
        assert result["steps"] == ([] if alone else [JOIN[0], LICENSE[0]])
        assert result["changed"] is not alone
        assert "gpu02" not in site.state()["nodes"]

    def test_a_daemon_that_is_down_is_the_nodes_own_business(self, site: Site) -> None:
        node(site)
        site.change(lambda state: state["daemons"]["gpu02"].update(state="down"))
        again = node(site)
        assert (again["changed"], again["pending"]) == (False, [])

    def test_names_of_interfaces_follow_from_the_nodes_name(self, site: Site) -> None:
        with (site.hosts["nsd1"].root.parent / "hosts").open("a") as hosts:
            hosts.write("10.88.1.21 gpu01-data\n")
        done = node(site, nodes=["gpu01"], daemon_suffix="-data", admin_suffix="-adm")
        assert not done.get("failed") and done["pending"] == [], done
        member = site.state()["nodes"]["gpu01-data"]
        assert (member["daemon"], member["admin"], member["ip"]) == ("gpu01-data", "gpu01-adm", "10.88.1.21")
        assert node(site, nodes=["gpu01"], daemon_suffix="-data", admin_suffix="-adm")["steps"] == []


def local(**ids: str) -> dict[str, Any]:
    return {name: {"cluster_id": it} for name, it in ids.items()}


OTHER = "4711471147114711"
FOREIGN = f"it has the configuration of another cluster, {OTHER}"
SILENT = "gpu01: answer the cluster's admin host: "
UNKNOWN = "its daemon's state is unknown to the cluster; start the host, or repair its network"
MOVED = "gpu01: use its daemon interface: the cluster reaches its daemon at gpu01 (10.99.1.21), but gpu01 is 10.77.1.21"


def off(state: dict[str, Any]) -> None:
    state["unreachable"].append("gpu01")


def moved(state: dict[str, Any]) -> None:
    state["nodes"]["gpu01"].update(ip="10.99.1.21")


class TestStates:
    """What admin host and node say of each other, and what comes of it."""

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            ({"local": local(gpu01="", gpu02=OTHER)}, f"{JOIN[1]}: {FOREIGN}"),
            (
                {"local": local(gpu01=""), "ask_first": True},
                f"{JOIN[1]}: its software is not ready; its own result has",
            ),
        ],
    )
    def test_a_node_that_may_not_join_waits_before_any_command(
        self, site: Site, arguments: dict[str, Any], told: str
    ) -> None:
        result = node(site, **arguments)
        assert result["steps"] == [JOIN[0], LICENSE[0]]
        assert [it.startswith(told) for it in result["pending"]] == [True]

    @pytest.mark.parametrize(
        ("change", "hints", "begin", "end"),
        [
            (None, local(gpu02=OTHER), f"gpu02: be a client of this cluster: {FOREIGN}", ""),
            (off, {}, SILENT, UNKNOWN),
            (off, local(gpu01=ID), SILENT, "look there for a changed host key: ssh gpu01 true"),
            (off, local(gpu01=""), "mmsdrrestore left out gpu01: gpu01 cannot be reached, or GPFS is not", ""),
            (moved, {}, MOVED, "mmchnode --daemon-interface=gpu01 -N gpu01"),
        ],
    )
    def test_a_member_that_waits_is_pending_and_the_others_go_on(
        self, site: Site, change: Any, hints: dict[str, Any], begin: str, end: str
    ) -> None:
        node(site)
        if change:
            site.change(change)
        result = node(site, nodes=[*NODES, "gpu03"], local=hints)
        assert not result.get("failed") and {step.split(":")[0] for step in result["steps"]} == {"gpu03"}, result
        [told] = result["pending"]
        assert told.startswith(begin) and told.endswith(end)

    def test_a_rebuilt_host_gets_its_configuration_back(self, site: Site) -> None:
        node(site)
        configuration = site.hosts["gpu01"].root / "mmfs/gen/mmsdrfs"
        site.run("gpu01", "mm_mount", check=True, filesystems=[])
        configuration.unlink(missing_ok=True)
        hint = local(gpu01="")
        predicted, done = node(site, check=True, local=hint), node(site, local=hint)
        restore = "gpu01: give it the cluster's configuration, which it does not have"
        assert predicted["steps"] == done["steps"] == [restore] and not done.get("failed")
        assert site.written("nsd1") == [*BATCHES, "mmsdrrestore"]
        assert node(site, local=local(gpu01=ID))["steps"] == []

    def test_a_quorum_node_among_the_clients_is_reported(self, site: Site) -> None:
        node(site)
        site.device("nsd1").add_fault("mmaddnode", "drift")
        node(site, nodes=[*NODES, "gpu03"])
        result = node(site, nodes=[*NODES, "gpu03"])
        assert not result["changed"] and len(result["pending"]) == 1
        assert result["pending"][0].startswith("gpu03: be a client only: the cluster has it as quorum")

    def test_another_admin_interface_is_changed(self, site: Site) -> None:
        node(site)
        site.change(lambda state: state["nodes"]["gpu01"].update(admin="gpu01-old"))
        done = node(site)
        assert done["steps"] == ["gpu01: change its admin interface from gpu01-old"]
        assert site.state()["nodes"]["gpu01"]["admin"] == "gpu01"

    def test_another_cluster_is_refused(self, site: Site) -> None:
        result = node(site, cluster="ess.example.org")
        assert result["failed"] and not result["changed"]
        told = "drawbridge_gpfs.cluster is ess.example.org, but this host belongs to drawbridge-lab.nsd1"
        assert told in result["msg"]
        assert not node(site, cluster="drawbridge-lab.nsd1").get("failed")


class TestLeaving:
    def test_a_stopped_node_is_deleted_as_predicted(self, site: Site) -> None:
        node(site)
        leave: dict[str, Any] = {"nodes": ["gpu01"], "absent": ["gpu02"]}
        assert site.converge("nsd1", node, **leave)["steps"] == ["gpu02: leave the cluster"]
        assert set(site.state()["nodes"]) == {"nsd1", "gpu01"}

    def test_a_check_predicts_that_a_node_leaves_on_which_it_has_predicted_the_stop(self, site: Site) -> None:
        node(site)
        site.change(lambda state: state["daemons"]["gpu02"].update(state="active"))
        leave: dict[str, Any] = {"nodes": [], "absent": ["gpu02"], "stopping": ["gpu02"]}
        assert node(site, check=True, **leave)["steps"] == ["gpu02: leave the cluster"]
        done = node(site, **leave)
        assert done["failed"] and "GPFS is active on gpu02" in done["msg"]

    def test_a_dead_node_needs_a_consent_that_names_it(self, site: Site) -> None:
        node(site)
        site.change(lambda state: state["unreachable"].append("gpu02"))
        refused = node(site, nodes=[], absent=["gpu02"], dead=["gpu01"])
        assert refused["failed"] and refused["msg"].endswith("add the line gpfs_client_dead: [gpu02]")
        assert not node(site, nodes=[], absent=["gpu02"], dead=["gpu02"]).get("failed")
        assert "gpu02" not in site.state()["nodes"]

    def test_a_quorum_node_is_never_deleted(self, site: Site) -> None:
        refused = node(site, nodes=[], absent=["nsd1"], dead=["nsd1"])
        assert refused["failed"] and "nsd1 is quorumManager of the cluster" in refused["msg"]


class TestLock:
    def test_a_lock_that_is_held_for_a_while_is_waited_for(self, site: Site) -> None:
        site.change(lambda state: state.update(lock_held_until=time.time() + 3600, lock_timeout_s=0.1))

        def let_go() -> None:
            until(lambda: "mmaddnode" in site.written("nsd1"), 120, "mmaddnode has given up once")
            site.change(lambda state: state.update(lock_held_until=0.0))

        with ThreadPoolExecutor(1) as pool:
            holder = pool.submit(let_go)
            done = node(site, lock_wait_s=600)
        holder.result()
        assert not done.get("failed"), done
        assert site.written("nsd1").count("mmaddnode") > 1


DRIFTED = {"mmaddnode": "gpu02 quorum client", "mmchlicense": "gpu02 server"}
"""A node that another user made more than a client is no failure; the run reports it."""


@pytest.mark.parametrize("verb", BATCHES)
@pytest.mark.parametrize("effect", ["refuse", "lie", "hang", "die", "drift"])
def test_faults_are_reported_and_the_next_run_finishes(site: Site, verb: str, effect: str) -> None:
    site.hosts["nsd1"].arm("gpfs", verb, effect)
    result = node(site)
    if effect == "drift":
        assert not result.get("failed"), result
        assert result["diff"]["after"].splitlines()[1] == DRIFTED[verb]
    elif (verb, effect) == ("mmaddnode", "lie"):
        assert (result["steps"], len(result["pending"])) == ([], 2) and not result.get("failed"), result
    else:
        assert result["failed"], result
        assert result["left"]
    again = node(site)
    assert not again.get("failed"), again
    assert node(site, check=True)["steps"] == []
    whole = {line.partition(": be a client only")[0] for line in again["pending"]}
    assert whole == ({"gpu02"} if (verb, effect) == ("mmaddnode", "drift") else set())


@pytest.mark.parametrize("effect", ["refuse", "lie", "hang", "die", "drift"])
@pytest.mark.parametrize("verb", ["mmsdrrestore", "mmdelnode"])
def test_faults_of_restoring_and_leaving_are_reported(site: Site, verb: str, effect: str) -> None:
    node(site)
    site.hosts["nsd1"].arm("gpfs", verb, effect)
    rebuilt: dict[str, Any] = {"local": {"gpu01": {"cluster_id": ""}}}
    leaving: dict[str, Any] = {"nodes": [], "absent": NODES}
    work = rebuilt if verb == "mmsdrrestore" else leaving
    result = node(site, **work)
    in_vain = verb == "mmsdrrestore" and effect in ("lie", "drift")
    assert bool(result.get("failed")) is not in_vain, result
    assert not node(site, **work).get("failed")
    listed = set(site.state()["nodes"])
    assert listed == ({"nsd1", *NODES} if verb == "mmsdrrestore" else {"nsd1"})


def test_a_failing_or_cut_off_mmlscluster_is_never_an_empty_cluster(site: Site) -> None:
    site.device("nsd1").add_fault("mmlscluster", "refuse")
    result = node(site)
    assert result["failed"] and not result["changed"]
    assert result["msg"].startswith("mmlscluster failed: Make sure that the following nodes are available")
    site.change(lambda state: state.update(truncated=["mmlscluster"]))
    result = node(site)
    assert result["failed"] and "mmlscluster" in result["msg"]
    assert site.written("nsd1") == []


def test_missing_packages_are_reported(site: Site, tmp_path: Path) -> None:
    result = site.hosts["nsd1"].run("mm_node", **ARGS, mm_path=str(tmp_path / "none"))
    assert "mmlscluster can't be run: No such file or directory; install Storage Scale's packages" in result["msg"]


@pytest.mark.parametrize("count", [1, 16, 500])
def test_commands_grow_with_batches_and_not_with_nodes(site: Site, count: int) -> None:
    names = [f"node{number:03}" for number in range(count)]
    with (site.hosts["nsd1"].root.parent / "hosts").open("a") as hosts:
        hosts.writelines(f"10.78.{at // 250}.{at % 250} {name}\n" for at, name in enumerate(names))
    done = node(site, nodes=names)
    assert not done.get("failed"), done["msg"]
    assert len(done["steps"]) == 2 * count
    assert site.written("nsd1") == BATCHES
    # mmlscluster before, after mmaddnode and to read back; licences and states once there are members
    assert len(site.device("nsd1").calls()) == len(BATCHES) + 3 + 2
    assert {it["designation"] for name, it in site.state()["nodes"].items() if name != "nsd1"} == {""}


def test_no_second_cluster_is_ever_made(site: Site) -> None:
    """Hosts of another cluster, without one and off: all that runs is what joins the existing one."""
    local = site.hosts["gpu01"].root / "mmfs/gen/mmsdrfs"
    local.parent.mkdir(parents=True)
    local.write_text(local_copy(default_state("gpu01")))
    site.change(lambda state: state["foreign"].append("gpu01"))
    node(site, nodes=[name for name in ADDRESSES if name.startswith("gpu")])
    assert set(site.written("nsd1")) == {"mmaddnode", "mmchlicense"}
