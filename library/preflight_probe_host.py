#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Read what preflight compares, on one host."""

DOCUMENTATION = r"""
module: preflight_probe_host
short_description: Read names, ports, users, kernel, disks, GPUs and NICs of a host in one visit
version_added: 0.1.0
description:
  - Runs all probes side by side and changes nothing.
  - Each probe has a time limit, and the module ends within 20 seconds.
  - A probe that fails, or gives no answer in time, is named in the result and does not stop the others.
  - M(drawbridge.drawbridge.preflight_probe) runs it, and M(drawbridge.drawbridge.preflight_verdict) judges the answers.
author: Drawbridge contributors (@drawbridge)
options:
  want:
    description: Names, ports and devices of the host, from view C(preflight) of P(drawbridge.drawbridge.view#filter).
    type: dict
    required: true
attributes:
  check_mode:
    description: It reads in check mode too.
    support: full
  diff_mode:
    description: There are no changes.
    support: full
"""

EXAMPLES = r"""
- name: Read the facts of a host
  drawbridge.drawbridge.preflight_probe_host:
    want: "{{ preflight_view }}"
"""

RETURN = r"""
facts:
  description: Answers by the names of the probes. C(silent) has the probes without an answer, and why.
  returned: success
  type: dict
  sample: {users: {slurm: [64030, 64030]}, silent: {}}
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.drawbridge.preflight.io import probe

ARGUMENT_SPEC = {"want": {"type": "dict", "required": True}}


def main() -> None:
    """Probe this host."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    module.exit_json(changed=False, facts=probe(module.params["want"]))


if __name__ == "__main__":
    main()
