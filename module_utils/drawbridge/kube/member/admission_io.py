# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Let one node in: a token for minutes, its certificates signed, and no trace of the token after."""

from __future__ import annotations

import contextlib
import datetime
import secrets
import string
import threading
from collections.abc import Iterator
from typing import Any

from ...core.api.kubeconfig import Ask, Json
from ...core.converge import DeviceError
from .csr import CLIENT, SERVING, Applicant, refusal

CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
SECRETS = "/api/v1/namespaces/kube-system/secrets"
GROUP = "system:bootstrappers:drawbridge"
LETTERS = string.ascii_lowercase + string.digits
LIFETIME_S = 900
POLL_S = 0.5


class Token:
    """A bootstrap token, as long as it stands."""

    def __init__(self) -> None:
        self.id = "".join(secrets.choice(LETTERS) for _ in range(6))
        self._secret = "".join(secrets.choice(LETTERS) for _ in range(16))

    @property
    def text(self) -> str:
        """What the node sends."""
        return f"{self.id}.{self._secret}"

    def manifest(self, node: str) -> Json:
        """The Secret that makes the API server believe it: for signing requests alone, and not for long."""
        ends = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=LIFETIME_S)
        return {
            "apiVersion": "v1",
            "kind": "Secret",
            "type": "bootstrap.kubernetes.io/token",
            "metadata": {"name": f"bootstrap-token-{self.id}", "namespace": "kube-system"},
            "stringData": {
                "token-id": self.id,
                "token-secret": self._secret,
                "expiration": ends.strftime("%Y-%m-%dT%H:%M:%SZ"),
                "usage-bootstrap-authentication": "true",
                "auth-extra-groups": GROUP,
                "description": f"drawbridge lets {node} join",
            },
        }


@contextlib.contextmanager
def token(ask: Ask, node: str) -> Iterator[Token]:
    """A token that is gone at the end, however that comes. Raises DeviceError."""
    made = Token()
    status, answer = ask("POST", SECRETS, made.manifest(node))
    if status >= 300:
        raise DeviceError(f"no bootstrap token for {node}: {answer.get('message', status)}")
    try:
        yield made
    finally:
        ask("DELETE", f"{SECRETS}/bootstrap-token-{made.id}", None)


class Approver:
    """Looks at what its applicant asks for, and approves what is due, while somebody else waits for the result."""

    def __init__(self, ask: Ask, applicant: Applicant) -> None:
        self._ask, self._applicant = ask, applicant
        self._over = threading.Event()
        self.refused: dict[str, str] = {}
        """Requests of the applicant that were left alone, and why."""
        self.trouble = ""
        """Why approvals could not be made."""

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        """Approve until the end."""
        thread = threading.Thread(target=self._work, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._over.set()
            thread.join()

    def _work(self) -> None:
        while not self._over.wait(POLL_S):
            try:
                self.look()
            except Exception as err:  # the host waits meanwhile, and nobody else would tell why in vain
                self.trouble = str(err) if isinstance(err, DeviceError) else f"{type(err).__name__}: {err}"

    def look(self) -> None:
        """One look at all requests of the two kinds. Raises DeviceError."""
        for signer in (CLIENT, SERVING):
            status, answer = self._ask(
                "GET", f"{CSRS}?fieldSelector=spec.signerName%3D{signer.replace('/', '%2F')}", None
            )
            if status >= 300:
                raise DeviceError(f"signing requests can't be listed: {answer.get('message', status)}")
            for item in answer.get("items") or []:
                if self._applicant.sent(item) and item["metadata"]["name"] not in self.refused:
                    self._decide(item)

    def _decide(self, item: dict[str, Any]) -> None:
        name = item["metadata"]["name"]
        if why := refusal(item, self._applicant):
            self.refused[name] = why
            return
        condition = {
            "type": "Approved",
            "status": "True",
            "reason": "Drawbridge",
            "message": f"{self._applicant.name} is being made a member of this cluster",
        }
        status, answer = self._ask("PUT", f"{CSRS}/{name}/approval", {**item, "status": {"conditions": [condition]}})
        # somebody else was faster: the next look shows whether that was an approval
        if status >= 300 and status not in (404, 409):
            raise DeviceError(f"signing request {name} can't be approved: {answer.get('message', status)}")
