# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Join one node: a bootstrap token for some minutes, and approval of the node's signing requests."""

from __future__ import annotations

import contextlib
import datetime
import secrets
import string
import threading
from collections.abc import Iterator
from typing import Any

from ...core.api.kubeconfig import Ask
from ...core.converge import DeviceError
from .csr import Applicant, refusal
from .text import CLIENT_SIGNER, SERVING_SIGNER

CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
SECRETS = "/api/v1/namespaces/kube-system/secrets"
GROUP = "system:bootstrappers:drawbridge"
LETTERS = string.ascii_lowercase + string.digits
LIFETIME_S = 900
POLL_S = 0.5


@contextlib.contextmanager
def token(ask: Ask, node: str) -> Iterator[str]:
    """A bootstrap token for signing requests only, always deleted at the end. Raises DeviceError."""
    made, secret = ("".join(secrets.choice(LETTERS) for _index in range(length)) for length in (6, 16))
    ends = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=LIFETIME_S)
    manifest = {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "bootstrap.kubernetes.io/token",
        "metadata": {"name": f"bootstrap-token-{made}", "namespace": "kube-system"},
        "stringData": {
            "token-id": made,
            "token-secret": secret,
            "expiration": ends.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "usage-bootstrap-authentication": "true",
            "auth-extra-groups": GROUP,
            "description": f"drawbridge joins {node}",
        },
    }
    status, answer = ask("POST", SECRETS, manifest)
    if status >= 300:
        raise DeviceError(f"no bootstrap token for {node}: {answer.get('message', status)}")
    try:
        yield f"{made}.{secret}"
    finally:
        ask("DELETE", f"{SECRETS}/bootstrap-token-{made}", None)


class Approver:
    """Approves its applicant's signing requests in a thread, while the host's module waits for the certificates."""

    def __init__(self, ask: Ask, applicant: Applicant) -> None:
        self._ask, self._applicant = ask, applicant
        self._over = threading.Event()
        self.refused: dict[str, str] = {}
        """Requests of the applicant that were not approved, and why."""
        self.error = ""
        """Why the last round failed."""

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Approve requests until the block ends."""
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
                self.approve()
            except Exception as err:  # the host is waiting, and only this error explains why it waits
                self.error = str(err) if isinstance(err, DeviceError) else f"{type(err).__name__}: {err}"

    def approve(self) -> None:
        """One round over all requests of the two kinds. Raises DeviceError."""
        for signer in (CLIENT_SIGNER, SERVING_SIGNER):
            selector = f"fieldSelector=spec.signerName%3D{signer.replace('/', '%2F')}"
            status, answer = self._ask("GET", f"{CSRS}?{selector}", None)
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
            "message": f"Drawbridge joins {self._applicant.name} to this cluster",
        }
        status, answer = self._ask("PUT", f"{CSRS}/{name}/approval", {**item, "status": {"conditions": [condition]}})
        # another controller has decided it; the next round reads the decision
        if status >= 300 and status not in (404, 409):
            raise DeviceError(f"signing request {name} can't be approved: {answer.get('message', status)}")
