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
author: Drawbridge contributors (@drawbridge)
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
steps:
  description: Changes made, or predicted in check mode, as sentences.
  returned: always
  type: list
  elements: str
pending:
  description: Changes that can't be made now, each with the reason.
  returned: always
  type: list
  elements: str
key:
  description: The host's key in Base64; empty if there is none yet.
  returned: when O(key) was not given
  type: str
done:
  description: Steps that were done.
  returned: failure
  type: list
  elements: str
left:
  description: Steps that were not done.
  returned: failure
  type: list
  elements: str
"""

from ..module_utils.drawbridge.core.module import main_of
from ..module_utils.drawbridge.slurm.munge.layer import SLURM_MUNGE_KEY


def main() -> None:
    """Run this layer."""
    main_of(SLURM_MUNGE_KEY)


if __name__ == "__main__":
    main()
