# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Run one layer and return its result to Ansible: all that a module on a host does."""

from __future__ import annotations

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from .layer import Layer, run


def main_of(layer: Layer) -> None:
    """Read the options, do the work, and leave."""
    module = AnsibleModule(
        argument_spec=dict(layer.spec), supports_check_mode=True, mutually_exclusive=list(layer.exclusive)
    )
    leave(module, run(layer, module.params, module.check_mode))


def leave(module: AnsibleModule, result: dict[str, Any]) -> None:
    """Leave through exit_json or fail_json."""
    for warning in result.pop("warnings", []):
        module.warn(warning)
    if result.pop("failed", False):
        module.fail_json(**result)
    module.exit_json(**result)
