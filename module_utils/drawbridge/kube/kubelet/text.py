# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A drop-in of the kubelet's configuration, as text: one key a line, its value as JSON, which is YAML too.

Managed nodes have no YAML library that we could count on, and people should be able to read the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

API_VERSION, KIND = "kubelet.config.k8s.io/v1beta1", "KubeletConfiguration"
HEADER = "# Written by Drawbridge's role kubelet_numa, which undoes what is changed here by hand."


def render(config: Mapping[str, Any], header: str = HEADER) -> tuple[str, ...]:
    """Lines of a file. Without apiVersion and kind the kubelet would refuse it."""
    values = {"apiVersion": API_VERSION, "kind": KIND, **config}
    return (header, *(f"{key}: {json.dumps(value)}" for key, value in values.items()))


def by_key(lines: tuple[str, ...]) -> dict[str, str]:
    """Values by key, both as text; what is not one of our lines is a key of its own, so that it is seen as a change."""
    pairs = (line.partition(": ") for line in lines if not line.startswith("#"))
    return {key: value for key, _, value in pairs}


def parsed(lines: tuple[str, ...]) -> dict[str, Any]:
    """The configuration that our lines hold; lines that are not ours are left out."""
    config = {}
    for key, value in by_key(lines).items():
        try:
            config[key] = json.loads(value)
        except ValueError:
            continue
    return config


def config_dir(command: Sequence[str]) -> str:
    """The directory of drop-ins that a kubelet's command line names, the last one as the kubelet takes it."""
    found = ""
    for word, after in zip(command, [*command[1:], ""]):
        flag, equals, value = word.partition("=")
        if flag == "--config-dir":
            found = value if equals else after
    return found
