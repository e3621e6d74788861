# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.compose import part
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.csi.releases import RELEASES
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.csi.view import (
    driver,
    gpfs_csi,
)

from tests.unit.module_utils.storage.gpfs.csi.server import CA, CSI, STORAGE, Json, view

OWNER: Json = {"id": "99", "gui": [{"host": "ess1"}], "ca": CA}


def classes(*wanted: Json) -> list[Json]:
    found = view({**CSI, "classes": [{"filesystem": "fs1", "gid": 3001, **it} for it in wanted]})
    return [it for it in found["objects"] if it["kind"] == "StorageClass"]


def test_files_stay_when_a_claim_is_deleted() -> None:
    [found] = classes({"name": "a", "inode_limit": 1000000})
    assert found["reclaimPolicy"] == "Retain" and found["allowVolumeExpansion"] is True
    assert found["volumeBindingMode"] == "Immediate"
    assert found["parameters"] == {
        **{"volBackendFs": "fs1", "uid": "0", "gid": "3001", "permissions": "770"},
        **{"filesetType": "independent", "inodeLimit": "1000000"},
    }


def test_each_kind_has_the_parameters_that_the_driver_takes_together() -> None:
    [one, two] = classes({"name": "a", "kind": "dependent", "parent": "shared"}, {"name": "b", "kind": "group"})
    own = {"volBackendFs", "uid", "gid", "permissions"}
    assert {key: it for key, it in one["parameters"].items() if key not in own} == {
        "filesetType": "dependent",
        "parentFileset": "shared",
    }
    assert {key: it for key, it in two["parameters"].items() if key not in own} == {"version": "2"}
    assert all(isinstance(it, str) for found in (one, two) for it in found["parameters"].values())


def test_tls_is_always_verified_and_a_new_certificate_has_a_new_name() -> None:
    [cluster] = view()["resource"]["spec"]["clusters"]
    [before] = [it["metadata"]["name"] for it in view()["objects"] if it["kind"] == "ConfigMap"]
    assert (cluster["secureSslMode"], cluster["cacert"]) == (True, before)
    other = {**CSI, "cluster": {**CSI["cluster"], "ca": f"{CA}# another"}}
    [after] = [it["metadata"]["name"] for it in view(other)["objects"] if it["kind"] == "ConfigMap"]
    assert after != before


def test_several_hosts_of_the_gui_are_in_their_order() -> None:
    [cluster] = view()["resource"]["spec"]["clusters"]
    assert cluster["restApi"] == [{"guiHost": "gui1.site", "guiPort": 443}, {"guiHost": "gui2.site", "guiPort": 8443}]


@pytest.mark.parametrize("release", RELEASES)
def test_the_fields_are_those_of_the_release(release: str) -> None:
    old = RELEASES[release].primary
    csi = {**CSI, "release": release, "owner": OWNER, **({"primary": "fs1"} if old else {})}
    spec = view(csi)["resource"]["spec"]
    assert ("localScaleCluster" in spec) is not old
    assert spec["clusters"][0].get("primary") == ({"primaryFs": "fs1", "remoteCluster": "99"} if old else None)
    assert [it["secrets"] for it in spec["clusters"]] == ["drawbridge-cluster", "drawbridge-owner"]


def test_sidecars_and_driver_have_labels_of_their_own_and_tolerate_closed_nodes() -> None:
    spec = view()["resource"]["spec"]
    assert spec["pluginNodeSelector"] == [{"key": "drawbridge.io/storage-driver", "value": "true"}]
    sidecars = [spec[f"{it}NodeSelector"] for it in ("attacher", "provisioner", "resizer", "snapshotter")]
    assert sidecars == [[{"key": "drawbridge.io/storage-sidecars", "value": "true"}]] * 4
    assert {"key": "drawbridge.io/slurm", "operator": "Exists", "effect": "NoSchedule"} in spec["tolerations"]


def test_names_that_differ_are_mapped_and_a_digit_has_ibms_prefix() -> None:
    assert "nodeMapping" not in view()["resource"]["spec"]
    nodes = part("nodes", {"classes": {}, "ranges": []})
    gpfs = part("gpfs", {**STORAGE, "admin_suffix": "-adm", "csi": CSI})

    class Kube:
        infra = "infra1,9a"

    found: Any = gpfs_csi(nodes, gpfs, Kube())
    assert found["resource"]["spec"]["nodeMapping"] == [
        {"k8sNode": "infra1", "spectrumscaleNode": "infra1-adm"},
        {"k8sNode": "K8sNodePrefix_9a", "spectrumscaleNode": "9a-adm"},
    ]
    assert found["storage"]["admin_suffix"] == "-adm"


def test_the_storage_cluster_must_serve_the_file_systems_of_classes() -> None:
    csi = {**CSI, "release": "2.14.3", "primary": "fs1"}
    assert view(csi)["storage"]["filesystems"] == ["fs1"]
    assert view()["storage"]["nodes"] == ["infra1", "infra2"]


def test_without_the_part_there_is_no_driver() -> None:
    assert view(None) == {"state": "absent"}
    nodes, gpfs = part("nodes", {"classes": {}, "ranges": []}), part("gpfs", {**STORAGE, "csi": CSI})
    assert gpfs_csi(nodes, gpfs, None) == {"state": "absent"}
    assert driver(part("gpfs", STORAGE)) is None
    found: Any = driver(gpfs)
    assert (found.namespace, found.classes) == ("ibm-spectrum-scale-csi-driver", ("scratch",))
