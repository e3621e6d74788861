# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Requests with the kubeconfig of a run, as the installer.

The kubeconfig's user only needs the right to act as the installer, in its two groups. One of them has the rights of a
run. The admission policies let the other one close nodes and label namespaces.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Callable, Optional

from ..converge import DeviceError
from ..names import INSTALLER, INSTALLER_USER, PLATFORM

Json = dict[str, Any]
Ask = Callable[[str, str, Optional[Json]], "tuple[int, Json]"]
"""Method, path, body -> status, answer. The method APPLY is a server-side apply.

WATCH returns the events of a path in C(items) once the API server ends the watch, which C(timeoutSeconds) in the path
decides.
"""

KINDS = {"PATCH": "application/merge-patch+json", "APPLY": "application/apply-patch+yaml"}
VERBS = {"APPLY": "PATCH", "WATCH": "GET"}
GROUPS = (PLATFORM, INSTALLER)
ACCEPT = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
"""Aggregated discovery: all groups in one answer. Other paths return plain JSON with this header too."""


def connect(kubeconfig: str) -> Ask:
    """Send requests as the kubeconfig's user, who acts as the installer. Raises DeviceError."""
    # imported here, because only the machine that runs Ansible has it
    from kubernetes import config

    try:
        api = config.new_client_from_config(config_file=str(file_of(kubeconfig)))
    except (config.ConfigException, OSError, TypeError) as err:
        raise DeviceError(f"kubeconfig {kubeconfig!r} can't be used: {err}") from err
    settings, pool = api.configuration, api.rest_client.pool_manager
    groups = [("Impersonate-User", INSTALLER_USER), *(("Impersonate-Group", it) for it in GROUPS)]

    def ask(method: str, path: str, body: Json | None) -> tuple[int, Json]:
        from urllib3 import HTTPHeaderDict
        from urllib3.exceptions import HTTPError

        headers = HTTPHeaderDict(groups)
        headers["Content-Type"] = KINDS.get(method, "application/json")
        headers["Accept"] = ACCEPT
        headers["User-Agent"] = "drawbridge"  # managedFields and audit logs name the writer by it
        credentials: Any = settings.auth_settings()  # renews a token that ends soon
        for credential in credentials.values():
            headers[credential["key"]] = credential["value"]
        text = None if body is None else json.dumps(body)
        try:
            answer = pool.request(VERBS.get(method, method), settings.host + path, body=text, headers=headers)
        except HTTPError as err:
            raise DeviceError(f"{settings.host} does not answer: {err}") from err
        return answer.status, (_events if method == "WATCH" and answer.status < 300 else _answer)(answer.data)

    return ask


def file_of(kubeconfig: str) -> Path:
    """The file, which must be one. Without a name the client would take its default file. Raises DeviceError."""
    path = Path(kubeconfig).expanduser()
    if not kubeconfig:
        raise DeviceError(
            "no kubeconfig is set; export KUBECONFIG=FILE where Ansible runs, with the installer's rights"
        )
    if os.pathsep in kubeconfig and not path.exists():
        raise DeviceError(f"kubeconfig {kubeconfig!r} is a list; export KUBECONFIG with the one file of this cluster")
    if not path.is_file():
        raise DeviceError(f"kubeconfig {kubeconfig!r} is no file; export KUBECONFIG=FILE where Ansible runs")
    return path


def _answer(data: bytes) -> Json:
    """The answer as JSON; for an unknown kind the API server sends plain text."""
    try:
        return json.loads(data)
    except ValueError:
        return {"message": data.decode(errors="replace").strip()}


def _events(data: bytes) -> Json:
    """The events of a watch, one in a line. A line without an end is of a connection that broke."""
    lines, _separator, _broken = data.rpartition(b"\n")
    return {"items": [json.loads(line) for line in lines.splitlines() if line]}
