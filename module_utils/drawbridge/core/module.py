# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The last line of every module: hand an outcome to Ansible."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import Any, Callable

from ansible.module_utils.basic import AnsibleModule

from .converge import ONE_LOOK, Device, DeviceError, S, Settle, Step, converge, unused


def nothing(_: Sequence[Step[Any]]) -> dict[str, Any]:
    """For modules whose result is the same as every other's."""
    return {}


def finish(
    module: AnsibleModule,
    device: Device[S],
    plan: Callable[[S, S], list[Step[S]]],
    want: S,
    settle: Settle = ONE_LOOK,
    in_use: Callable[[], str] = unused,
    telling: Callable[[Sequence[Step[S]]], dict[str, Any]] = nothing,
    **extra: Any,
) -> None:
    """Converge and leave through exit_json or fail_json. `extra` joins the result of a success, and what `telling`
    makes of the steps that were done. The module's own options give the consents.

    What must wait is a warning too: a task that only waits counts as ok, and nobody would see it.
    """
    try:
        outcome = converge(device, plan, want, module.check_mode, settle, module.params, in_use)
    except DeviceError as err:
        return module.fail_json(msg=str(err), changed=False, **err.details)
    for waiting in outcome.pending:
        module.warn(f"{platform.node()}: to be done by a later run: {waiting}")
    if outcome.error:
        module.fail_json(**outcome.result())
    module.exit_json(**outcome.result(), **telling(outcome.planned), **extra)
