# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import converge
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.pinned_packages import dnf_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.pinned_packages.plan import (
    PinnedState,
    plan,
)

SOURCES = "[gpfs]\nbaseurl=http://mirror/gpfs\nenabled=0\n"
WANT = PinnedState({"gpfs.base": "5.2.3-0", "gpfs.gpl": "5.2.3-0"}, frozenset({"gpfs.base", "gpfs.gpl"}), SOURCES)


class Host:
    """rpm and dnf."""

    def __init__(self) -> None:
        self.rows = {"gpfs.base": "5.1.9-0"}
        self.ran: list[list[str]] = []

    def __call__(self, argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        if argv[0] == "rpm":
            missing = [name for name in argv[4:] if name not in self.rows]
            assert len(missing) in ok
            shown = [f"{name} {self.rows[name]}" for name in argv[4:] if name in self.rows]
            told = [f"package {name} is not installed" for name in missing]
            return Completed(len(missing), "\n".join([*shown, *told]), "")
        self.ran.append(list(argv))
        self.rows |= {word.split("-", 1)[0]: word.split("-", 1)[1] for word in argv if word.startswith("gpfs.")}
        return Completed(0, "", "")


def test_both_packages_come_in_one_transaction_from_the_repository_that_is_disabled(tmp_path: Path) -> None:
    host = Host()
    device = dnf_io.PinnedRpms(host, WANT, tmp_path / "ours.repo")
    assert device.read().versions == {"gpfs.base": "5.1.9-0", "gpfs.gpl": ""}
    outcome = converge(device, plan, WANT)
    assert (outcome.error, outcome.left) == ("", [])
    [install] = host.ran
    assert {"--enablerepo=gpfs", "gpfs.base-5.2.3-0", "gpfs.gpl-5.2.3-0"} < set(install)
    assert (tmp_path / "ours.repo").read_text() == SOURCES
    assert converge(device, plan, WANT).steps == []
