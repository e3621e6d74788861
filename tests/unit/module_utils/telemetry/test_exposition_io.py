# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Files of metrics are replaced in one step."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry import exposition_io


def test_a_file_is_replaced_and_readable(tmp_path: Path) -> None:
    for content in ("a 1\n", "a 2\n"):
        exposition_io.write(tmp_path / "metrics", "own.prom", content)
    found = tmp_path / "metrics/own.prom"
    assert (found.read_text(), found.stat().st_mode & 0o777) == ("a 2\n", 0o644)
    assert [path.name for path in found.parent.iterdir()] == ["own.prom"]


def test_a_link_of_another_user_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("kept")
    folder = tmp_path / "metrics"
    folder.mkdir()
    (folder / ".own.prom.partial").symlink_to(victim)
    exposition_io.write(folder, "own.prom", "a 1\n")
    assert (victim.read_text(), (folder / "own.prom").read_text()) == ("kept", "a 1\n")
