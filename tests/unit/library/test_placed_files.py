# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The last layer of a visit, on a folder that stands for a host."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.layer import run, validated
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.placed import io, plan
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site import placed_layer
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.placed_layer import (
    PLACED_FILES,
    note,
    recorded,
)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(io, "RUNNING", str(tmp_path / "no-systemd"))
    monkeypatch.setattr(placed_layer, "EARLIER", {})
    return tmp_path


@pytest.fixture
def options(root: Path) -> Any:
    def made(**given: Any) -> dict[str, Any]:
        own = {"busy_lock": "/nonexistent", "record": str(root / "placed.json")}
        return validated(PLACED_FILES.spec, {**own, **given})

    return made


def record(root: Path) -> dict[str, list[list[str]]]:
    return json.loads((root / "placed.json").read_text())


def placed(root: Path, *names: str) -> list[list[str]]:
    for name in names:
        (root / name).write_text("x\n")
    return [["file", str(root / name)] for name in names]


def test_what_a_run_places_is_noted_before_and_left_over_later(root: Path, options: Any) -> None:
    one, two = placed(root, "one", "two")
    note(options(placed={"nic": [one, two]}))
    assert (record(root), recorded(options())) == ({"nic": [one, two]}, {"nic"})
    fewer = options(placed={"nic": [one]})
    assert run(PLACED_FILES, fewer, check=True)["steps"] == [f"remove {root}/two"]
    assert (root / "two").exists()
    assert run(PLACED_FILES, fewer, check=False)["changed"]
    assert not (root / "two").exists()
    assert record(root) == {"nic": [one]}
    assert not run(PLACED_FILES, fewer, check=False)["changed"]


def test_a_role_that_left_is_forgotten_also_if_another_layer_removed_its_files(root: Path, options: Any) -> None:
    note(options(placed={"nic": placed(root, "one")}))
    (root / "one").unlink()
    left = options(gone=["nic"])
    assert not run(PLACED_FILES, left, check=True)["changed"]
    assert recorded(options()) == {"nic"}
    assert not run(PLACED_FILES, left, check=False)["changed"]
    assert (record(root), recorded(options())) == ({}, set())


def test_a_role_that_places_nothing_any_more_leaves_nothing(root: Path, options: Any) -> None:
    note(options(placed={"nfs": placed(root, "one")}))
    assert run(PLACED_FILES, options(placed={"nfs": []}), check=False)["steps"] == [f"remove {root}/one"]


def test_nothing_is_written_where_nothing_is_new(root: Path, options: Any) -> None:
    note(options(placed={}, gone=["nic"]))
    assert not (root / "placed.json").exists()


def test_a_hook_stays_while_a_script_of_slurm_runs(root: Path, options: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "HOOKS", str(root))
    monkeypatch.setattr(placed_layer, "held", lambda lock: f"a script holds {lock}")
    note(options(placed={"nic": placed(root, "hook")}))
    result = run(PLACED_FILES, options(gone=["nic"]), check=False)
    assert (result["changed"], (root / "hook").exists()) == (False, True)
    assert result["pending"] == [f"remove {root}/hook: a script holds /nonexistent"]


def test_a_path_that_no_role_places_is_refused(root: Path, options: Any) -> None:
    with pytest.raises(DeviceError, match="placed is refused: role nic has tree /, which"):
        note(options(placed={"nic": [["tree", "/"]]}))
