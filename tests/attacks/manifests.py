# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The role's manifests as Ansible renders them, without Ansible."""

from __future__ import annotations

import json
from typing import Any

import jinja2
import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.gate_view import names
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import part

from tests.conformance.tree import ROOT
from tests.unit.module_utils.site.test_refused import site

TEMPLATES = ROOT / "roles/slurm_gate/templates/manifests"
RIGHTS = yaml.safe_load((ROOT / "roles/slurm_gate/vars/main.yml").read_text())["__slurm_gate_manifests"]

Json = dict[str, Any]


def sources() -> dict[str, str]:
    """The templates' texts."""
    return {path.name: path.read_text() for path in TEMPLATES.glob("*.j2")}


def rendered(texts: dict[str, str] | None = None) -> list[Json]:
    """Every object that the role applies whatever the site, in its order; also from templates with a defect."""
    loader = jinja2.DictLoader(texts or sources())
    environment = jinja2.Environment(loader=loader, trim_blocks=True, undefined=jinja2.StrictUndefined)
    environment.filters["to_json"] = json.dumps
    described = site("lab")
    called = names(part("kube", described["drawbridge_kube"]), part("nodes", described["drawbridge_nodes"]))
    found = []
    for file in RIGHTS:
        text = environment.get_template(file.removeprefix("manifests/")).render(names=called)
        found += [document for document in yaml.safe_load_all(text) if document]
    return found
