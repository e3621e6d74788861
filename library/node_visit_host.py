#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The module of the action node_visit on the host: many layers in one process."""

DOCUMENTATION = r"""
module: node_visit_host
short_description: Run many layers of a node in one module run
version_added: 0.1.0
description:
  - Runs modules of Drawbridge one after the other in one process. Each does and returns what it would do alone.
  - Do not call it directly. M(drawbridge.drawbridge.node_visit) does, with the layers of a play.
author: Drawbridge contributors (@drawbridge)
options:
  layers:
    description: The layers in their order.
    type: list
    elements: dict
    required: true
    suboptions:
      layer:
        description: Name of the module.
        type: str
        required: true
      options:
        description: The module's options without secrets.
        type: dict
        required: true
      needs:
        description: Positions of earlier layers that must be in effect.
        type: list
        elements: int
        default: []
      predict:
        description: Only predict; if there is something to do, the layer waits for the controller.
        type: bool
        default: false
      postponed:
        description: Why the layer's steps must wait for a later run. It only predicts then.
        type: str
        default: ""
      leaves:
        description: Role that the layer takes away. On a host where that role placed nothing, the layer does nothing.
        type: str
        default: ""
  secrets:
    description: Secret options, by the position of their layer.
    type: dict
    default: {}
  texts:
    description: Long texts of the options, by the words that stand for them there.
    type: dict
    default: {}
attributes:
  check_mode:
    description: Every layer predicts.
    support: full
  diff_mode:
    description: The diff of each layer.
    support: full
"""

EXAMPLES = r"""
- name: Run two layers
  drawbridge.drawbridge.node_visit_host:
    layers:
      - layer: mm_mount
        options:
          filesystems:
            - {device: fs1, mount: /gpfs/fs1}
      - layer: slurm_packages
        options:
          names: [slurmd]
"""

RETURN = r"""
layers:
  description: State and result of each layer.
  returned: always
  type: list
  elements: dict
"""

from dataclasses import asdict

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.drawbridge.site.visit import Call, visit
from ..module_utils.drawbridge.site.visit_source_io import source
from ..module_utils.drawbridge.site.visit_texts import put_back

ARGUMENT_SPEC = {
    "layers": {
        "type": "list",
        "elements": "dict",
        "required": True,
        "options": {
            "layer": {"type": "str", "required": True},
            "options": {"type": "dict", "required": True},
            "needs": {"type": "list", "elements": "int", "default": []},
            "predict": {"type": "bool", "default": False},
            "postponed": {"type": "str", "default": ""},
            "leaves": {"type": "str", "default": ""},
        },
    },
    "secrets": {"type": "dict", "default": {}, "no_log": True},
    "texts": {"type": "dict", "default": {}},
}


def main() -> None:
    """Run the layers. Their options are whole programs, so the journal gets their names only."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True, no_log=True)
    secrets, texts = module.params["secrets"], module.params["texts"]
    calls = [
        Call(
            it["layer"],
            {**put_back(it["options"], source, texts), **secrets.get(str(at), {})},
            *(it["needs"], it["predict"], it["postponed"], it["leaves"]),
        )
        for at, it in enumerate(module.params["layers"])
    ]
    module.no_log = False
    module.log(f"layers: {' '.join(call.layer for call in calls)}")
    seen = visit(calls, module.check_mode)
    changed = any(it.result.get("changed", False) for it in seen)
    names = {"module_args": {"layers": [call.layer for call in calls]}}
    module.exit_json(changed=changed, layers=[asdict(it) for it in seen], invocation=names)


if __name__ == "__main__":
    main()
