#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the action site_plan."""

DOCUMENTATION = r"""
module: site_plan
short_description: Write the files and commands of a playbook's run into a folder
version_added: 0.1.0
description:
  - Evaluates plays, roles, variables and conditions like a run, but contacts no host. It writes the arguments of the
    modules to files.
  - Writes lines of switches, commands of NICs and Storage Scale, and files of all hosts. It writes the accounting
    database in the words of C(sacctmgr), manifests, and values of Helm releases.
  - Shows one host for all hosts that get the same, such as nodes of one class. A host with a role variable of its own
    has its own folder. The file C(index.yml) lists the hosts of each folder.
  - Names the source of each secret, and never its value.
  - Names the files that come with Drawbridge instead of copying them.
  - Fails for a module that it can't show, so that the plan is complete.
  - Removes files of an earlier plan that are not part of the new plan, and never touches other files.
  - Runs in Ansible's own process.
author: Drawbridge contributors (@drawbridge)
options:
  folder:
    description: Folder for the plan. A relative path starts at the working directory.
    type: path
    required: true
  playbook:
    description: Path of the playbook. A relative path starts at the folder of the playbook that has this task.
    type: path
    required: true
attributes:
  check_mode:
    description: Shows the changes of the folder and writes nothing.
    support: full
  diff_mode:
    description: Shows the files.
    support: full
"""

EXAMPLES = r"""
- name: Show what a run would place
  hosts: controllers
  gather_facts: false
  tasks:
    - name: Write it into a folder
      drawbridge.drawbridge.site_plan:
        folder: ~/plan
        playbook: site.yml
"""

RETURN = r"""
steps:
  description: Files that were written or removed, or would be in check mode.
  returned: always
  type: list
  elements: str
"""
