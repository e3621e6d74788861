# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Run converge() and return its outcome to Ansible: the last line of every module."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import Any, Callable

from ansible.module_utils.basic import AnsibleModule

from .converge import AT_ONCE, Device, DeviceError, S, Settle, Step, converge, unused


def finish(
    module: AnsibleModule,
    device: Device[S],
    plan: Callable[[S, S], list[Step[S]]],
    want: S,
    settle: Settle = AT_ONCE,
    in_use: Callable[[], str] = unused,
    results_of: Callable[[Sequence[Step[S]]], dict[str, Any]] = lambda _: {},
    **extra: Any,
) -> None:
    """Converge and leave through exit_json or fail_json.

    A success also returns `extra` and the results of `results_of(steps)`. A pending step is a warning too, because a
    task that only waits counts as ok.
    """
    try:
        outcome = converge(device, plan, want, module.check_mode, settle, module.params, in_use)
    except DeviceError as err:
        return module.fail_json(msg=str(err), changed=False, **err.details)
    for waiting in outcome.pending:
        module.warn(f"{platform.node()}: to be done by a later run: {waiting}")
    if outcome.error:
        module.fail_json(**outcome.result())
    module.exit_json(**outcome.result(), **results_of(outcome.planned), **extra)
