# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A drop-in of the kubelet's configuration: one key per line, its value as JSON, which is valid YAML.

Nodes may lack a YAML library, and the file should be readable.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

API_VERSION, KIND = "kubelet.config.k8s.io/v1beta1", "KubeletConfiguration"
HEADER = "# Written by Drawbridge's role kubelet_numa, which overwrites changes."
KUBEADM = "KUBELET_CONFIG_ARGS"
"""The variable of kubeadm's unit that holds --config. The unit starts the kubelet with its words."""


def render(config: Mapping[str, Any], header: str = HEADER) -> tuple[str, ...]:
    """Lines of the file. The kubelet refuses a file without apiVersion and kind."""
    values = {"apiVersion": API_VERSION, "kind": KIND, **config}
    return (header, *(f"{key}: {json.dumps(value)}" for key, value in values.items()))


def by_key(lines: tuple[str, ...]) -> dict[str, str]:
    """Values by key, both as text. A line of another author is a key too, so the plan sees it as a change."""
    pairs = (line.partition(": ") for line in lines if not line.startswith("#"))
    return {key: value for key, _unused, value in pairs}


def parsed(lines: tuple[str, ...]) -> dict[str, Any]:
    """The configuration; lines of other authors are left out."""
    config = {}
    for key, value in by_key(lines).items():
        try:
            config[key] = json.loads(value)
        except ValueError:
            continue
    return config


def flag(command: Sequence[str], name: str) -> str:
    """The value of a flag in a kubelet's command line, "" for none. The last one counts, and _ stands for -."""
    found = ""
    for word, after in zip(command, [*command[1:], ""]):
        key, equals, value = word.partition("=")
        if key.replace("_", "-") == name:
            found = value if equals else after
    return found


def kubeadm_unit(command: Sequence[str], environment: Sequence[str], folder: str) -> str:
    """A drop-in of kubeadm's unit that adds --config-dir; empty if another unit started this command.

    systemd reads it after kubeadm's own, so its value of the variable counts. kubeadm and its packages write neither.
    """
    values = [value for name, _sep, value in (entry.partition("=") for entry in environment) if name == KUBEADM]
    if not values or not values[-1].split() or not set(values[-1].split()) <= set(command):
        return ""
    return f'{HEADER}\n[Service]\nEnvironment="{KUBEADM}={values[-1]} --config-dir={folder}"\n'
