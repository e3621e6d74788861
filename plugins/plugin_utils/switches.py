# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the actions on switches share: the dialects, and the login from Ansible's variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.template import Templar

from ..module_utils.drawbridge.fabric.login import Login, from_variables
from ..module_utils.drawbridge.fabric.nos.dialect import dialect
from ..module_utils.drawbridge.fabric.nos.systems import SYSTEMS

DIALECTS = {system: dialect(system) for system in SYSTEMS}

LOGIN_KEYS = (
    "ansible_host",
    "ansible_port",
    "ansible_user",
    "ansible_password",
    "ansible_ssh_pass",
    "ansible_ssh_private_key_file",
    "ansible_ssh_common_args",
    "ansible_ssh_extra_args",
)


def login(templar: Templar, variables: Mapping[str, Any]) -> Login:
    """How to log in to the switch that the task is for. Raises DeviceError."""
    name = variables["inventory_hostname"]
    return from_variables(name, {key: templar.template(variables.get(key)) for key in LOGIN_KEYS})
