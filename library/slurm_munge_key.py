#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Install the cluster's munge key."""

DOCUMENTATION = r"""
module: slurm_munge_key
short_description: Install the cluster's munge key
version_added: 0.1.0
description:
  - Without O(key), this host's key is the cluster's. The module creates a missing key and returns the key to the play.
  - With O(key), that key is installed.
  - munged is enabled and runs. It is restarted if it started before its key last changed.
  - Command lines, diffs and steps never contain the key. They show the first digits of its SHA-256 sum. Set C(no_log)
    on the task that returns the key.
author: Drawbridge contributors
options:
  key:
    description: The cluster's key in Base64, as this module returned it on the controller.
    type: str
  replace:
    description: Without O(key), replace an existing key by a new one, at every run.
    type: bool
    default: false
attributes:
  check_mode:
    description: Predicts the steps of the next run.
    support: full
  diff_mode:
    description: The first digits of the key's SHA-256 sum, and the unit's state.
    support: full
"""

EXAMPLES = r"""
- name: Keep the cluster's key
  drawbridge.drawbridge.slurm_munge_key:
  register: __munge
  no_log: true

- name: Share the cluster's key
  drawbridge.drawbridge.slurm_munge_key:
    key: "{{ slurm_node_munge_key }}"
"""

RETURN = r"""
key:
  description: The host's key in Base64; empty if there is none yet.
  returned: when O(key) was not given
  type: str
steps:
  description: The changes, in check mode the predicted ones, as sentences.
  returned: always
  type: list
  elements: str
pending:
  description: Changes that are not possible now, and why.
  returned: always
  type: list
  elements: str
"""

import base64
import binascii
import secrets
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.drawbridge.core.check_mode import unknown
from ..module_utils.drawbridge.core.command import Command
from ..module_utils.drawbridge.core.converge import AT_ONCE
from ..module_utils.drawbridge.core.module import finish
from ..module_utils.drawbridge.core.units import Unit
from ..module_utils.drawbridge.slurm.munge.io import KEY_BYTES, UNIT, Munge, present_key
from ..module_utils.drawbridge.slurm.munge.plan import MungeState, digest_of, plan

ARGUMENT_SPEC = {
    "key": {"type": "str", "no_log": True},
    "replace": {"type": "bool", "default": False},
}


def main() -> None:
    """Wire munge's key to the plan."""
    module = AnsibleModule(
        argument_spec=ARGUMENT_SPEC, supports_check_mode=True, mutually_exclusive=[("key", "replace")]
    )
    given = module.params["key"]
    unit = Unit(UNIT, Command(timeout_s=60))
    if not unit.read().installed:
        unknown(module, f"{UNIT} is not installed yet", **({"key": ""} if given is None else {}))
    if given == "":
        unknown(module, "the controller's munge key is not known; let the play of the controllers run before this one")
    try:
        kept = b"" if module.params["replace"] else present_key()
        key = (kept or secrets.token_bytes(KEY_BYTES)) if given is None else base64.b64decode(given, validate=True)
    except binascii.Error as err:
        return module.fail_json(msg=f"key is not Base64 ({err}); pass the key that it returned on the controller")
    extra: dict[str, Any] = {"key": base64.b64encode(key).decode()} if given is None else {}
    finish(module, Munge(unit, key), plan, MungeState(digest_of(key)), AT_ONCE, **extra)


if __name__ == "__main__":
    main()
