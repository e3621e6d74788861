# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import hashlib
from typing import Any

import pytest
import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.csi.manifest import operator

from tests.unit.module_utils.storage.gpfs.csi.server import Json, manifest


def read(items: list[Json]) -> list[Json]:
    text = yaml.safe_dump_all(items).encode()
    return operator(text, hashlib.sha256(text).hexdigest(), "file")


def test_the_kind_comes_first_and_all_is_marked() -> None:
    found = read(manifest())
    assert found[0]["kind"] == "CustomResourceDefinition" and len(found) == 5
    assert all(it["metadata"]["labels"]["drawbridge.io/part"] == "gpfs-csi" for it in found)


def test_the_operator_tolerates_everything_and_stays_on_infra_nodes() -> None:
    [deployment] = [it for it in read(manifest()) if it["kind"] == "Deployment"]
    pod = deployment["spec"]["template"]["spec"]
    assert pod["nodeSelector"] == {"drawbridge.io/storage-sidecars": "true"}
    assert pod["serviceAccountName"] == "ibm-spectrum-scale-csi-operator", "the rest stays"


def test_another_file_is_refused() -> None:
    with pytest.raises(DeviceError, match=r"file has the SHA-256 .* byte for byte"):
        operator(b"kind: Pod\n", "0" * 64, "file")


ROLE = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "admin"}}


@pytest.mark.parametrize(
    ("change", "saying"),
    [
        (lambda items: [*items, ROLE], "has ClusterRole admin, which no manifest"),
        (lambda items: items[1:], "must have each of these once: ServiceAccount ibm"),
        (lambda items: [*items, items[0]], "must have each of these once: ServiceAccount ibm"),
        (
            lambda items: [{**items[0], "metadata": {**items[0]["metadata"], "namespace": "kube-system"}}, *items[1:]],
            "has objects in ibm-spectrum-scale-csi-driver, kube-system",
        ),
    ],
)
def test_objects_that_a_run_has_no_right_to_are_refused(change: Any, saying: str) -> None:
    with pytest.raises(DeviceError, match=saying):
        read(change(manifest()))


def test_a_text_that_is_no_yaml_is_refused() -> None:
    text = b"{"
    with pytest.raises(DeviceError, match="is no YAML"):
        operator(text, hashlib.sha256(text).hexdigest(), "file")
