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
from typing import Protocol

from ...core.api.kubeconfig import Ask, Json
from ...core.converge import DeviceError
from .csr import Applicant, refusal
from .text import CLIENT_SIGNER, SERVING_SIGNER

CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
SECRETS = "/api/v1/namespaces/kube-system/secrets"
GROUP = "system:bootstrappers:drawbridge"
LETTERS = string.ascii_lowercase + string.digits
LIFETIME_S = 900
SIGNERS = (CLIENT_SIGNER, SERVING_SIGNER)
WATCH_S = 1
"""How long the API server collects changes for one answer, and so the longest wait for the end of a round."""
PAUSE_S, LONGEST_PAUSE_S = 0.25, 8.0
"""Between two rounds. It doubles as long as rounds fail."""
GONE = 410


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


class Over(Protocol):
    """The end of the work, which may come during a pause: a threading.Event."""

    def wait(self, timeout: float, /) -> bool:
        """Wait so many seconds, or until the end. Whether it has come."""
        raise NotImplementedError


class Approver:
    """Approves its applicant's signing requests in threads, while the host's module waits for the certificates.

    The API server lists the requests of a signer once. Then it sends the new ones alone: a list grows with the cluster,
    and each node that joins has an approver.
    """

    def __init__(self, ask: Ask, applicant: Applicant) -> None:
        self.ask, self._applicant = ask, applicant
        self._versions: dict[str, str] = {}
        """By signer, the version of the resource up to which all changes are read."""
        self.refused: dict[str, str] = {}
        """Requests of the applicant that were not approved, and why."""
        self._errors: dict[str, str] = {}

    @property
    def error(self) -> str:
        """Why the last rounds failed."""
        return "; ".join(dict.fromkeys(self._errors.copy().values()))

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Approve requests until the block ends."""
        over = threading.Event()
        threads = [threading.Thread(target=self.follow, args=(signer, over), daemon=True) for signer in SIGNERS]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            over.set()
            for thread in threads:
                thread.join()

    def follow(self, signer: str, over: Over) -> None:
        """Rounds over the requests of one signer. An API server in trouble gets fewer of them."""
        pause_s = PAUSE_S
        while not over.wait(pause_s):
            try:
                self.approve(signer)
            except Exception as err:  # the host is waiting, and only this error explains why it waits
                self._errors[signer] = str(err) if isinstance(err, DeviceError) else f"{type(err).__name__}: {err}"
                pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
            else:
                self._errors.pop(signer, None)
                pause_s = PAUSE_S

    def approve(self, signer: str) -> None:
        """One round over new requests of a signer. Raises DeviceError; then the next round reads them again."""
        version = self._versions.get(signer, "")
        items, version = self._changes(signer, version) if version else self._all(signer)
        for item in items:
            if self._applicant.sent(item) and item["metadata"]["name"] not in self.refused:
                self._decide(item)
        self._versions[signer] = version

    def _all(self, signer: str) -> tuple[list[Json], str]:
        """All requests, and the version of the list."""
        status, answer = self.ask("GET", f"{CSRS}?{_selector(signer)}", None)
        if status >= 300:
            raise DeviceError(f"signing requests can't be listed: {answer.get('message', status)}")
        return answer.get("items") or [], (answer.get("metadata") or {}).get("resourceVersion", "")

    def _changes(self, signer: str, version: str) -> tuple[list[Json], str]:
        """Requests that are new or changed since a version, and the version of the last change.

        The new version is empty if the API server has forgotten the old one.
        """
        query = f"{_selector(signer)}&watch=1&resourceVersion={version}&timeoutSeconds={WATCH_S}"
        status, answer = self.ask("WATCH", f"{CSRS}?{query}", None)
        events = answer["items"] if status < 300 else [{"type": "ERROR", "object": {"code": status, **answer}}]
        items = []
        for event in events:
            found = event["object"]
            if event["type"] == "ERROR":
                if found.get("code") == GONE:
                    return items, ""
                raise DeviceError(f"signing requests can't be watched: {found.get('message', found.get('code'))}")
            version = found["metadata"]["resourceVersion"]
            if event["type"] in ("ADDED", "MODIFIED"):
                items.append(found)
        return items, version

    def _decide(self, item: Json) -> None:
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
        status, answer = self.ask("PUT", f"{CSRS}/{name}/approval", {**item, "status": {"conditions": [condition]}})
        # another controller has decided or changed it; the next round reads the change
        if status >= 300 and status not in (404, 409):
            raise DeviceError(f"signing request {name} can't be approved: {answer.get('message', status)}")


def _selector(signer: str) -> str:
    return f"fieldSelector=spec.signerName%3D{signer.replace('/', '%2F')}"
