# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.action.site_description import answers, compared


class Vars(dict[str, Any]):
    """Ansible's hostvars, as far as the action reads them."""

    def raw_get(self, host: str) -> Any:
        return self[host]


def test_hosts_without_an_answer_have_their_reason() -> None:
    hostvars = Vars(
        gpu1={"it": {"hardware": {"os": "debian-13"}}}, gpu2={"it": {"unreachable": True, "msg": "No route"}}, gpu3={}
    )
    found, lost = answers(hostvars, list(hostvars), "it")
    assert found == {"gpu1": {"os": "debian-13"}}
    assert lost == {"gpu2": "No route", "gpu3": "no answer"}


def test_a_difference_fails_and_a_lost_host_does_not() -> None:
    assert compared(["gpu1: x"], {})["failed"]
    found = compared([], {"gpu2": "No route"})
    assert not found["failed"]
    assert "gpu2: no answer, nothing compared: No route" in found["msg"]
