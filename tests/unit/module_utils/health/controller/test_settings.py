# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.controller.settings import (
    Settings,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.model import (
    Breaker,
    Health,
    Reboot,
)

HEALTH = replace(
    Health(), breaker=Breaker(5, 25, 3), reboot=Reboot(True, "/sbin/reboot", 14), report_only=("GPU clocks",)
)
VIEW: dict[str, Any] = {"health": asdict(HEALTH), "units": {"leaf1": "n[1-2]", "leaf2": ["m1"]}, "proofs": "n[2-3]"}


def test_the_view_of_the_intent_is_read() -> None:
    found = Settings.parse(json.dumps({**VIEW, "slurm_user": "slurm"}))
    assert found == Settings(HEALTH, {"leaf1": ("n1", "n2"), "leaf2": ("m1",)}, frozenset({"n2", "n3"}))
    assert found.names == {"n1", "n2", "m1"}
    access = {"url": "https://a", "ca_file": "b", "token_file": "c"}
    assert Settings.parse(json.dumps({**VIEW, "kube": access})).access == access
    assert Settings.parse(json.dumps({**VIEW, "kube": {}, "proofs": ""})).access is None


@pytest.mark.parametrize("key", [*VIEW])
@pytest.mark.parametrize("value", [None, 7, "n[2-1]"])
def test_other_values_are_none(key: str, value: object) -> None:
    with pytest.raises(ValueError):
        Settings.parse(json.dumps({**VIEW, key: value}))


def test_ten_thousand_nodes_are_few_bytes() -> None:
    units = {f"leaf{at}": f"gpu[{at * 32:05d}-{at * 32 + 31:05d}]" for at in range(313)}
    text = json.dumps({**VIEW, "units": units})
    assert len(Settings.parse(text).names) == 10016
    assert len(text) < 20_000
