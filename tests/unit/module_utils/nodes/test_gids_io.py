# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gids_io import gids


def test_an_entry_without_attributes_is_left_out(tmp_path: Path) -> None:
    port = tmp_path / "ports/1"
    for folder in ("gids", "gid_attrs/types", "gid_attrs/ndevs"):
        (port / folder).mkdir(parents=True)
    for index in ("3", "4"):
        (port / "gids" / index).write_text("fe80:0000:0000:0000:0000:0000:0000:0001\n")
    (port / "gid_attrs/types/3").write_text("RoCE v2\n")
    (port / "gid_attrs/ndevs/3").write_text("rail0\n")
    assert list(gids(tmp_path)) == [(3, "fe80:0000:0000:0000:0000:0000:0000:0001", "RoCE v2", "rail0")]


def test_a_device_that_is_gone_has_none(tmp_path: Path) -> None:
    assert list(gids(tmp_path / "mlx5_9")) == []
