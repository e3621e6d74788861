# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.loopback import is_loopback


@pytest.mark.parametrize(
    "host",
    ["localhost", "LocalHost.", "x.localhost", "127.0.0.1", "127.1.2.3", "[::1]", "::ffff:127.0.0.1", "0.0.0.0", "::"],
)
def test_a_host_reaches_itself(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["10.0.0.1", "[fd00::1]", "localhost1", "api.example.org", "128.0.0.1", ""])
def test_other_hosts_are_reached(host: str) -> None:
    assert not is_loopback(host)
