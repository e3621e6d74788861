#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the site_plan action; it runs in the controller's own process."""

DOCUMENTATION = r"""
module: site_plan
short_description: Write what a run of a playbook would place into a folder
version_added: 0.1.0
description:
  - Walks the plays, roles, variables and conditions of a playbook like a run, but contacts no host. The arguments that
    a run would give to its modules become files.
  - Writes the lines of switches, the commands of NICs and of Storage Scale, the files of all hosts, the accounting
    database as C(sacctmgr) lists it, manifests and the values of Helm releases.
  - Shows one host for all hosts that get the same. Nodes of one class get the same, and switches with the same platform
    and ports. A host for which the inventory sets a variable of a role has its own folder. The file C(index.yml) lists
    the hosts of each folder.
  - Secrets are not part of the intent. Where a run makes one, the plan says where it comes from.
  - Files that come with Drawbridge are named, not copied.
  - Fails for a module that it does not know, so that no artefact is left out.
  - Removes files of an earlier plan that no longer belong to it, and never touches another file.
  - Runs in Ansible's own process.
author: Drawbridge contributors
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
        folder: /tmp/plan
        playbook: site.yml
"""

RETURN = r"""
steps:
  description: Files that were written or removed, or would be.
  returned: always
  type: list
  elements: str
"""
