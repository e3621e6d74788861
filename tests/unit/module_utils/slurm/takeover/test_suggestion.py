# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover.suggestion import intent

from tests.unit.module_utils.slurm.takeover.test_report import LOST


def test_the_keys_that_keep_lines_are_yaml_for_the_intent() -> None:
    assert yaml.safe_load(intent(LOST)) == {
        "drawbridge_slurm": {
            "settings": {"MailProg": "/opt/mail"},
            "scripts": {"prolog": [{"name": "20-site", "path": "/opt/prolog"}]},
            "partitions": [
                {"name": "debug", "default": True, "allow_qos": ["a", "b"], "settings": {"LLN": "YES"}},
            ],
            "qos_of_site": ["a", "b"],
        }
    }
