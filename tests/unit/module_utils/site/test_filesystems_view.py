# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.filesystems_view import (
    of_namespaces,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.kinds import shared

from tests.unit.module_utils.site.test_refused import site

BOTH = load(site("example-existing"))


def test_an_accounts_pods_see_what_the_intent_gives_them() -> None:
    """In the order of the file systems, whatever the account's own."""
    assert BOTH.slurm
    every = [it.mount for it in shared(BOTH.filesystems)]
    assert len(every) > 1
    first, second, *others = BOTH.slurm.accounts
    accounts = (replace(first, mounts=(every[-1], every[0])), replace(second, namespace=""), *others)
    seen = of_namespaces(replace(BOTH.slurm, accounts=accounts), shared(BOTH.filesystems))
    assert seen[first.namespace] == [every[0], every[-1]]
    assert second.namespace not in seen
    assert all(seen[it.namespace] == every for it in others)
