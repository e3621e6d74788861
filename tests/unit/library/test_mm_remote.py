# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A remote mount between two emulated clusters, seen from both sides, with every fault of their commands."""

from __future__ import annotations

from functools import partial

import pytest

from lab.emulators.storage.gpfs.remote import digest, own_digest
from lab.emulators.storage.gpfs.states import CLUSTER
from tests.unit.library.emulated import converged
from tests.unit.library.gpfs_site import HERE, OWNER, SQUASH, Clusters

WRONG = "of another\n"


def test_both_sides_are_made_as_predicted_and_the_second_run_only_reads(clusters: Clusters) -> None:
    for side, host, verbs in (
        (clusters.auth, "ess1", ["mmauth", "mmauth"]),
        (clusters.remote, "nsd1", ["mmremotecluster", "mmremotefs"]),
    ):
        converged(side, partial(clusters.written, host))
        assert clusters.written(host) == verbs
    grant = clusters.owned()["auth"][HERE]["grants"]["fs1"]
    assert grant == {"access": "rw", "root": f"root remapped to {SQUASH}"}
    assert clusters.state()["remote_filesystems"]["data"]["automount"] == "no"  # the boot program mounts
    assert not [path for path in clusters.folder.iterdir() if path.suffix == ".pub"]


def test_neither_side_ever_makes_a_key(clusters: Clusters) -> None:
    clusters.auth()
    clusters.remote()
    assert clusters.owned()["key"] == clusters.state()["key"] == {"generation": 1, "committed": 1}


@pytest.mark.parametrize("side", ["auth", "remote"])
def test_another_key_of_ones_own_cluster_than_the_intents_is_refused_before_any_change(
    clusters: Clusters, side: str
) -> None:
    refused = getattr(clusters, side)(fingerprint="0" * 64)
    assert refused.get("failed") and not refused["changed"]
    assert "ask the cluster's administrators which one is right" in refused["msg"]
    assert clusters.written("ess1") == clusters.written("nsd1") == []


@pytest.mark.parametrize(("side", "key"), [("auth", "owner.fingerprint"), ("remote", "fingerprint")])
def test_another_key_after_all_was_made_is_refused_too(clusters: Clusters, side: str, key: str) -> None:
    getattr(clusters, side)()
    refused = getattr(clusters, side)(fingerprint="0" * 64)
    assert refused.get("failed") and f"drawbridge_gpfs.{key} is {'0' * 64}" in refused["msg"]


@pytest.mark.parametrize(("host", "side"), [("ess1", "auth"), ("nsd1", "remote")])
def test_an_admin_host_of_another_cluster_is_refused(clusters: Clusters, host: str, side: str) -> None:
    refused = getattr(clusters, side)(cluster="elsewhere")
    assert refused.get("failed") and f"but the host belongs to {CLUSTER}{host}" in refused["msg"]
    assert clusters.written(host) == []


def test_a_wrong_key_of_the_owner_is_deleted_again_before_a_file_system_is_defined(clusters: Clusters) -> None:
    refused = clusters.remote(key=WRONG)
    assert refused.get("failed") and f"has the digest {digest(WRONG)}" in refused["msg"]
    assert "drawbridge_gpfs.owner.fingerprint" in refused["msg"]
    assert clusters.state()["remote_clusters"] == clusters.state()["remote_filesystems"] == {}


@pytest.mark.parametrize(("side", "host"), [("auth", "ess1"), ("remote", "nsd1")])
@pytest.mark.parametrize("check", [True, False])
def test_without_the_other_clusters_key_nothing_is_done(clusters: Clusters, side: str, host: str, check: bool) -> None:
    refused = getattr(clusters, side)(check=check, key="")
    assert refused.get("failed") and "set drawbridge_gpfs.owner.public_key" in refused["msg"]
    assert clusters.written(host) == []


def test_a_side_that_knows_the_key_needs_none(clusters: Clusters) -> None:
    clusters.auth()
    clusters.remote()
    assert clusters.auth(key="")["steps"] == clusters.remote(key="")["steps"] == []


