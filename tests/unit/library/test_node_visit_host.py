# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Many layers in one process; each layer's own cases run in a visit too (ways.py)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.testing import patch_module_args
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.visit_source_io import source
from ansible_collections.drawbridge.drawbridge.plugins.modules import node_visit_host

SECRET = "c2VjcmV0LW9mLXRoaXMtdGVzdA=="


def visited(capfd: Any, check: bool = False, **args: Any) -> dict[str, Any]:
    with (
        patch_module_args({**args, "_ansible_check_mode": check, "_ansible_inject_invocation": True}),
        pytest.raises(SystemExit),
    ):
        node_visit_host.main()
    return json.loads(capfd.readouterr().out)


def write(path: Path, content: str, **more: Any) -> dict[str, Any]:
    files = [{"path": str(path), "content": content, "owner": path.parent.owner(), "group": path.parent.group()}]
    options = {"name": "program", "directory": str(path.parent), "files": files}
    return {"layer": "host_files", "options": options, **more}


def test_layers_share_a_process_and_a_failure_stops_what_needs_it(tmp_path: Path, capfd: Any) -> None:
    layers = [
        write(tmp_path / "one", "1"),
        write(tmp_path / "two", "2", needs=[0]) | {"options": {"name": "no directory is given"}},
        write(tmp_path / "three", "3", needs=[1]),
        write(tmp_path / "four", "4", needs=[0]),
    ]
    found = visited(capfd, layers=layers)
    assert [it["state"] for it in found["layers"]] == ["done", "failed", "stopped", "done"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["four", "one"]
    assert found["changed"]
    again = visited(capfd, layers=[layers[0], layers[3] | {"needs": []}])
    assert not again["changed"]


def test_secrets_show_nowhere(capfd: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    logged: list[str] = []
    monkeypatch.setattr(AnsibleModule, "log", lambda self, message, **_: logged.append(message))
    layers = [{"layer": "slurm_munge_key", "options": {}}]
    found = visited(capfd, check=True, layers=layers, secrets={"0": {"key": SECRET}})
    assert found["layers"][0]["state"] in ("done", "failed")
    assert SECRET not in json.dumps(found) + "".join(logged)
    assert logged == ["layers: slurm_munge_key"], "and no options, which are whole programs"
    assert found["invocation"] == {"module_args": {"layers": ["slurm_munge_key"]}}


def test_long_texts_come_apart_and_sources_from_the_visit_itself(tmp_path: Path, capfd: Any) -> None:
    written = write(tmp_path / "one", "drawbridge-text:1")
    written["options"]["files"].append({**written["options"]["files"][0], "path": str(tmp_path / "plan.py")})
    written["options"]["files"][1]["content"] = "drawbridge-source:nic/plan.py"
    found = visited(capfd, layers=[written], texts={"drawbridge-text:1": "long"})
    assert found["changed"]
    assert (tmp_path / "one").read_text() == "long"
    assert (tmp_path / "plan.py").read_text() == source("nic/plan.py")
