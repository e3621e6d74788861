# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.host_key.plan import (
    Key,
    KnownKeys,
    offered_key,
    plan,
)

# made with ssh-keygen, whose -l printed the fingerprint
NEW = Key("ssh-ed25519", "AAAAC3NzaC1lZDI1NTE5AAAAIF5mV0kY2DvJfvl72ajakxJHnsGugnJKnPQaT4mGF0xs")
FINGERPRINT = "SHA256:dZaIpjOlSBLwk7UOJbKeRmqjbKqFMZrM2Vm0/Ih1KUE"
OLD = Key("ssh-rsa", "AAAA")
NONE = KnownKeys(frozenset())


def test_the_fingerprint_is_ssh_keygens() -> None:
    assert NEW.fingerprint == FINGERPRINT


def test_only_the_key_with_the_fingerprint_is_trusted() -> None:
    assert offered_key("gpu04", [OLD, NEW], NEW.fingerprint) == NEW
    with pytest.raises(DeviceError, match=rf"gpu04 offers {OLD}, but the fingerprint to trust is SHA256:else"):
        offered_key("gpu04", [OLD], "SHA256:else")
    with pytest.raises(DeviceError, match="gpu04 offers no key"):
        offered_key("gpu04", [], "SHA256:else")


def test_the_new_key_replaces_all_old_ones() -> None:
    want = KnownKeys(frozenset({NEW}))
    (step,) = plan(KnownKeys(frozenset({OLD, NEW})), want)
    assert step.reason == f"trust the host key {NEW} instead of {OLD}"
    assert step.becomes(NONE) == want
    assert [it.reason for it in plan(NONE, want)] == [f"trust the host key {NEW}"]
    assert plan(want, want) == []
