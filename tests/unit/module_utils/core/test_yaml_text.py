# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""PyYAML is right: each text is read as PyYAML reads it, with each scalar as a text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.yaml_text import document

ROOT = Path(__file__).parents[4]
READ = (
    "",
    "# nothing\n",
    "a: b # why\n\"c\" : 'it''s'\n'd': \"x\\n\\u00e9 #y\"\n",
    "a: https://[::1]:6443 \nb: 0-3,64-67  # cores\nc: x#y\nd: -1\ne: ~\nf:\n",
    "\ufeff%YAML 1.2\n# head\n---\na: 1\n...\nb: 2\n---\nc: 3\n",
    "a: 1\r\nb:\r\n  - c\r\n",
    "a:\n- b: 1\n  c:\n  - d\n  -\n    e: f\n- - g\n  - h\nz: []\n",
    "--- {a: [1, 'b c', {d: e}, ], \"f\":1, g, h: }\n",
    json.dumps({"a": {"b": ["c: d", "{}", "\"\\/\t"], "e": None}}, indent=1),
    "a: [b, # why\n  c]\nd: \"two\n  lines\n\n  more\"\n",
    "a: |\n  x: y\n   # z\n\nb: |-\n    p\n    q\nc: |+\n  r\n\n",
    "? a\n",
    "a: !!str b\n",
    "a: &x b\nc: *x\n",
    "a: >\n  b\n",
    "a: b\n  c\n",
    "a: b: c\n",
    "a:\n\tb: c\n",
    "a: 1\na: 2\n",
    "a: 'b\n",
    "a: {b: [c}\n",
    "a: 1\n - b\n",
    "- a\nb: c\n",
    "a: \"b\" c\n",
    "a: @b\n",
    "a: |\n    b\n  c\n",
)  # fmt: skip
REFUSED = 15
"""The last texts of the list are refused. Some are faults; PyYAML reads the others."""


@pytest.mark.parametrize("text", READ)
def test_a_text_is_read_as_pyyaml_reads_it_or_refused(text: str) -> None:
    if text in READ[-REFUSED:]:
        with pytest.raises(ValueError, match=r"line [0-9]+ of the document: "):
            document(text)
    else:
        assert document(text) == next(iter(yaml.load_all(text, yaml.BaseLoader)), "")


@pytest.mark.parametrize("path", sorted((ROOT / "inventories").rglob("*.yml")), ids=str)
def test_a_file_of_people_is_read_as_pyyaml_reads_it_or_refused(path: Path) -> None:
    text = path.read_text()
    try:
        found = document(text)
    except ValueError:
        return
    assert found == yaml.load(text, yaml.BaseLoader)
