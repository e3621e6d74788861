# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Check a kubelet's NUMA configuration here, before its host is contacted; then let the host's half do its work."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase

from ..module_utils.drawbridge.core.consent import VARIABLES_ARGUMENT, variable
from ..module_utils.drawbridge.kube.kubelet.check import faults
from ..module_utils.drawbridge.kube.kubelet.reserved_check import departures
from ..module_utils.drawbridge.nodes.numa import Machine

MODULE = "drawbridge.drawbridge.kubelet_drop_in"

ARGUMENT_SPEC = {
    "config": {"type": "dict", "required": True},
    "derived": {"type": "dict", "required": True},
    "machine": {"type": "dict", "required": True},
    "join": {"type": "str", "choices": ["drawbridge", "site"], "default": "drawbridge"},
    "path": {"type": "path"},
    "main_config": {"type": "path"},
    "state_dir": {"type": "path"},
    "certificate": {"type": "path"},
    "api_server": {"type": "str", "required": True},
    "ca_file": {"type": "path", "required": True},
    "slurm_node": {"type": "str", "required": True},
    "start_timeout_s": {"type": "int"},
    **VARIABLES_ARGUMENT,
}
CHECKED_HERE = ("derived", "machine", "variables")


class ActionModule(ActionBase):
    """Refuses what no kubelet should see."""

    _supports_check_mode = True
    TRANSFERS_FILES = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the host's result, or `faults`."""
        result = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec(ARGUMENT_SPEC)
        machine = Machine(**{**args["machine"], "gpus": tuple(args["machine"]["gpus"])})
        where, other = variable(args, "config"), variable(args, "main_config")
        wrong = faults(args["config"], machine, where, other, site_joins=args["join"] == "site")
        wrong += departures(args["config"], args["derived"], where)
        if found := [str(fault) for fault in wrong]:
            msg = "\n".join(["the kubelet's configuration is refused:", *found])
            return {**result, "failed": True, "changed": False, "msg": msg, "faults": found}
        given = {key: value for key, value in args.items() if key not in CHECKED_HERE and value is not None}
        return self._execute_module(MODULE, given, task_vars=task_vars)
