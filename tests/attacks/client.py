# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The API server as any user: the administrator keeps one connection and impersonates the user of a row."""

from __future__ import annotations

import base64
import http.client
import json
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import yaml

Json = dict[str, Any]

APPLY = "application/apply-patch+yaml"
KINDS = {
    "apply": APPLY,
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
}


class Answer(NamedTuple):
    """What the API server said."""

    status: int
    body: Json

    @property
    def message(self) -> str:
        return str(self.body.get("message", ""))


@dataclass(frozen=True)
class Who:
    """A user of Kubernetes."""

    user: str
    groups: tuple[str, ...]

    @classmethod
    def of(cls, row: Json) -> Who:
        """A user with groups, or a ServiceAccount, written namespace/name."""
        everybody = "system:authenticated"
        if "account" not in row:
            return cls(row["user"], (*row.get("groups", ()), everybody))
        namespace, name = row["account"].split("/")
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", everybody)
        return cls(f"system:serviceaccount:{namespace}:{name}", groups)


class Client:
    """Asks as the administrator, or as another user."""

    def __init__(self, kubeconfig: Path, scratch: Path) -> None:
        config = yaml.safe_load(kubeconfig.read_text())
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        files = {"cert": user["client-certificate-data"], "key": user["client-key-data"]}
        for name, content in files.items():
            (scratch / name).write_bytes(base64.b64decode(content))
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        context = ssl.create_default_context(cadata=authority)
        server = urlsplit(cluster["server"])
        where: Json = {"host": server.hostname, "port": server.port, "timeout": 120}
        self._bearer = http.client.HTTPSConnection(**where, context=context)
        known = ssl.create_default_context(cadata=authority)
        known.load_cert_chain(scratch / "cert", scratch / "key")
        self._connection = http.client.HTTPSConnection(**where, context=known)

    def ask(self, method: str, path: str, body: Any = None, who: Who | None = None, kind: str = "") -> Answer:
        """One request of the administrator, or of a user that he impersonates."""
        return self._send(self._connection, method, path, body, self._headers(who, kind))

    def bear(self, token: str, path: str, name: str = "", body: Any = None) -> Answer:
        """One request of a token's owner, who may impersonate another user."""
        headers = [("Authorization", f"Bearer {token}"), ("Content-Type", "application/json")]
        headers += [("Impersonate-User", name)] if name else []
        return self._send(self._bearer, "POST" if body else "GET", path, body, headers)

    @staticmethod
    def _send(
        connection: http.client.HTTPSConnection, method: str, path: str, body: Any, headers: list[tuple[str, str]]
    ) -> Answer:
        try:
            connection.putrequest(method, path)
            for name, value in headers:
                connection.putheader(name, value)
            data = b"" if body is None else json.dumps(body).encode()
            connection.putheader("Content-Length", str(len(data)))
            connection.endheaders(data)
            response = connection.getresponse()
            text = response.read().decode(errors="replace")
        except (OSError, http.client.HTTPException):
            connection.close()  # the next request would find it in the middle of this one
            raise
        try:
            found = json.loads(text)
        except ValueError:
            found = {"message": text}
        return Answer(response.status, found)

    def close(self) -> None:
        """Let the connection go."""
        self._connection.close()
        self._bearer.close()

    def apply(self, path: str, body: Json, who: Who | None = None, dry: bool = False, manager: str = "attacks") -> Json:
        """Server-side apply that tolerates no unknown field, and takes away what its manager no longer says."""
        asked = f"{path}?fieldManager={manager}&force=true&fieldValidation=Strict{'&dryRun=All' if dry else ''}"
        answer = self.ask("PATCH", asked, body, who, APPLY)
        assert answer.status < 300, f"{path}: {answer.message}"
        return answer.body

    @staticmethod
    def _headers(who: Who | None, kind: str) -> list[tuple[str, str]]:
        headers = [("Accept", "application/json"), ("Content-Type", kind or "application/json")]
        if who:
            headers += [("Impersonate-User", who.user), *(("Impersonate-Group", group) for group in who.groups)]
        return headers


PLURALS = {
    "Endpoints": "endpoints",
    "NetworkPolicy": "networkpolicies",
    "RuntimeClass": "runtimeclasses",
    "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
}


def path_of(body: Json) -> str:
    """Where an object lives."""
    group, _, _ = body["apiVersion"].rpartition("/")
    root = f"/apis/{body['apiVersion']}" if group else f"/api/{body['apiVersion']}"
    plural = PLURALS.get(body["kind"], f"{body['kind'].lower()}s")
    metadata = body["metadata"]
    space = f"/namespaces/{metadata['namespace']}" if "namespace" in metadata else ""
    return f"{root}{space}/{plural}/{metadata['name']}"
