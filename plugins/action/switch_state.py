# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Read counters and LLDP neighbours of a switch from the controller's own process.

The documentation is in library/switch_state.py.
"""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase

from ..module_utils.drawbridge.core.converge import DeviceError
from ..module_utils.drawbridge.core.spec import bare, documented
from ..module_utils.drawbridge.fabric.model import SwitchProfile
from ..module_utils.drawbridge.fabric.state_io import read_state
from ..plugin_utils import switches

ARGUMENT_SPEC: dict[str, Any] = {
    "profile": bare({**documented(SwitchProfile), "required": True}),
    "answer_timeout_s": {"type": "int", "default": 60},
}


class ActionModule(ActionBase):
    """Reads the ports of a profile, and changes nothing."""

    _requires_connection = False
    _supports_check_mode = True
    TRANSFERS_FILES = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """The result with ports; failed only when the switch can't be reached or its system has no reader."""
        variables = task_vars or {}
        _result, args = self.validate_argument_spec(ARGUMENT_SPEC)
        result = {**super().run(tmp, variables), "changed": False}
        profile = SwitchProfile.from_dict(args["profile"])
        try:
            login = switches.login(self._templar, variables)
            state = read_state(login, switches.DIALECTS[profile.platform], profile, args["answer_timeout_s"])
        except DeviceError as err:
            return {**result, "failed": True, "msg": str(err), **err.details}
        return {**result, **state, "steps": [], "pending": []}
