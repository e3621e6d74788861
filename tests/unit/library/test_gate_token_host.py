# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.library.ways import result_of, ways

ARGS = {
    "path": "/nonexistent/node.token",
    "namespace": "drawbridge-nodes",
    "name": "gpu01",
    "api_server": "https://127.0.0.1:1",
    "ca_file": "/nonexistent",
}
STEP = "write a token of system:serviceaccount:drawbridge-nodes:gpu01: there is none"


@pytest.mark.parametrize("way", ways("gate_token_host"))
@pytest.mark.parametrize("more", [{}, {"token": "secret-of-this-test"}], ids=["missing", "given"])
def test_a_missing_token_is_predicted(way: str, more: dict[str, str], capfd: Any) -> None:
    found = result_of(way, "gate_token_host", {**ARGS, **more}, check=True, capfd=capfd)
    assert (found["changed"], found["steps"], found["pending"]) == (True, [STEP], [])
    assert "secret-of-this-test" not in json.dumps(found)


@pytest.mark.parametrize("way", ways("gate_token_host"))
def test_without_a_token_nothing_is_written(way: str, capfd: Any) -> None:
    found = result_of(way, "gate_token_host", ARGS, check=False, capfd=capfd)
    assert (found["failed"], found["changed"], found["left"]) == (True, False, [STEP])
