#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the action site_description."""

DOCUMENTATION = r"""
module: site_description
short_description: Write a proposed intent from what hosts have, or compare hosts with the intent
version_added: 0.1.0
description:
  - Without an intent, it writes an inventory and its group_vars/all into a folder. Equal hosts are one node class.
    What no host knows is a comment that begins with C(# QUESTION), and says where the answer is.
  - With an intent, it writes nothing. It names each difference between hosts and intent, and fails if there is one.
  - Runs once for all hosts of the play, in Ansible's own process.
author: Drawbridge contributors (@drawbridge)
options:
  answers:
    description: Name of the variable in which each host has its result of M(drawbridge.drawbridge.host_hardware).
    type: str
    required: true
  folder:
    description: Folder for the proposed intent. A relative path starts at the working directory.
    type: path
    required: true
attributes:
  check_mode:
    description: Shows the files and writes nothing.
    support: full
  diff_mode:
    description: Shows the files.
    support: full
"""

EXAMPLES = r"""
- name: Describe the site
  hosts: all:!switches
  gather_facts: false
  tasks:
    - name: Read what the host has
      drawbridge.drawbridge.host_hardware:
      register: host_hardware
    - name: Write an intent
      drawbridge.drawbridge.site_description:
        answers: host_hardware
        folder: ~/described
"""

RETURN = r"""
steps:
  description: Files that were written, or would be in check mode.
  returned: without an intent
  type: list
  elements: str
differences:
  description: Differences between hosts and intent, as sentences.
  returned: with an intent
  type: list
  elements: str
lost:
  description: Hosts that gave no answer, and why.
  returned: always
  type: dict
"""
