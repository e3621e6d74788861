# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Check mode on a host where packages or daemons are still missing."""

from __future__ import annotations

from typing import Any

from ansible.module_utils.basic import AnsibleModule


def unknown(module: AnsibleModule, reason: str, **extra: Any) -> None:
    """Leave the module: in check mode with `reason` as pending, otherwise as a failure."""
    if not module.check_mode:
        module.fail_json(msg=reason, changed=False, steps=[], pending=[])
    unknown = f"{reason}, so nothing can be predicted"
    module.warn(unknown)
    module.exit_json(changed=False, steps=[], pending=[unknown], **extra)
