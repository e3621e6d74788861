# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The controller's side of a token: it requests a new one, because it has the kubeconfig."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from types import MappingProxyType

from ..module_utils.drawbridge.core.api.kubeconfig import Ask, connect
from ..module_utils.drawbridge.core.converge import DeviceError
from ..module_utils.drawbridge.gate.tokens.plan import TOKEN_FILE
from .controller_side import Options, Result

OWN = {"lifetime_s": {"type": "int", "default": 86400}, "kubeconfig": {"type": "path", "required": True}}


class GateToken:
    """Give a host a ServiceAccount's token."""

    module = "gate_token_host"
    spec: Options = MappingProxyType({**TOKEN_FILE, **OWN})
    viewed: Sequence[str] = ()

    def prepare(self, options: Options) -> Result:
        """All options but the controller's own."""
        return {key: value for key, value in options.items() if key not in OWN}

    def predicts(self, options: Options) -> bool:
        """A host with a good token needs no new one."""
        return True

    @contextlib.contextmanager
    def provide(self, options: Options, predicted: Result) -> Iterator[Result]:
        """A new token."""
        yield {"token": request(connect(options["kubeconfig"]), options)}

    def conclude(self, options: Options, predicted: Result, done: Result) -> Result:
        """The host's result."""
        return done


def request(ask: Ask, options: Options) -> str:
    """A new token of the account. Raises DeviceError."""
    namespace, name = options["namespace"], options["name"]
    body = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"audiences": [], "expirationSeconds": options["lifetime_s"]},
    }
    status, answer = ask("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token", body)
    if status >= 300:
        raise DeviceError(f"no token of ServiceAccount {namespace}/{name}: {answer.get('message', status)}")
    return answer["status"]["token"]
