# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What tests of membership share: the running lab and its API server."""

from __future__ import annotations

from typing import Any

import pytest
from kubernetes import client, config

from lab.hosts.paths import Paths
from tests.running import Lab


@pytest.fixture(scope="session")
def lab() -> Lab:
    """The running lab."""
    return Lab(Paths.of())


@pytest.fixture(scope="session")
def api(lab: Lab) -> Any:
    """The API as the administrator."""
    return client.CoreV1Api(config.new_client_from_config(str(lab.paths.kubeconfig)))
