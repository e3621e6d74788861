# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The vendor's directory, and tools that can't be installed. The rest is in test_mm_software.py."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.software.io import (
    from_directory,
)


def test_files_of_a_directory_are_installed_by_their_paths(tmp_path: Path) -> None:
    (tmp_path / "gpfs.base_5.2.3-0_amd64.deb").touch()
    found = from_directory(str(tmp_path), "apt")
    assert found(["gpfs.base=5.2.3-0"]) == [f"{tmp_path}/gpfs.base_5.2.3-0_amd64.deb"]


def test_a_directory_that_does_not_exist_is_named_with_its_key(tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match=r"drawbridge_gpfs\.software\.directory is .*/none, but it can't be read"):
        from_directory(str(tmp_path / "none"), "apt")(["gpfs.base=5.2.3-0"])
