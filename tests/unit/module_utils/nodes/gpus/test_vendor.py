# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.vendors import VENDORS


@pytest.mark.parametrize(
    ("driver", "needs"),
    [
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.148.08", True),
        ("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.148.08", False),
        ("", False),
    ],
    ids=["closed", "open", "not loaded"],
)
def test_a_closed_driver_needs_a_module_for_peer_memory(driver: str, needs: bool) -> None:
    assert VENDORS["nvidia"].needs_peer_memory(driver) is needs
