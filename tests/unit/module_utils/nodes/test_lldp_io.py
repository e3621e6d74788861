# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes import lldp_io

from lab.emulators.nodes.lldpctl import neighbours
from tests.unit.module_utils.answers import Answers

LLDPD = json.dumps(neighbours({"rail0": ["leaf1", "Ethernet1"]}))
NEAR = {"InterfaceName": "rail0", "Neighbors": [{"SystemName": "leaf1", "PortID": "swp1"}]}
NETWORKD = json.dumps({"Neighbors": [NEAR]})


def found(monkeypatch: pytest.MonkeyPatch, **tools: str) -> dict[str, list[str]]:
    """The neighbours where these tools print something and others fail."""
    fails = {name: DeviceError(f"{name} failed") for name in ("lldpctl", "networkctl")}
    monkeypatch.setattr(lldp_io, "tool", lambda name: name)
    return lldp_io.neighbours(Answers({**fails, **tools}))


def test_lldpd_is_read_first_and_networkd_where_it_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(monkeypatch, lldpctl=LLDPD, networkctl=NETWORKD) == {"rail0": ["leaf1", "Ethernet1"]}
    assert found(monkeypatch, lldpctl="no JSON", networkctl=NETWORKD) == {"rail0": ["leaf1", "swp1"]}
    assert found(monkeypatch, networkctl=NETWORKD) == {"rail0": ["leaf1", "swp1"]}


def test_an_error_has_both_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DeviceError, match="lldpctl failed; networkctl failed"):
        found(monkeypatch)
