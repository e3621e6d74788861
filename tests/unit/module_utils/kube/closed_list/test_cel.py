# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.closed_list.cel import (
    LEVELS,
    unlisted_fields,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.closed_list.pods import CLAIM_VOLUME
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.gate_view import LEVELS_OF


def test_every_level_is_reached() -> None:
    seen: set[str] = set()
    todo = {"Pod", *LEVELS_OF.values()}
    while todo:
        seen |= todo
        todo = {child for name in todo for _, child in LEVELS[name].below.values()} - seen
    assert seen == set(LEVELS)


def test_a_site_without_projects_has_no_row_for_claims() -> None:
    with_claims, without = (unlisted_fields("Volume", "v", it) for it in ((), (CLAIM_VOLUME,)))
    assert "'persistentVolumeClaim'" in with_claims and "v.persistentVolumeClaim" in with_claims
    assert "persistentVolumeClaim" not in without


def test_the_expression_goes_through_each_kind_of_field() -> None:
    assert unlisted_fields("HostPath", "v") == "v.filter(k, !(k in ['path', 'type'])).map(k, '' + k)"
    volume = unlisted_fields("ConfigMap", "v")
    assert "((has(v.items) ? v.items : [])).map(x0, (x0.filter(k, !(k in ['key', 'mode', 'path']))" in volume
    assert "map(k, v.pytorchReplicaSpecs[k])" in unlisted_fields("PyTorchJob", "v")
