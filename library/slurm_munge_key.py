#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Give munge the cluster's key."""

DOCUMENTATION = r"""
module: slurm_munge_key
short_description: Give munge the cluster's key
version_added: 0.1.0
description:
  - Without O(key), the host's own key is the cluster's. It is made if there is none, and returned to the play.
  - With O(key), the host's key becomes that one.
  - munged runs and is enabled, and is restarted when it started before its key last changed.
  - The key never stands in a command line, in a diff or in a step; these show the first digits of its SHA-256 sum. Set
    C(no_log) on the task that gets the key back.
author: Drawbridge contributors
options:
  key:
    description: The cluster's key in Base64, as this module returned it on the controller.
    type: str
  replace:
    description: Without O(key), make a new key also if there is one. Every run makes another.
    type: bool
    default: false
  timeout_s:
    description: How long one call of systemctl may take, in seconds.
    type: float
    default: 60
attributes:
  check_mode:
    description: Predicts the steps of the next run from what it reads.
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
  description: The host's key in Base64; empty while there is none.
  returned: when O(key) was not given
  type: str
steps:
  description: What was done, or in check mode would be done, as sentences.
  returned: always
  type: list
  elements: str
pending:
  description: What can't be done now, and why.
  returned: always
  type: list
  elements: str
"""

import base64
import binascii
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.drawbridge.core.check_mode import unknown
from ..module_utils.drawbridge.core.command import Command
from ..module_utils.drawbridge.core.converge import AT_ONCE
from ..module_utils.drawbridge.core.module import finish
from ..module_utils.drawbridge.core.units import Unit
from ..module_utils.drawbridge.slurm.munge.io import UNIT, Munge, new_key, present_key
from ..module_utils.drawbridge.slurm.munge.plan import MungeState, digest_of, plan

ARGUMENT_SPEC = {
    "key": {"type": "str", "no_log": True},
    "replace": {"type": "bool", "default": False},
    "timeout_s": {"type": "float", "default": 60},
}


def main() -> None:
    """Wire munge's key to the plan."""
    module = AnsibleModule(
        argument_spec=ARGUMENT_SPEC, supports_check_mode=True, mutually_exclusive=[("key", "replace")]
    )
    given = module.params["key"]
    unit = Unit(UNIT, Command(module.params["timeout_s"]))
    if not unit.read().installed:
        unknown(module, f"{UNIT} is not installed yet", **({"key": ""} if given is None else {}))
    if given == "":
        unknown(module, "the controller's munge key is not known; let the play of the controllers run before this one")
    try:
        kept = b"" if module.params["replace"] else present_key()
        key = (kept or new_key()) if given is None else base64.b64decode(given, validate=True)
    except binascii.Error as err:
        return module.fail_json(msg=f"key is not Base64 ({err}); hand on what this module returned on the controller")
    extra: dict[str, Any] = {"key": base64.b64encode(key).decode()} if given is None else {}
    finish(module, Munge(unit, key), plan, MungeState(digest_of(key)), AT_ONCE, **extra)


if __name__ == "__main__":
    main()
