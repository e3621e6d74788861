# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import socket
import threading
from types import SimpleNamespace
from typing import Any

import pytest
from ansible.errors import AnsibleConnectionFailure
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar
from ansible_collections.drawbridge.drawbridge.plugins.action import preflight_probe
from ansible_collections.drawbridge.drawbridge.plugins.action.preflight_probe import no_ssh

from tests.unit.module_utils.preflight_site import SOUND, WANT


def run(answer: Any, port: int = 22, **args: Any) -> dict[str, Any]:
    """One task whose module ends so."""
    task = SimpleNamespace(
        args={"want": WANT, **args},
        check_mode=True,
        async_val=0,
        diff=False,
        action="preflight_probe",
        _role=None,
        delegate_to=None,
    )
    variables = {"inventory_hostname": "gpu01", "ansible_host": "127.0.0.1", "ansible_port": port}
    connection = SimpleNamespace(_shell=SimpleNamespace(tmpdir="none is made"))
    parts: list[Any] = [task, connection, None, DataLoader(), Templar(variables=variables), None]
    action = preflight_probe.ActionModule(*parts)

    def execute(*given: Any, **named: Any) -> dict[str, Any]:
        if isinstance(answer, Exception):
            raise answer
        return answer

    action._execute_module = execute
    return action.run(task_vars=variables)


def test_an_answer_has_facts_and_bounds_of_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([1000.0, 1003.0])
    monkeypatch.setattr(preflight_probe.time, "time", lambda: next(times))
    found = run({"facts": {**SOUND, "clock": [1401.0, 1402.0]}})
    assert (found["facts"], found["lost"], found["clock_s"]) == (SOUND, "", [399.0, 401.0])
    assert found["want"] == WANT


def test_a_host_that_can_not_be_reached_is_no_failure() -> None:
    found = run(AnsibleConnectionFailure("banner\nssh: connect to host gpu01 port 22: No route to host"))
    assert found["lost"].endswith("No route to host")
    assert not found.get("failed")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"failed": True, "msg": "no python\nat all"}, "at all"),
        ({"failed": True, "module_stderr": "sudo: a password is required"}, "sudo: a password is required"),
        ({}, "the module gave no answer"),
        ({"failed": True, "msg": " "}, "no answer"),
    ],
)
def test_a_module_without_facts_is_lost(answer: dict[str, Any], why: str) -> None:
    assert run(answer)["lost"] == why


def serve(banner: bytes) -> int:
    server = socket.create_server(("127.0.0.1", 0))

    def once() -> None:
        line, _ = server.accept()
        line.sendall(banner)
        line.close()
        server.close()

    threading.Thread(target=once, daemon=True).start()
    return server.getsockname()[1]


def test_only_the_banner_proves_an_ssh_server() -> None:
    assert no_ssh("127.0.0.1", serve(b"SSH-2.0-x\r\n")) == ""
    assert no_ssh("127.0.0.1", serve(b"HTTP/1.1 400\r\n")) == "no SSH server at 127.0.0.1"


def test_a_switch_is_not_logged_in_to() -> None:
    assert run(AssertionError("no module runs"), switch=True, port=serve(b"SSH-2.0-x\r\n"))["lost"] == ""
    closed = socket.create_server(("127.0.0.1", 0))
    port = closed.getsockname()[1]
    closed.close()
    assert "refused" in run(AssertionError("no module runs"), switch=True, port=port)["lost"]
