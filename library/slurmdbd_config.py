#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Keep slurmdbd running with its current configuration."""

DOCUMENTATION = r"""
module: slurmdbd_config
short_description: Keep slurmdbd running with its current configuration
version_added: 0.1.0
description:
  - Writes slurmdbd.conf, and enables and starts slurmdbd. It is restarted if it started before its files last changed.
    Every run compares this, so the next run completes an interrupted one.
  - A slurmdbd.conf of the site is compared line by line with the new one, like the files of
    M(drawbridge.drawbridge.slurm_config).
  - In check mode, a slurmdbd that is not installed yet is C(pending), not a failure.
author: Drawbridge contributors (@drawbridge)
extends_documentation_fragment: [drawbridge.drawbridge.files.daemon, drawbridge.drawbridge.files.taken_over]
options:
  passwords:
    description:
      - Passwords by their keys, such as C(StoragePass). A file has C((hidden)) in the place of each. A line without a
        password is left out. Diffs and steps never contain them.
    type: dict
    default: {}
attributes:
  check_mode:
    description: Predicts the steps of the next run.
    support: full
  diff_mode:
    description: Contents of the files, and the unit's state.
    support: full
"""

EXAMPLES = r"""
- name: Run slurmdbd
  drawbridge.drawbridge.slurmdbd_config:
    files:
      - path: /etc/slurm/slurmdbd.conf
        content: "{{ slurm_controller_slurmdbd_conf }}"
        owner: slurm
        group: slurm
        mode: "0600"
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
from ..module_utils.drawbridge.slurm.slurmdbd_layer import SLURMDBD_CONFIG


def main() -> None:
    """Run this layer."""
    main_of(SLURMDBD_CONFIG)


if __name__ == "__main__":
    main()
