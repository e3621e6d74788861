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
author: Drawbridge contributors
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
  description: Steps of this run, or in check mode of the next.
  returned: always
  type: list
  elements: str
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.drawbridge.core.command import Command
from ..module_utils.drawbridge.core.daemon.own_unit_io import OwnUnit
from ..module_utils.drawbridge.core.daemon.plan import DaemonState, plan
from ..module_utils.drawbridge.core.file_entry import FILES_ARGUMENT, Entry, entries
from ..module_utils.drawbridge.core.module import finish

TIMEOUT_S = 60.0
HOOK = "/etc/drawbridge/slurm/{}.d/50-gate"
CALL = "#!/bin/sh\nexec /usr/local/libexec/drawbridge/gate {}\n"
ARGUMENT_SPEC = {
    "program": {"type": "dict", "required": True},
    "directory": {"type": "path", "default": "/usr/local/lib/drawbridge/gate"},
    "hooks": {"type": "dict", "default": {}},
    "unit": {"type": "str", "default": "drawbridge-gate.timer"},
    "files": FILES_ARGUMENT,
}


def main() -> None:
    """Converge files and timer."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    params = module.params
    program = {f"{params['directory']}/{name}": Entry(text) for name, text in params["program"].items()}
    hooks = {HOOK.format(kind): Entry(CALL.format(verb), "0755") for kind, verb in params["hooks"].items()}
    files, passive = entries(params["files"])
    # hooks are last: the program must exist before Slurm runs them
    want = DaemonState(params["unit"], {**program, **files, **hooks}, passive=passive | set(program) | set(hooks))
    finish(module, OwnUnit(params["unit"], want, Command(TIMEOUT_S)), plan, want)


if __name__ == "__main__":
    main()
