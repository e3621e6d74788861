# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Visit a host once for preflight. A host without an answer is a result."""

from __future__ import annotations

import socket
import time
from typing import Any

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.action import ActionBase

ARGUMENT_SPEC = {"want": {"type": "dict", "required": True}, "switch": {"type": "bool", "default": False}}
MODULE = "drawbridge.drawbridge.preflight_probe_host"
SSH, BANNER, BANNER_S = 22, b"SSH-", 5


class ActionModule(ActionBase):
    """Runs the probes, and bounds the clock."""

    _supports_check_mode = True
    TRANSFERS_FILES = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the host's answer, or why there is none."""
        variables = task_vars or {}
        result = {**super().run(tmp, variables), "changed": False}
        _result, args = self.validate_argument_spec(ARGUMENT_SPEC)
        if args["switch"]:
            address = self._templar.template(variables.get("ansible_host", variables["inventory_hostname"]))
            port = int(self._templar.template(variables.get("ansible_port", SSH)))
            return {**result, "facts": {}, "want": args["want"], "clock_s": [], "lost": no_ssh(str(address), port)}
        began = time.time()
        try:
            answer = self._execute_module(MODULE, {"want": args["want"]}, task_vars=variables)
        except AnsibleConnectionFailure as err:
            return {**result, "facts": {}, "want": args["want"], "clock_s": [], "lost": last_line(str(err))}
        facts: Any = answer.get("facts")
        if facts is None:
            why = last_line(str(answer.get("msg") or answer.get("module_stderr") or "the module gave no answer"))
            return {**result, "facts": {}, "want": args["want"], "clock_s": [], "lost": why}
        bounds = clock(began, facts.pop("clock"), time.time())
        return {**result, "facts": facts, "want": args["want"], "clock_s": bounds, "lost": ""}


def clock(began: float, host: list[float], ended: float) -> list[float]:
    """Least and greatest possible difference: the host read its clock between both times of this machine."""
    return [host[1] - ended, host[0] - began]


def last_line(text: str) -> str:
    """The line with the cause: ssh prints banners before it."""
    return (text.strip().splitlines() or ["no answer"])[-1]


def no_ssh(address: str, port: int) -> str:
    """Why an address has no SSH server; empty if it has one. Only the banner proves that it is one."""
    try:
        with socket.create_connection((address, port), BANNER_S) as line:
            line.settimeout(BANNER_S)
            banner = line.recv(len(BANNER))
    except OSError as err:
        return f"no SSH server at {address}: {err}"
    return "" if banner == BANNER else f"no SSH server at {address}"
