# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Give a host a ServiceAccount's token, requested here, where the kubeconfig is."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ..module_utils.drawbridge.gate.tokens.plan import TOKEN_FILE

MODULE = "drawbridge.drawbridge.gate_token_file"
OWN = {"lifetime_s": {"type": "int", "default": 86400}, "kubeconfig": {"type": "path", "required": True}}
ARGUMENT_SPEC = {**TOKEN_FILE, **OWN}
UNREAD = "nothing is requested in check mode"


class ActionModule(ActionBase):
    """Checks the host's token first; most runs end there."""

    _supports_check_mode = True
    TRANSFERS_FILES = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the module's result, of the check or of the write."""
        super().run(tmp, task_vars)
        _, args = self.validate_argument_spec(ARGUMENT_SPEC)
        host_args = {key: value for key, value in args.items() if key not in OWN}
        looked = self._execute_module(MODULE, host_args, task_vars=task_vars)
        if looked.get("failed") or not looked.get("pending"):
            return looked
        token = UNREAD if self._task.check_mode else self._request(args)
        return self._execute_module(MODULE, {**host_args, "token": token}, task_vars=task_vars)

    def _request(self, args: dict[str, Any]) -> str:
        # imported here: the import takes a second, and a host with a good token does not need it
        from kubernetes import client, config

        try:
            api = client.CoreV1Api(config.new_client_from_config(config_file=args["kubeconfig"]))
            spec = client.V1TokenRequestSpec(audiences=[], expiration_seconds=args["lifetime_s"])
            request = client.AuthenticationV1TokenRequest(spec=spec)
            answer = api.create_namespaced_service_account_token(args["name"], args["namespace"], request)
        except (config.ConfigException, client.ApiException, OSError) as err:
            account = f"{args['namespace']}/{args['name']}"
            message = f"no token of ServiceAccount {account} with kubeconfig {args['kubeconfig']!r}: {err}"
            raise AnsibleActionFail(message) from err
        return answer.to_dict()["status"]["token"]
