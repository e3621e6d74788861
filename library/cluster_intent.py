#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the action cluster_intent."""

DOCUMENTATION = r"""
module: cluster_intent
short_description: Refuse an intent that contradicts itself or the inventory
version_added: 0.1.0
description:
  - Checks the intent, all of its variables C(drawbridge_*), before any host is contacted. One run reports all faults.
  - Refuses inventory groups that have other hosts than the intent.
  - Refuses C(drawbridge_) variables outside of C(group_vars/all).
  - Refuses role variables with a name or value that no role accepts. It reads the inventory, files beside it and the
    playbooks, variables of the play and C(--extra-vars). It checks each value once, however many hosts have it.
  - Refuses names that begin with C(drawbridge_) and that nothing reads, wherever they are set.
  - Refuses an inventory without hosts, sources that are missing or are none, and tags that would leave the run out.
  - Refuses variables of this run that begin as an option of a playbook does, but are none, and words of
    C(--extra-vars) that set no variable.
  - Refuses a variable of the intent that two files of C(group_vars/all) set, and nodes or switches with one address.
  - Runs in Ansible's own process.
author: Drawbridge contributors (@drawbridge)
options:
  whole_site:
    description: The next plays need the controllers, so C(--limit) must not leave them out.
    type: bool
    default: false
  onboard:
    description: Command that onboards nodes, for the error about C(--limit). C({nodes}) in it becomes a hostlist.
    type: str
    default: ""
  nodes:
    description: >-
      Hostlist of the nodes of the next plays. Each node must be in the intent and listed once, and C(--limit) must not
      leave out a host that these nodes need.
    type: raw
  part:
    description: >-
      The inventory may lack hosts of the intent, as that of a job slice does. Unknown hosts are still refused.
    type: bool
    default: false
  playbook:
    description: >-
      Name of the playbook of Drawbridge that runs, whose options are checked. Names of options from before are refused.
    type: str
    default: ""
  only_inventory:
    description: Checks that there is an inventory, and that no tag leaves the run out, but not the intent.
    type: bool
    default: false
  configures:
    description: >-
      Groups of the inventory that the next plays configure. C(--limit) must leave a host of one of them. Ansible would
      end with success otherwise.
    type: list
    elements: str
    default: []
attributes:
  check_mode:
    description: Never changes anything.
    support: full
  diff_mode:
    description: Has no diff.
    support: none
"""

EXAMPLES = r"""
- name: Refuse an intent that contradicts itself
  drawbridge.drawbridge.cluster_intent:
    whole_site: true
"""

RETURN = r"""
faults:
  description: All faults, each as one sentence with key, value, reason and repair.
  returned: when the intent is refused
  type: list
  elements: str
unchecked:
  description: >-
    Checks that Drawbridge does not make because the intent lacks keys, such as C(drawbridge_fabric.cabling.links).
  returned: when the intent is accepted
  type: list
  elements: str
lacking:
  description: Keys of the intent that have no effect on some switches, because their system can't be given them.
  returned: when the intent is accepted
  type: list
  elements: str
"""
