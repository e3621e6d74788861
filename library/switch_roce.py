#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the switch_roce action; it runs in the controller's own process, never on a host."""

DOCUMENTATION = r"""
module: switch_roce
short_description: Make one traffic class lossless on a switch, as a transaction
version_added: 0.1.0
description:
  - Reads the switch's release first, and refuses one that it was not written for.
  - Reads the running configuration over one SSH session, compares the lines that it owns with the profile, and puts all
    differences into one change.
  - Steps that interrupt no traffic are one change. Then follow ports of nodes, and O(links) last.
  - A change is in force under a timer of the switch until a second SSH session has proven it. The proof reads the
    configuration back and checks which priorities the hardware pauses. Then the change is confirmed and saved.
  - If any of this fails, the action rolls the change back. If it can't reach the switch, the switch does so itself.
  - On EOS it owns C(qos profile ROCE), the maps of both DSCPs and of their traffic classes, and the four lines of the
    PFC watchdog. On O(profile.ports) it owns the MTU, the service profile, the ECN lines of the lossless queue, and
    lines that would overrule the profile. C(switchport) and addresses belong to the site.
  - On EOS it does not add lines of the maps that only restate the switch's default.
  - On NVUE it owns the RoCE mode, PFC that differs from it, the mapping of the classes' DSCPs, their queues and shares.
    It owns the ECN thresholds, the watchdog's two times, and fields of the ECMP hash that are off. It owns the cable
    length and the traffic pools of RoCE mode only if the profile has them. On O(profile.ports) it owns the MTU, the
    watchdog, and profiles that would overrule the global one.
  - NVUE's watchdog restores a queue after one polling interval without pause frames; it has no C(restore_ms).
  - On SONiC it owns its maps, schedulers and WRED profile, all named C(ROCE), and the watchdog's interval. On
    O(profile.ports) it owns the MTU, the maps and PFC, the watchdog, and queues of classes and of other traffic.
  - On Junos it owns all class of service that is named C(ROCE). On O(profile.ports) it owns the MTU, what binds these
    objects, and statements that would overrule them. It takes ECN thresholds in percent of a queue's buffer.
  - On OS10 it owns maps, policies, classes and the WRED profile named C(ROCE). On O(profile.ports) it owns the MTU,
    flow control, PFC, ETS, and the maps and policies of the port. It configures no watchdog there.
  - OS10 has no timer. A change that a dead run left in force and unsaved is proven by the next run, or rolled back to
    the startup configuration.
  - NVUE keeps pending edits of each login. A change detaches those of its own login first; NVUE keeps their revision.
  - It saves the whole running configuration, including unsaved changes of other users.
  - It runs in Ansible's own process. It logs in with C(ansible_host), C(ansible_port), C(ansible_user), and
    C(ansible_ssh_private_key_file) or C(ansible_password).
  - Of C(ansible_ssh_common_args) it uses C(-F), C(-i) and C(UserKnownHostsFile). It refuses an unknown host key.
author: Drawbridge contributors (@drawbridge)
extends_documentation_fragment: [drawbridge.drawbridge.intent.switch_profile]
options:
  behind:
    description:
      - Hostlist of the nodes whose traffic a port carries, by port. A port that is missing here counts as used.
      - A step that changes the whole switch concerns all ports.
    type: dict
    default: {}
  links:
    description: Ports that go to other switches. They change after ports of nodes.
    type: list
    elements: str
    default: []
  node_use:
    description: C(use) of M(drawbridge.drawbridge.slurm_node_use). Without it no node counts as drained.
    type: dict
    default: {}
  phase:
    description:
      - Steps of this run. V(quiet) leaves steps that interrupt traffic of nodes in use to V(interrupting), if
        O(may_flap_ports) allows them. V(all) makes both.
    type: str
    choices: [all, quiet, interrupting]
    default: all
  may_flap_ports:
    description:
      - Allow changes that interrupt traffic, although nodes behind the ports are in use or are not known. Without it
        such a change is pending until O(node_use) says that Slurm has drained the nodes. Other changes go on.
      - On EOS that is a new MTU, or a change of PFC on a port. An edit of a service profile that exists counts too,
        because it moves the buffers of all its ports. On NVUE it is a new MTU, and a change of RoCE mode or PFC.
        On SONiC it is also a change of a port's maps, PFC or queues. On Junos it is a new MTU, and a change of PFC,
        flow control or the queue of an existing class. On OS10 it is also an edit of the PFC policy.
    type: bool
    default: false
  may_try_release:
    description:
      - Allow a release that is newer than those that Drawbridge was written for, or that has no number. Forms of
        commands are then those of the newest one. A release that is too old stays refused.
    type: bool
    default: false
  answer_timeout_s:
    description:
      - Seconds in which the switch must answer one line. C(nv config apply) and C(commit) of Junos may take five times
        as long.
    type: int
    default: 60
  confirm_timeout_s:
    description: Seconds after which the switch rolls back an unconfirmed change. Junos rounds up to whole minutes.
    type: int
    default: 300
  settle_timeout_s:
    description: Seconds in which the hardware must follow the configuration.
    type: int
    default: 10
  variables:
    description: Names of the variables that set these options, by option, for error messages.
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
  - While another user's configuration session is open, a change is refused, because its commit would replace the whole
    configuration.
  - Sessions that earlier runs of this action left open are aborted. An unconfirmed change of theirs is proven and
    confirmed if it is right. Otherwise the new change waits until the switch has rolled it back.
"""

EXAMPLES = r"""
- name: Make the class lossless on every port of the fabric
  drawbridge.drawbridge.switch_roce:
    profile: "{{ lookup('drawbridge.drawbridge.view', 'switch', chosen='') }}"
    may_flap_ports: true
"""

RETURN = r"""
steps:
  description: Changes made, or predicted in check mode, as sentences; ports with the same change are one sentence.
  returned: always, unless the switch could not be read
  type: list
  elements: str
  sample:
    - "interface Ethernet1-20: mtu 9214; service-profile ROCE; uc-tx-queue 3; random-detect ecn count"
    - save the running configuration, so that a restart keeps it
pending:
  description:
    - Changes that wait, each with the reason. Nodes behind the ports are in use, or the switch must first roll back an
      unconfirmed change of an earlier run.
  returned: always, unless the switch could not be read
  type: list
  elements: str
interrupting:
  description: Steps that O(phase=quiet) leaves to O(phase=interrupting), as sentences.
  returned: on success
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
