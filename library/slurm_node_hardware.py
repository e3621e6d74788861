#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Compare a node's hardware with its class, and keep jobs away from one that differs."""

DOCUMENTATION = r"""
module: slurm_node_hardware
short_description: Compare a node's hardware with its class
version_added: 0.1.0
description:
  - Fails with what the node has and what its class has when sockets, cores, threads or GPUs differ or memory is less,
    and drains the node with that as the reason. GPUs are counted by their device files and, where there is one, by
    C(nvidia-smi). Slurm itself accepts GPUs too many in silence, and waits for missing
    ones while slurmd starts, so this comes before slurmd.
  - slurmd keeps the first topology that it saw in its spool directory and prefers that to the machine, so a lost socket
    shows only to a look without that directory, which this module takes.
  - A drain with another reason stays as it is. M(drawbridge.drawbridge.slurm_node_ready) lifts this one when the node
    has proved itself.
author: Drawbridge contributors
options:
  name:
    description: NodeName of this host.
    type: str
    required: true
  machine:
    description: What the class has.
    type: dict
    required: true
    suboptions:
      sockets:
        description: CPU sockets.
        type: int
        required: true
      cores_per_socket:
        description: Cores of a socket.
        type: int
        required: true
      threads_per_core:
        description: Hardware threads of a core.
        type: int
        required: true
      memory_mib:
        description: Memory as C(slurmd -C) prints it; more is no difference.
        type: int
        required: true
      gpus:
        description: GPUs.
        type: int
        required: true
  gpu_files:
    description: Path of the GPUs' device files without their numbers.
    type: path
    default: /dev/nvidia
  timeout_s:
    description: How long one call of a command may take, in seconds.
    type: float
    default: 30
attributes:
  check_mode:
    description: Predicts the steps of the next run from what it reads, and fails as that run would.
    support: full
  diff_mode:
    description: The machine and the reason of its drain.
    support: full
"""

EXAMPLES = r"""
- name: Compare the node with its class
  drawbridge.drawbridge.slurm_node_hardware:
    name: gpu01
    machine: {sockets: 2, cores_per_socket: 56, threads_per_core: 2, memory_mib: 2050000, gpus: 8}
"""

RETURN = r"""
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

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.drawbridge.core.check_mode import unknown
from ..module_utils.drawbridge.core.command import Command
from ..module_utils.drawbridge.core.converge import DeviceError, converge
from ..module_utils.drawbridge.core.units import Unit
from ..module_utils.drawbridge.slurm.nodes.hardware_io import Hardware
from ..module_utils.drawbridge.slurm.nodes.hardware_plan import REPAIR, HardwareState, Machine, difference, plan

NUMBER = {"type": "int", "required": True}
ARGUMENT_SPEC = {
    "name": {"type": "str", "required": True},
    "machine": {
        "type": "dict",
        "required": True,
        "options": {
            "sockets": NUMBER,
            "cores_per_socket": NUMBER,
            "threads_per_core": NUMBER,
            "memory_mib": NUMBER,
            "gpus": NUMBER,
        },
    },
    "gpu_files": {"type": "path", "default": "/dev/nvidia"},
    "timeout_s": {"type": "float", "default": 30},
}


def main() -> None:
    """Compare, and quarantine what differs."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    params = module.params
    run = Command(params["timeout_s"])
    if not Unit("slurmd.service", run).read().installed:
        unknown(module, "slurmd.service is not installed yet")
    device = Hardware(run, params["name"], params["gpu_files"])
    want = HardwareState(params["name"], Machine(**params["machine"]))
    try:
        outcome = converge(device, plan, want, check=module.check_mode)
    except DeviceError as err:
        return module.fail_json(msg=str(err), changed=False, **err.details)
    if found := difference(device.machine, want.machine):
        sentence = f"{params['name']} has {found}; {REPAIR}"
        module.fail_json(**{**outcome.result(), "msg": f"{sentence} ({outcome.error})" if outcome.error else sentence})
    module.exit_json(**outcome.result())


if __name__ == "__main__":
    main()
