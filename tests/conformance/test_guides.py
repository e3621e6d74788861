# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a guide tells people to write is accepted as it stands there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load

from tests.conformance.test_options import DECLARED, OPTIONS, TOP
from tests.conformance.tree import ROLES, ROOT, relative
from tests.unit.module_utils.site.test_refused import site

PAGE = ROOT / "docs/guides/partitions-qos-accounts.md"
KEY = "drawbridge_slurm"
BLOCKS: list[dict[str, Any]] = [
    yaml.safe_load(text) for text in re.findall(r"^```yaml\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
]
WHOLE = [block for block in BLOCKS if "cluster" in block[KEY]]


GUIDES = sorted((ROOT / "docs").rglob("*.md"))
PLAYED = re.compile(r"ansible-playbook\b.*playbooks/.*")


@pytest.mark.parametrize("path", GUIDES, ids=relative)
def test_commands_name_the_sites_inventory(path: Path) -> None:
    """Without one they would go to the lab, which ansible.cfg names."""
    lines = [line.strip() for line in path.read_text().splitlines() if PLAYED.search(line)]
    assert [line for line in lines if ".venv/bin/ansible-playbook -i inventories/mine " not in line] == []


@pytest.mark.parametrize("path", [ROOT / "README.md", *GUIDES, *(role / "README.md" for role in ROLES)], ids=relative)
def test_commands_name_playbooks_and_options_that_exist(path: Path) -> None:
    options = {(name, option.name) for option in OPTIONS for name in option.playbooks}
    for command in PLAYED.findall(path.read_text().replace("\\\n", "")):
        [name] = re.findall(r"playbooks/(\w+)\.yml", command)
        assert name in {playbook.stem for playbook in TOP}
        typed = re.findall(r"(?:-e|--extra-vars) *'?(\w+)=", command)
        assert [word for word in typed if word not in DECLARED and (name, word) not in options] == []


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: "+".join(block[KEY]))
def test_slurm_is_described_as_it_may_be(block: dict[str, Any]) -> None:
    """The rest of the site is the example's; a part joins the page's own description."""
    whole = {} if block in WHOLE else WHOLE[0][KEY]
    load({**site("example-rails"), KEY: {**whole, **block[KEY]}})
