#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Read what a host has, as data."""

DOCUMENTATION = r"""
module: host_hardware
short_description: Read CPUs, memory, GPUs, NICs, LLDP neighbours, Slurm, kubelet and mounts of a host
version_added: 0.1.0
description:
  - Reads the facts from which P(drawbridge.drawbridge.site_description#module) writes an intent, in one visit.
  - Each tool has a time limit. A tool that is missing or fails is named in C(missing) and does not stop the others.
  - slurm.conf and the files that it includes may contain secrets. Only the cluster, the hosts of slurmctld and
    slurmdbd, the partitions, the types of GPUs and the names of cloud nodes are returned.
  - Of the kubeconfig of the running kubelet, only the address and the CA file of the API server are returned.
author: Drawbridge contributors (@drawbridge)
options:
  timeout_s:
    description: Time limit of each tool in seconds.
    type: int
    default: 10
attributes:
  check_mode:
    description: It reads in check mode too.
    support: full
  diff_mode:
    description: There are no changes.
    support: full
"""

EXAMPLES = r"""
- name: Read the hardware of a host
  drawbridge.drawbridge.host_hardware:
  register: host_hardware
"""

RETURN = r"""
hardware:
  description: The facts. C(missing) has what could not be read, and why.
  returned: success
  type: dict
  sample:
    os: debian-13
    cpus:
      sockets: 2
      cores_per_socket: 32
      threads_per_core: 2
      numa_nodes: 2
      numa_without_cpus: ""
      numa_without_memory: ""
      l3_caches: 2
      cpu_numbering: together
    memory_mib: 2064384
    gpus: [{pci: "0000:1b:00.0", name: NVIDIA H100 80GB HBM3, vendor: nvidia, numa: 0, minor: 0}]
    nics: [{netdev: rail0, rdma: mlx5_0, pci: "0000:18:00.0", device: "15b3:1021", numa: 0, mtu: 9000, speed_mbps: 0}]
    neighbours: {rail0: [leaf1, Ethernet1]}
    mounts: [{source: fs1, mount: /gpfs/fs1, type: gpfs}]
    slurm:
      path: /etc/slurm/slurm.conf
      cluster: old
      controller: ctl
      accounting: db1
      partitions: [{name: batch, nodes: "gpu[01-04]", default: true}]
      gpu_types: [{nodes: "gpu[01-04]", type: h100}]
      cloud: ""
    kubelet: {api_server: "https://10.0.0.1:6443", ca_file: /etc/kubernetes/pki/ca.crt}
    missing: []
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.drawbridge.core.command import Command
from ..module_utils.drawbridge.site.describe_io import Host

ARGUMENT_SPEC = {"timeout_s": {"type": "int", "default": 10}}


def main() -> None:
    """Read this host."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    module.exit_json(changed=False, hardware=Host(Command(module.params["timeout_s"])).read())


if __name__ == "__main__":
    main()
