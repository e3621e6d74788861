# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Trust a host's new SSH key by its fingerprint, in the known_hosts of the user who runs Ansible.

The documentation is in library/host_key.py.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from ansible.plugins.action import ActionBase

from ..module_utils.drawbridge.core.command import Command
from ..module_utils.drawbridge.core.converge import DeviceError
from ..module_utils.drawbridge.core.host_key.io import SCAN_S, KnownHosts, Offer, entry_of
from ..module_utils.drawbridge.core.host_key.plan import KnownKeys, offered_key, plan
from ..module_utils.drawbridge.core.layer import Layer, Params, Work, run
from ..module_utils.drawbridge.fabric.login import Login
from ..plugin_utils import switches

ARGUMENT_SPEC: dict[str, Any] = {"fingerprint": {"type": "str", "required": True}}
FILE = "~/.ssh/known_hosts"


class ActionModule(ActionBase):
    """Runs on the controller machine and connects to the host's SSH port alone."""

    _requires_connection = False
    _supports_check_mode = True
    TRANSFERS_FILES = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """The result of a layer."""
        variables = task_vars or {}
        _result, args = self.validate_argument_spec(ARGUMENT_SPEC)
        result = super().run(tmp, variables)
        try:
            login = switches.login(self._templar, variables)
        except DeviceError as err:
            return {**result, "failed": True, "changed": False, "msg": str(err)}
        return {**result, **run(Layer(ARGUMENT_SPEC, partial(work, login)), args, bool(self._task.check_mode))}


def work(login: Login, params: Params, check: bool) -> Work[KnownKeys]:
    """Ask the host for its keys, and make the one with the fingerprint its only one."""
    del check
    command = Command(SCAN_S + 10)
    offered = Offer(command, login.host, login.port).read()
    key = offered_key(login.name, offered, params["fingerprint"])
    entries = dict.fromkeys(entry_of(host, login.port) for host in (login.name, login.host))
    path = Path(login.known_hosts_file or FILE).expanduser()
    return Work(KnownHosts(command, path, list(entries)), plan, KnownKeys(frozenset({key})))
