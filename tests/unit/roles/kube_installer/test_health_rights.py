# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The rights of the health identity. In the tables of attacks it has one more, so that its policy has work to do."""

from __future__ import annotations

from tests.attacks.manifests import rendered

OBJECTS = {(it["kind"], it["metadata"]["name"]): it for it in rendered()}


def test_it_reads_nodes_and_patches_their_status() -> None:
    rules = OBJECTS["ClusterRole", "drawbridge-health"]["rules"]
    assert {(*it["apiGroups"], *it["resources"], *it["verbs"]) for it in rules} == {
        ("", "nodes", "get", "list"),
        ("", "nodes/status", "patch"),
    }


def test_it_alone_has_them_and_no_others() -> None:
    subject = {"kind": "ServiceAccount", "namespace": "drawbridge-gate", "name": "health"}
    bindings = [it for (kind, _name), it in OBJECTS.items() if kind in ("ClusterRoleBinding", "RoleBinding")]
    assert [it["roleRef"]["name"] for it in bindings if subject in it["subjects"]] == ["drawbridge-health"]
    assert OBJECTS["ClusterRoleBinding", "drawbridge-health"]["subjects"] == [subject]