def test_a_new_key_other_contacts_access_and_root_squash_are_changed(clusters: Clusters) -> None:
    clusters.auth()
    clusters.remote()
    assert clusters.auth(root_becomes="root")["steps"] == [
        f"grant {HERE} rw access to fs1, root stays root (from its next mount on)"
    ]
    assert clusters.owned()["auth"][HERE]["grants"]["fs1"]["root"] == "root allowed"
    clusters.auth(grants=[{"device": "fs1", "access": "ro"}])
    assert clusters.owned()["auth"][HERE]["grants"]["fs1"]["access"] == "ro"
    clusters.remote(contacts=["ess1", "ess2"])
    assert clusters.state()["remote_clusters"][OWNER]["contacts"] == "ess1,ess2"
    with clusters.owner.state() as state:
        state["key"].update(generation=2, committed=2)
        clusters.there = own_digest(state)
    assert not clusters.run("ess1", "mm_cluster_info", nodes=["ess1"]).get("failed")
    clusters.owned()
    new = clusters.remote(key=clusters.keys["ess1"].replace("genNumber=1", "genNumber=2"))
    assert not new.get("failed"), new
    assert clusters.state()["remote_clusters"][OWNER]["digest"] == clusters.there


def test_a_mounted_file_system_keeps_its_definition(clusters: Clusters) -> None:
    clusters.remote()
    clusters.change(lambda state: state["mounts"]["data"].update(nsd1={"path": "/proc", "mode": "RW"}))
    waits = clusters.remote(change={"access": "ro"})
    assert not waits["changed"] and "is mounted on 1 nodes" in waits["pending"][0]
    assert clusters.state()["remote_filesystems"]["data"]["options"] == "rw"


def test_a_device_of_another_owner_is_not_taken_over(clusters: Clusters) -> None:
    clusters.remote()
    foreign = {"contacts": "x", "digest": "1" * 64}
    clusters.change(lambda state: state["remote_clusters"].update(foreign=foreign))
    clusters.change(lambda state: state["remote_filesystems"]["data"].update(cluster="foreign"))
    refused = clusters.remote()
    assert refused.get("failed") and "this cluster has data as fs1 of cluster foreign" in refused["msg"]


@pytest.mark.parametrize(("configured", "wanted"), [("yes", False), ("no", True)])
def test_uid_remapping_other_than_stated_is_refused_before_a_file_system_is_defined(
    clusters: Clusters, configured: str, wanted: bool
) -> None:
    entry = {"name": "enableUIDremap", "value": configured, "scope": []}
    clusters.change(lambda state: state["config"].append(entry))
    refused = clusters.remote(uid_remapping=wanted)
    assert refused.get("failed") and f"mmchconfig enableUIDremap={'yes' if wanted else 'no'}" in refused["msg"]
    assert clusters.written("nsd1") == []


@pytest.mark.parametrize("verb", ["mmremotecluster", "mmremotefs"])
@pytest.mark.parametrize("effect", ["refuse", "lie", "hang", "die", "drift"])
def test_faults_are_reported_and_the_next_run_finishes(clusters: Clusters, verb: str, effect: str) -> None:
    clusters.hosts["nsd1"].arm("gpfs", verb, effect, "add")
    assert clusters.remote().get("failed")
    again = clusters.remote()
    assert not again.get("failed"), again
    assert clusters.remote()["steps"] == []


@pytest.mark.parametrize(("side", "host"), [("auth", "ess1"), ("remote", "nsd1")])
def test_a_lock_that_is_held_is_an_error_and_changes_nothing(clusters: Clusters, side: str, host: str) -> None:
    with (clusters.owner if side == "auth" else clusters.shared).state() as state:
        state.update(lock_held_until=2e10, lock_timeout_s=0.1)
    refused = getattr(clusters, side)()
    assert refused.get("failed") and "Timed out waiting for lock" in refused["stderr"]
    assert clusters.owned()["auth"] == clusters.state()["remote_clusters"] == {}
