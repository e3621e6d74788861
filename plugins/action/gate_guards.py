# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Leave on a host which admission policies and bindings there are, read here, where the kubeconfig is."""

from __future__ import annotations

import json
from typing import Any

from ansible.plugins.action import ActionBase

from ..module_utils.drawbridge.core.api.kubeconfig import Ask, connect
from ..module_utils.drawbridge.core.converge import DeviceError

MODULE = "drawbridge.drawbridge.host_files"
ARGUMENT_SPEC = {
    "path": {"type": "path", "required": True},
    "kubeconfig": {"type": "path", "required": True},
}
GROUP = "/apis/admissionregistration.k8s.io/v1"
KINDS = ("validatingadmissionpolicies", "validatingadmissionpolicybindings")
OURS = "drawbridge-"


class ActionModule(ActionBase):
    """Reads the API server; host_files writes the file."""

    _supports_check_mode = True
    TRANSFERS_FILES = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the module's result."""
        result = super().run(tmp, task_vars)
        _result, args = self.validate_argument_spec(ARGUMENT_SPEC)
        try:
            known = guards(connect(args["kubeconfig"]))
        except DeviceError as err:
            return {**result, "failed": True, "changed": False, "msg": str(err)}
        content = json.dumps(known, indent=4, sort_keys=True) + "\n"
        files = [{"path": args["path"], "content": content}]
        directory = args["path"].rpartition("/")[0]
        return self._execute_module(
            MODULE, {"name": "the gate's guards", "directory": directory, "files": files}, task_vars=task_vars
        )


def guards(ask: Ask) -> dict[str, dict[str, str]]:
    """The gate's policies and bindings, each with its uid and generation. Raises DeviceError."""
    found = {}
    for kind in KINDS:
        status, answer = ask("GET", f"{GROUP}/{kind}", None)
        if status >= 300:
            raise DeviceError(f"{kind} can't be listed: {answer.get('message', status)}")
        metadata = [item["metadata"] for item in answer["items"] if item["metadata"]["name"].startswith(OURS)]
        found[kind] = {it["name"]: f"{it['uid']}/{it['generation']}" for it in metadata}
    return found
