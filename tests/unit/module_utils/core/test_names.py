# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core import names as gate_names

ROOT = Path(__file__).resolve().parents[4]
HOME = ROOT / "module_utils/drawbridge/core/names.py"
NAMES = {key: value for key, value in vars(gate_names).items() if key.isupper()}
DISTINCT = {value for value in NAMES.values() if isinstance(value, str) and ("/" in value or ":" in value)}
SHIPPED = [
    path
    for folder in ("module_utils", "filter_plugins", "plugins/action", "plugins/plugin_utils", "roles")
    for path in (ROOT / folder).rglob("*.py")
    if path.resolve() != HOME
]


def test_the_program_on_the_hosts_reads_the_same_file() -> None:
    assert (ROOT / "roles/slurm_gate/files/gate/gate_names.py").resolve() == HOME


@pytest.mark.parametrize("key", ["TAINT", "LABEL", "JOB_LABEL", "GATED", "INFRA", "HOST_PATHS", "MAX_PODS", "FOR_JOBS"])
def test_a_key_is_one_that_kubernetes_takes(key: str) -> None:
    prefix, name = NAMES[key].split("/")
    assert re.fullmatch(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?", prefix)
    assert re.fullmatch(r"[A-Za-z0-9][-A-Za-z0-9_.]{0,62}", name)


def test_no_kubelet_may_write_the_label() -> None:
    """NodeRestriction keeps kubelets from labels with this prefix, and only from those."""
    assert NAMES["LABEL"].split("/")[0].endswith(".node-restriction.kubernetes.io")


def test_no_other_source_spells_a_name() -> None:
    for path in SHIPPED:
        strings = {node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)}
        assert not strings & DISTINCT, path
