# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.controller.bundle_io import (
    last_proof,
    write,
)


def test_the_file_is_new_and_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "a.tar.gz"
    write(file, "a", {"x.txt": "1\n", "y.txt": "é"}, 7.5)
    assert file.stat().st_mode & 0o777 == 0o600
    with tarfile.open(file) as archive:
        assert [(it.name, it.mtime, it.uid) for it in archive] == [("a/x.txt", 7, 0), ("a/y.txt", 7, 0)]
        content = archive.extractfile("a/y.txt")
        assert content and content.read() == "é".encode()
    with pytest.raises(DeviceError, match=r"can't be written: File exists"):
        write(file, "a", {}, 0)
    with pytest.raises(DeviceError, match=r"No such file"):
        write(tmp_path / "no/a.tar.gz", "a", {}, 0)


def test_the_last_proof_that_has_the_node(tmp_path: Path) -> None:
    assert last_proof("n1", tmp_path / "no") is None
    for at, names in enumerate([["n1"], ["n1", "n2"], ["n2"]]):
        result = {"started": f"{at}", "nodes": [{"name": name} for name in names]}
        (tmp_path / f"{at}.json").write_text(json.dumps(result))
    (tmp_path / "4.json").write_text("{")
    (tmp_path / "5.json").write_text("[]")
    found = last_proof("n1", tmp_path)
    assert found and found["started"] == "1"
