# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a program imports is found without Python's parser, which finds the same."""

from __future__ import annotations

import ast

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.visit_source_io import source
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.program_imports import imported

from tests.conformance.tree import ROOT

PROGRAM = (ROOT / "roles/fabric_nic/files/drawbridge-nic.py").read_text()


def parsed(text: str, folder: list[str]) -> set[str]:
    """All paths that may be modules of Drawbridge which a text imports."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.ImportFrom) or not (node.level or str(node.module).startswith("drawbridge.")):
            continue
        base = folder[: len(folder) - node.level + 1] if node.level else []
        inner = (node.module or "").removeprefix("drawbridge.").split(".") if node.module else []
        found |= {"/".join([*base, *inner]), *("/".join([*base, *inner, name.name]) for name in node.names)}
    return {f"{path}.py" for path in found if source(f"{path}.py") is not None}


def test_a_program_gets_all_that_it_imports_and_nothing_else() -> None:
    found = imported(PROGRAM, source)
    wanted = parsed(PROGRAM, [])
    for path, text in found.items():
        assert text == source(path)
        wanted |= parsed(text, path.split("/")[:-1])
    assert set(found) == wanted
    assert {"core/converge.py", "nic/roce/io.py"} < wanted


def test_all_forms_of_an_import_are_found() -> None:
    sources = {
        "a/b.py": "from . import c as other, d\nfrom ..e import (\n    f,\n    g,\n)\n    from .h import i  # late\n",
        **dict.fromkeys(("a/c.py", "a/d.py", "e/f.py", "a/h.py", "e/unused.py"), ""),
        "e.py": "import os\nfrom os import path\nfrom drawbridge import away\n",
        "away.py": "",
    }
    assert list(imported("from drawbridge.a.b import x\n", sources.get)) == sorted(set(sources) - {"e/unused.py"})
