# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.host_files.layer import HOST_FILES
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.layer import validated


def test_what_a_program_makes_leaves_with_it() -> None:
    options = {"name": "x", "directory": "/lib/x", "program": {"a": ""}, "files": [{"path": "/etc/x", "content": ""}]}
    placed = HOST_FILES.places(validated(HOST_FILES.spec, {**options, "makes": ["/var/lib/x"]}))
    assert placed == [("file", "/etc/x"), ("file", "/var/lib/x"), ("tree", "/lib/x")]
