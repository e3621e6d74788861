# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The API server of a lab as its administrator, for tests that edit what a run has written."""

from __future__ import annotations

import json
from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.api.kubeconfig import (
    KINDS,
    Ask,
    Json,
)
from kubernetes import config
from urllib3 import HTTPResponse

from lab.hosts.paths import Paths


def administrator() -> Ask:
    """Requests in the administrator's own name; methods as in core.api.kubeconfig."""
    api = config.new_client_from_config(str(Paths.of().kubeconfig))
    settings, pool = api.configuration, api.rest_client.pool_manager

    def ask(method: str, path: str, body: Json | None) -> tuple[int, Json]:
        headers = {"Content-Type": KINDS.get(method, "application/json"), "Accept": "application/json"}
        verb, text = "PATCH" if method == "APPLY" else method, None if body is None else json.dumps(body)
        answer: HTTPResponse | Any = pool.request(verb, settings.host + path, body=text, headers=headers)
        return answer.status, json.loads(answer.data)

    return ask
