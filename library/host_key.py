#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the action plugin host_key."""

DOCUMENTATION = r"""
module: host_key
short_description: Trust the new SSH host key of a reinstalled host or a replaced switch
version_added: 0.1.0
description:
  - Asks the host for its keys and compares them with a fingerprint that a person read on its console. If none has it,
    nothing is written.
  - The key with the fingerprint becomes the host's only one in known_hosts, by inventory name and C(ansible_host).
  - The file is that of C(UserKnownHostsFile) in C(ansible_ssh_common_args) or C(ansible_ssh_extra_args). By default it
    is C(~/.ssh/known_hosts).
  - An action plugin, in Ansible's own process. It connects to the SSH port of C(ansible_host) without a login.
author: Drawbridge contributors (@drawbridge)
options:
  fingerprint:
    description: The fingerprint as C(ssh-keygen -lf) prints it, with C(SHA256:).
    type: str
    required: true
attributes:
  check_mode:
    description: Predicts exactly.
    support: full
  diff_mode:
    description: Shows the host's keys by type and fingerprint.
    support: full
"""

EXAMPLES = r"""
- name: Trust the new host key of gpu04
  drawbridge.drawbridge.host_key:
    fingerprint: SHA256:mVPwvezndPv/ARoIadVY98vAC0g+P/5633yTC4d/wXE
"""

RETURN = r"""
steps:
  description: Changes made, or predicted in check mode, as sentences.
  returned: always
  type: list
  elements: str
pending:
  description: Always empty.
  returned: always
  type: list
  elements: str
"""
