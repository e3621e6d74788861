# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.filesystems_view import (
    of_namespaces,
    shared,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load

from tests.unit.module_utils.site.test_refused import site

ROLES = Path(__file__).resolve().parents[4] / "roles"
BOTH = load(site("example-existing"))


@pytest.mark.parametrize("daemon", ["slurmd", "kubelet"])
@pytest.mark.parametrize("kind", ["gpfs", "nfs"])
def test_daemons_start_after_the_unit_of_each_kind(kind: str, daemon: str) -> None:
    """No job and no pod on a node without its file systems."""
    [unit] = {it.unit for it in shared(BOTH.gpfs, BOTH.nfs) if it.kind == kind}
    drop_in = (ROLES / f"{kind}_client/files/after-{kind}.conf").read_text()
    assert f"Wants={unit}" in drop_in and f"After={unit}" in drop_in
    assert f"/{daemon}.service.d/30-drawbridge-{kind}.conf" in (ROLES / f"{kind}_client/vars/main.yml").read_text()


def test_an_accounts_pods_see_what_the_intent_gives_them() -> None:
    """In the order of the file systems, whatever the account's own."""
    assert BOTH.slurm
    every = [it.mount for it in shared(BOTH.gpfs, BOTH.nfs)]
    assert len(every) > 1
    first, second, *others = BOTH.slurm.accounts
    accounts = (replace(first, mounts=(every[-1], every[0])), replace(second, namespace=""), *others)
    seen = of_namespaces(replace(BOTH.slurm, accounts=accounts), shared(BOTH.gpfs, BOTH.nfs))
    assert seen[first.namespace] == [every[0], every[-1]]
    assert second.namespace not in seen
    assert all(seen[it.namespace] == every for it in others)
