# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Check a kubelet's NUMA configuration before its host is contacted, then run the module on the host."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase

from ..module_utils.drawbridge.core.consent import VARIABLES_ARGUMENT, variable
from ..module_utils.drawbridge.kube.kubelet.check import changed_reservations, faults
from ..module_utils.drawbridge.kube.options import KUBELET
from ..module_utils.drawbridge.nodes.numa import Machine

MODULE = "drawbridge.drawbridge.kubelet_drop_in"
CHECKED_HERE = {
    "derived": {"type": "dict", "required": True},
    "machine": {"type": "dict", "required": True},
    **VARIABLES_ARGUMENT,
}
ARGUMENT_SPEC = {**KUBELET, **CHECKED_HERE}


class ActionModule(ActionBase):
    """Refuses a configuration that a kubelet would refuse or ignore."""

    _supports_check_mode = True
    TRANSFERS_FILES = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the host's result, or `faults`."""
        result = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec(ARGUMENT_SPEC)
        machine = Machine(**{**args["machine"], "gpus": tuple(args["machine"]["gpus"])})
        where, other = variable(args, "config"), variable(args, "main_config")
        wrong = faults(args["config"], machine, where, other, site_joins=args["join"] == "site")
        wrong += changed_reservations(args["config"], args["derived"], where)
        if found := [str(fault) for fault in wrong]:
            msg = "\n".join(["the kubelet's configuration is refused:", *found])
            return {**result, "failed": True, "changed": False, "msg": msg, "faults": found}
        given = {key: value for key, value in args.items() if key not in CHECKED_HERE}
        return self._execute_module(MODULE, given, task_vars=task_vars)
