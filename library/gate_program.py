#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The gate's program on a host: code, configuration, hooks in Slurm's scripts, timer."""

DOCUMENTATION = r"""
module: gate_program
short_description: Install the gate's program and its timer
version_added: 0.1.0
description:
  - Writes the program and its files, and keeps its timer enabled and running.
  - Slurm starts the program for every job, so only a change of the unit files restarts the timer.
author: Drawbridge contributors (@drawbridge)
extends_documentation_fragment: [drawbridge.drawbridge.files]
options:
  program:
    description: Text of the program's files, by name.
    type: dict
    required: true
  directory:
    description: Directory of the program.
    type: path
    default: /usr/local/lib/drawbridge/gate
  hooks:
    description: Verb of the program for each of Slurm's scripts.
    type: dict
    default: {}
  unit:
    description: The timer.
    type: str
    default: drawbridge-gate.timer
attributes:
  check_mode:
    description: Predicts exactly.
    support: full
  diff_mode:
    description: Shows the files and the timer.
    support: full
"""

EXAMPLES = r"""
- name: Install the gate's program
  drawbridge.drawbridge.gate_program:
    program: {__main__.py: "{{ lookup('ansible.builtin.file', 'gate/__main__.py', rstrip=false) }}"}
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
from ..module_utils.drawbridge.gate.program_layer import GATE_PROGRAM


def main() -> None:
    """Run this layer."""
    main_of(GATE_PROGRAM)


if __name__ == "__main__":
    main()
