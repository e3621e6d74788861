# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site import visit
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.visit_source_io import source
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.program_imports import imported

ROOT = Path(__file__).resolve().parents[4]
LOADED = f"import sys, {visit.__name__}; print(*sorted(sys.modules), sep='\\n')"


def test_a_source_is_found_by_its_path() -> None:
    assert source("nic/plan.py") == (ROOT / "module_utils/drawbridge/nic/plan.py").read_text()
    assert source("nic/nothing.py") is None


def test_a_visit_carries_the_program_for_the_boot_of_a_node() -> None:
    """Ansible packs what the visit imports; this text is not sent a second time."""
    words = [sys.executable, "-c", LOADED]
    loaded = subprocess.run(words, check=True, capture_output=True, text=True, cwd=ROOT / "collections").stdout.split()
    package = visit.__name__.rsplit(".", 2)[0]
    sent = imported((ROOT / "roles/fabric_nic/files/drawbridge-nic.py").read_text(), source)
    assert "nic/io.py" in sent
    assert [path for path in sent if f"{package}.{path.removesuffix('.py').replace('/', '.')}" not in loaded] == []
