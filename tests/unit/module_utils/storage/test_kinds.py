# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Each row has what the other layers read; the site's own tests show that they read it."""

from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.model import DOMAINS, OPTIONAL
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.clients import CLIENTS
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.kinds import (
    CLASS_KEYS,
    KINDS,
    drivers,
    shared,
    storage_classes,
)

from tests.unit.module_utils.site.test_refused import site

BOTH = load(site("example-existing")).filesystems


@pytest.mark.parametrize("name", KINDS)
def test_a_row_is_a_domain_that_a_site_may_lack(name: str) -> None:
    kind = KINDS[name]
    assert (DOMAINS[name], OPTIONAL[name]) == (kind.model, kind.title)
    assert f"{name}_client" in {view.__name__ for view in kind.views} and kind.rules


@pytest.mark.parametrize("name", KINDS)
def test_a_plan_shows_each_layer_of_a_node(name: str) -> None:
    assert CLIENTS[name].keys() <= {it.__name__ for it in KINDS[name].artefacts} | {*KINDS[name].reads}


def test_all_kinds_are_one_list() -> None:
    found = [(it.kind, it.mount, it.unit) for it in shared(BOTH)]
    assert found == [("gpfs", "/gpfs/fs1", "drawbridge-gpfs.service"), ("nfs", "/home", "drawbridge-nfs.service")]


def test_a_site_without_a_driver_has_no_storage_classes() -> None:
    assert (drivers(BOTH), storage_classes(BOTH)) == ({}, [])
    assert CLASS_KEYS == ["drawbridge_gpfs.csi.classes"]
