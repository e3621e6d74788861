# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.clients import CLIENTS
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.kinds import shared

from tests.unit.module_utils.site.test_refused import site

ROLES = Path(__file__).resolve().parents[4] / "roles"
BOTH = load(site("example-existing"))


@pytest.mark.parametrize("daemon", ["slurmd", "kubelet"])
@pytest.mark.parametrize("kind", BOTH.filesystems)
def test_daemons_start_after_the_unit_of_each_kind(kind: str, daemon: str) -> None:
    """No job and no pod on a node without its file systems."""
    [unit] = {it.unit for it in shared(BOTH.filesystems) if it.kind == kind}
    drop_in = (ROLES / f"{kind}_client/files/after-{kind}.conf").read_text()
    assert f"Wants={unit}" in drop_in and f"After={unit}" in drop_in
    assert f"/{daemon}.service.d/30-drawbridge-{kind}.conf" in (ROLES / f"{kind}_client/vars/main.yml").read_text()


def test_the_example_has_all_kinds() -> None:
    assert [*BOTH.filesystems] == [*CLIENTS]
