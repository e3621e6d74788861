# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.kube_artefacts_view import (
    helm_release,
    k8s,
)


def test_releases_have_values_and_objects_are_manifests() -> None:
    found = helm_release("r", "ns", "chart", "v1", "https://charts", {"a": 1})
    assert (list(found.lines), found.values) == (["helm release ns/r: chart v1 from https://charts"], {"r": {"a": 1}})
    assert k8s({"kind": "A"}).objects == k8s([{"kind": "A"}]).objects == [{"kind": "A"}]
