# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The last line of every module: hand an outcome to Ansible."""

from __future__ import annotations

from typing import Any, Callable

from ansible.module_utils.basic import AnsibleModule

from .converge import ONE_LOOK, Device, DeviceError, S, Settle, Step, converge


def finish(
    module: AnsibleModule,
    device: Device[S],
    plan: Callable[[S, S], list[Step[S]]],
    want: S,
    settle: Settle = ONE_LOOK,
    **extra: Any,
) -> None:
    """Converge and leave through exit_json or fail_json. `extra` joins the result of a success."""
    try:
        outcome = converge(device, plan, want, check=module.check_mode, settle=settle)
    except DeviceError as err:
        return module.fail_json(msg=str(err), changed=False, **err.details)
    if outcome.error:
        module.fail_json(**outcome.result())
    module.exit_json(**outcome.result(), **extra)
