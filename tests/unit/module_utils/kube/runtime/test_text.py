# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import importlib
import sys
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.runtime.text import hosts

# the standard library has it since 3.11, and nodes may have less
tomllib: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
MIRROR, OTHER = "https://mirror:5000", "https://far/v2/x"


PULL = {"capabilities": ["pull", "resolve"]}


@pytest.mark.parametrize(
    ("name", "mirrors", "ca", "fallback", "parsed"),
    [
        ("nvcr.io", [MIRROR], "", False, {"server": MIRROR, **PULL}),
        ("nvcr.io", [MIRROR], "/ca.crt", False, {"server": MIRROR, **PULL, "ca": "/ca.crt"}),
        (
            "nvcr.io",
            [MIRROR, OTHER],
            "",
            False,
            {"server": OTHER, **PULL, "override_path": True, "host": {MIRROR: PULL}},
        ),
        ("nvcr.io", [MIRROR], "", True, {"server": "https://nvcr.io", **PULL, "host": {MIRROR: PULL}}),
        ("docker.io", [MIRROR], "", True, {"server": "https://registry-1.docker.io", **PULL, "host": {MIRROR: PULL}}),
        ("own:5000", [], "/ca.crt", True, {"server": "https://own:5000", **PULL, "ca": "/ca.crt"}),
        ("_default", [MIRROR], "", True, {"host": {MIRROR: PULL}}),
        ("_default", [MIRROR], "", False, {"server": MIRROR, **PULL}),
    ],
)
def test_mirrors_come_first(name: str, mirrors: list[str], ca: str, fallback: bool, parsed: dict[str, object]) -> None:
    assert tomllib.loads(hosts(name, mirrors, ca, fallback)) == parsed
