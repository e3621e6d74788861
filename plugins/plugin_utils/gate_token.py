# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The controller's half of a token: it requests a new one, because it has the kubeconfig."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import MappingProxyType

from ..module_utils.drawbridge.core.converge import DeviceError
from ..module_utils.drawbridge.gate.tokens.plan import TOKEN_FILE
from .half import Options, Result

OWN = {"lifetime_s": {"type": "int", "default": 86400}, "kubeconfig": {"type": "path", "required": True}}


class GateToken:
    """Give a host a ServiceAccount's token."""

    module = "gate_token_host"
    spec: Options = MappingProxyType({**TOKEN_FILE, **OWN})

    def prepare(self, options: Options) -> Result:
        """All options but the controller's own."""
        return {key: value for key, value in options.items() if key not in OWN}

    def predicts(self, options: Options) -> bool:
        """A host with a good token needs no new one."""
        return True

    @contextlib.contextmanager
    def help(self, options: Options, predicted: Result) -> Iterator[Result]:
        """A new token."""
        yield {"token": request(options)}

    def conclude(self, options: Options, predicted: Result, done: Result) -> Result:
        """The host's result."""
        return done


def request(options: Options) -> str:
    """A new token of the account. Raises DeviceError."""
    # imported here: the import takes a second, and a host with a good token does not need it
    from kubernetes import client, config

    try:
        api = client.CoreV1Api(config.new_client_from_config(config_file=options["kubeconfig"]))
        spec = client.V1TokenRequestSpec(audiences=[], expiration_seconds=options["lifetime_s"])
        body = client.AuthenticationV1TokenRequest(spec=spec)
        answer = api.create_namespaced_service_account_token(options["name"], options["namespace"], body)
    except (config.ConfigException, client.ApiException, OSError) as err:
        account = f"{options['namespace']}/{options['name']}"
        message = f"no token of ServiceAccount {account} with kubeconfig {options['kubeconfig']!r}: {err}"
        raise DeviceError(message) from err
    return answer.to_dict()["status"]["token"]
