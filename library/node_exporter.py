#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Add flags to the site's node_exporter."""

DOCUMENTATION = r"""
module: node_exporter
short_description: Add flags to the node_exporter that the site has on a host
version_added: 0.1.0
description:
  - Puts a starter in front of the command of the site's unit, in a drop-in, and restarts the unit after a change. The
    starter, C(/usr/local/libexec/drawbridge/node-exporter) of O(files), adds flags to those of the site at each start.
  - It leaves out what would keep node_exporter from starting. These are flags of another release, and flags for which
    the site has its own. A later change of the site's flags or of its package needs no new run.
  - Reads back that the unit runs with the flags.
  - Installs, enables and starts nothing. A warning says if node_exporter is missing, is stopped, or is older than 1.11
    and lacks series. A warning also names flags that were left out.
author: Drawbridge contributors (@drawbridge)
extends_documentation_fragment: [drawbridge.drawbridge.view, drawbridge.drawbridge.files]
options:
  unit:
    description: The site's unit.
    type: str
    default: prometheus-node-exporter.service
  folder:
    description: Folder with files of metrics, which is made before each start.
    type: path
    default: /run/drawbridge/metrics
  flags:
    description: Flags that are given together, or left out together.
    type: list
    elements: dict
    default: []
    suboptions:
      least:
        description: The first release that takes them, such as C(1010) for 1.10.
        type: int
        default: 0
      below:
        description: The first release that does not take them.
        type: int
        default: 100000
      own:
        description: How flags of the site begin for which these are left out, without dashes.
        type: str
        required: true
      flags:
        description: The flags. They have no blanks.
        type: list
        elements: str
        required: true
attributes:
  check_mode:
    description: Predicts exactly.
    support: full
  diff_mode:
    description: Files with their contents, and the unit's state.
    support: full
"""

EXAMPLES = r"""
- name: Let node_exporter read pause frames of the rails
  drawbridge.drawbridge.node_exporter:
    flags:
      - least: 1003
        own: collector.ethtool
        flags:
          - --collector.ethtool
          - --collector.ethtool.device-include=^rail[0-7]$
          - --collector.ethtool.metrics-include=^[rt]x_prio3_pause$
    files:
      - path: /usr/local/libexec/drawbridge/node-exporter
        content: "{{ lookup('ansible.builtin.file', 'node-exporter', rstrip=false) }}"
        mode: "0755"
"""

RETURN = r"""
steps:
  description: Changes made, or predicted in check mode, as sentences.
  returned: always
  type: list
  elements: str
pending:
  description: Changes that can't be made now, each with the reason.
  returned: always
  type: list
  elements: str
done:
  description: Steps that were done.
  returned: failure
  type: list
  elements: str
left:
  description: Steps that were not done.
  returned: failure
  type: list
  elements: str
"""

from ..module_utils.drawbridge.core.module import main_of
from ..module_utils.drawbridge.telemetry.node_exporter_layer import NODE_EXPORTER


def main() -> None:
    """Run this layer."""
    main_of(NODE_EXPORTER)


if __name__ == "__main__":
    main()
