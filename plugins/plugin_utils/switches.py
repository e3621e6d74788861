# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the actions on switches share: connections, the dialects, and the login from Ansible's variables.

Ansible imports netmiko once for an action plugin; for a module, once for each switch.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ansible.template import Templar

from ..module_utils.drawbridge.fabric.login import Login, from_variables
from ..module_utils.drawbridge.fabric.nos.dialect import Dialect, dialect
from ..module_utils.drawbridge.fabric.nos.systems import SYSTEMS

MISSING = ""
DIALECTS: dict[str, Dialect] = {}
try:
    from ..module_utils.drawbridge.fabric.state_io import read_state as read_state
    from ..module_utils.drawbridge.fabric.transaction_io import Limits as Limits
    from ..module_utils.drawbridge.fabric.transaction_io import Switch as Switch

    DIALECTS = {system: dialect(system) for system in SYSTEMS}
except ImportError as err:
    if TYPE_CHECKING:
        raise
    MISSING = err.name or str(err)

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


def missing_package() -> dict[str, Any]:
    """The result of an action whose Python lacks a package; empty if none is missing."""
    reason = f"the Python that runs Ansible, {sys.executable}, has no {MISSING}; install requirements.lock into it"
    return {"failed": True, "msg": reason} if MISSING else {}


def login(templar: Templar, variables: Mapping[str, Any]) -> Login:
    """How to log in to the switch that the task is for. Raises DeviceError."""
    name = variables["inventory_hostname"]
    return from_variables(name, {key: templar.template(variables.get(key)) for key in LOGIN_KEYS})
