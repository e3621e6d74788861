# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Run one layer and return its result to Ansible: all that a module on a host does."""

from __future__ import annotations

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from .converge import DeviceError
from .layer import Layer, open_spec, opened, run, validated


def main_of(layer: Layer) -> None:
    """Read the options, do the work, and leave."""
    spec = open_spec(layer.spec, layer.viewed)
    module = AnsibleModule(argument_spec=spec, supports_check_mode=True, mutually_exclusive=list(layer.exclusive))
    params = module.params
    try:
        params = validated(layer.spec, opened(params)) if layer.viewed else params
    except DeviceError as err:
        module.fail_json(msg=str(err))
    leave(module, run(layer, params, module.check_mode))


def leave(module: AnsibleModule, result: dict[str, Any]) -> None:
    """Leave through exit_json or fail_json."""
    for warning in result.pop("warnings", []):
        module.warn(warning)
    if result.pop("failed", False):
        module.fail_json(**result)
    module.exit_json(**result)
