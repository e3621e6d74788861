# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.clients import CLIENTS

ROLES = Path(__file__).resolve().parents[4] / "roles"


@pytest.mark.parametrize("daemon", ["slurmd", "kubelet"])
@pytest.mark.parametrize("kind", CLIENTS)
def test_daemons_start_after_the_unit_of_each_kind(kind: str, daemon: str) -> None:
    """No job and no pod on a node without its file systems."""
    unit = f"drawbridge-{kind}.service"
    drop_in = (ROLES / f"{kind}_client/files/after-{kind}.conf").read_text()
    assert f"Wants={unit}" in drop_in and f"After={unit}" in drop_in
    files = (ROLES / f"{kind}_client/vars/main.yml").read_text()
    assert f"/{unit}" in files and f"/{daemon}.service.d/30-drawbridge-{kind}.conf" in files
