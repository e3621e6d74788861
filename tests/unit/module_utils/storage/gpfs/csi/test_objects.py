# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.csi.objects import (
    LEAVING,
    NAMED,
    OF_IBM,
    PLACES,
    SECRETS,
    marked,
    rights,
    with_mark,
)


def test_a_run_gives_ibms_role_alone_and_writes_named_secrets_alone() -> None:
    found = rights(["scratch"])
    given = [it for it in found if {"bind", "escalate"} & set(it.verbs)]
    assert [(it.resource, it.names) for it in given] == [("clusterroles", ("ibm-spectrum-scale-csi-operator",))]
    assert [it.names for it in found if it.resource == "secrets"] == [SECRETS]
    free = [(it.resource, it.verbs) for it in found if it.names is None and not it.namespace]
    assert free == [
        ("storageclasses", ("list",)),
        ("persistentvolumes", ("list",)),
        ("nodes", ("list", "patch")),
    ], "the policy drawbridge-installer narrows what a run changes of a node"


def test_all_that_a_run_makes_has_a_place_and_leaves() -> None:
    assert {kind for kind, _name in OF_IBM} | {"Secret", "ConfigMap", "StorageClass", "CSIScaleOperator"} == {*LEAVING}
    assert {*LEAVING} <= {*PLACES} and {*NAMED} <= {*LEAVING}


def test_a_mark_leaves_the_labels_of_others() -> None:
    item = {"kind": "Secret", "metadata": {"name": "a", "labels": {"product": "x"}}}
    assert not marked(item) and marked(with_mark(item))
    assert with_mark(item)["metadata"]["labels"]["product"] == "x" and item["metadata"]["labels"] == {"product": "x"}
