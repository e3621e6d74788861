# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Options of the action kubelet_config and of its module on the host."""


class ModuleDocFragment:
    """Shared options and attributes."""

    DOCUMENTATION = r"""
options:
  config:
    description:
      - Keys of KubeletConfiguration about CPUs, memory and topology. With O(join=site) also C(registerWithTaints),
        which must register the node closed. Lists replace those of earlier files; mappings are merged.
    type: dict
    required: true
  path:
    description: The drop-in, a file that ends in C(.conf) in the kubelet's C(--config-dir).
    type: path
    default: /etc/kubernetes/kubelet.conf.d/50-drawbridge.conf
  main_config:
    description: The kubelet's C(--config); it is only read.
    type: path
    default: /var/lib/kubelet/config.yaml
  state_dir:
    description: The kubelet's C(--root-dir), which holds its managers' state files.
    type: path
    default: /var/lib/kubelet
  certificate:
    description: The kubelet's client certificate and key, one PEM file. A host without this file is no member.
    type: path
    default: /var/lib/kubelet/pki/kubelet-client-current.pem
  api_server:
    description: URL of the API server, as the host reaches it.
    type: str
    required: true
  ca_file:
    description: CA certificate of the API server, a path on the host.
    type: path
    required: true
  slurm_node:
    description: The node's name in Slurm and Kubernetes. Slurm is queried only where its commands are installed.
    type: str
    required: true
  start_timeout_s:
    description: Time limit for a healthy kubelet and a Ready node, in seconds.
    type: int
    default: 60
  join:
    description:
      - Who starts the kubelet. With V(site), a kubelet without the right C(--config-dir) is refused, unless
        O(may_add_config_dir) is set. Otherwise role C(kube_node) starts it with the right one.
    type: str
    choices: [drawbridge, site]
    default: drawbridge
  may_add_config_dir:
    description:
      - With O(join=site), add C(--config-dir) to a kubelet that kubeadm's unit starts. A drop-in of the unit does it;
        the site's files do not change. The kubelet restarts, while the gate has closed the node and Slurm has drained
        it.
    type: bool
    default: false
  variables:
    description: Names of the variables that set these options, for messages, such as C(config) and C(main_config).
    type: dict
    default: {}
attributes:
  check_mode:
    description: Predicts exactly. Only the real run lets the kubelet check new content.
    support: full
  diff_mode:
    description: Shows the drop-in and the daemon.
    support: full
"""
