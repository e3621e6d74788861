#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the switch_roce action; it runs in the controller's own process, never on a host."""

DOCUMENTATION = r"""
module: switch_roce
short_description: Make one traffic class lossless on a switch, as a transaction
version_added: 0.1.0
description:
  - Reads the running configuration, compares the lines that it owns with the profile, and makes one change of all that
    differs. Nothing else on the switch is touched, and a switch that is right is only read, over one SSH session.
  - A change is put in force under a timer of the switch, proven over a second SSH session by reading it back and by
    looking at what the hardware pauses, confirmed and saved. If any of this fails it is rolled back, by this action or,
    when the switch can't be reached any more, by the switch itself.
  - Owned on EOS are C(qos profile ROCE), the maps of the two DSCPs and of their traffic classes, the four lines of the
    PFC watchdog, and on O(profile.ports) the MTU, the service profile, the ECN lines of the class's queue, and lines
    for trust and flow control that would overrule the profile. C(switchport) and addresses belong to the site.
  - Lines of the maps that only restate the switch's default are neither needed nor added.
  - Saving saves the whole running configuration, also what others have changed and not saved.
  - It runs in Ansible's own process, and logs in with the variables C(ansible_host), C(ansible_port), C(ansible_user),
    C(ansible_ssh_private_key_file) or C(ansible_password), and with C(-F), C(-i) and C(UserKnownHostsFile) of
    C(ansible_ssh_common_args). A host key that is not known is refused.
author: Drawbridge contributors
extends_documentation_fragment: [drawbridge.drawbridge.intent.switch_profile]
options:
  may_flap_ports:
    description:
      - Allow changes that take links down for a moment. On EOS that is a new MTU.
      - A service profile that is new on a port takes buffers for headroom, which may drop single packets, but keeps
        the link up, and needs no consent.
    type: bool
    default: false
  answer_timeout_s:
    description: Seconds that the switch has for the answer to one line.
    type: int
    default: 60
  confirm_timeout_s:
    description: Seconds after which the switch rolls a change back that was not confirmed.
    type: int
    default: 300
  settle_timeout_s:
    description: Seconds that the hardware has to do what the configuration says.
    type: int
    default: 10
  variables:
    description: The variables that give these options their values, by option, for messages that say what to set.
    type: dict
    default: {}
attributes:
  check_mode:
    description: Predicts the steps of the next run, refusals included.
    support: full
  diff_mode:
    description: The owned lines before and after, as the switch prints them.
    support: full
notes:
  - An open configuration session of somebody else is a refusal as soon as something has to change, because its commit
    would replace the whole configuration. What earlier runs of this action left open is cleaned up. A change of theirs
    that is still in force and unconfirmed is proven and confirmed if it is right; else the change waits until the
    switch has rolled it back.
"""

EXAMPLES = r"""
- name: Make the class lossless on every port of the fabric
  drawbridge.drawbridge.switch_roce:
    profile: "{{ drawbridge_fabric | drawbridge.drawbridge.switch_view(inventory_hostname) }}"
    may_flap_ports: true
"""

RETURN = r"""
steps:
  description: What was done, or would be done in check mode, as sentences; ports that need the same are one sentence.
  returned: always, unless the switch could not be read
  type: list
  elements: str
  sample:
    - "interface Ethernet1-20: mtu 9214; service-profile ROCE; uc-tx-queue 3; random-detect ecn count"
    - save the running configuration, so that a restart keeps it
pending:
  description: Changes that wait until the switch has rolled back what an earlier run left unconfirmed.
  returned: always, unless the switch could not be read
  type: list
  elements: str
done:
  description: Steps that were done before a failure and stayed.
  returned: on failure
  type: list
  elements: str
left:
  description: Steps that a failure left undone.
  returned: on failure
  type: list
  elements: str
"""
