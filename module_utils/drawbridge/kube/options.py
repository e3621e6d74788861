# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Options that an action and its module on the host have in common; plugins/doc_fragments documents them."""

from __future__ import annotations

from ..core.consent import VARIABLES_ARGUMENT

KUBELET = {
    "config": {"type": "dict", "required": True},
    "path": {"type": "path", "default": "/etc/kubernetes/kubelet.conf.d/50-drawbridge.conf"},
    "main_config": {"type": "path", "default": "/var/lib/kubelet/config.yaml"},
    "state_dir": {"type": "path", "default": "/var/lib/kubelet"},
    "certificate": {"type": "path", "default": "/var/lib/kubelet/pki/kubelet-client-current.pem"},
    "api_server": {"type": "str", "required": True},
    "ca_file": {"type": "path", "required": True},
    "slurm_node": {"type": "str", "required": True},
    "start_timeout_s": {"type": "int", "default": 60},
    "join": {"type": "str", "choices": ["drawbridge", "site"], "default": "drawbridge"},
    "may_add_config_dir": {"type": "bool", "default": False},
    **VARIABLES_ARGUMENT,
}
MEMBER = {
    "name": {"type": "str", "required": True},
    "address": {"type": "str", "required": True},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "join": {"type": "bool", "default": True},
    "api_server": {"type": "str", "required": True},
    "ca_file": {"type": "path", "required": True},
    "config": {"type": "dict", "default": {}},
    "flags": {"type": "list", "elements": "str", "default": []},
    "program": {"type": "path", "default": "/usr/bin/kubelet"},
    "certificate": {"type": "path", "default": "/var/lib/kubelet/pki/kubelet-client-current.pem"},
    "timeout_s": {"type": "int", "default": 90},
    **VARIABLES_ARGUMENT,
}
