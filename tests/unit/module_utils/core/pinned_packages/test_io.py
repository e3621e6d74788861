# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import (
    converge,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.packages.apt import Apt
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.pinned_packages.io import (
    PinnedPackages,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.pinned_packages.plan import (
    PinnedState,
    plan,
)

WHO = "2026-11-25 by root: apt upgrade"
WANT = PinnedState({"kubelet": "1.36.3-1"}, frozenset({"kubelet"}), "Types: deb\n")


class Host:
    """dpkg-query and apt over one package."""

    def __init__(self, row: str = "") -> None:
        self.row, self.ran = row, []  # type: ignore[var-annotated]

    def __call__(self, argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        if argv[0] == "dpkg-query":
            return Completed(0, f"{self.row}\n", "")
        self.ran.append([word for word in argv if word not in ("env", "DEBIAN_FRONTEND=noninteractive")])
        if argv[-1] == "kubelet=1.36.3-1":
            self.row = "kubelet 1.36.3-1 install installed"
        if argv[:2] == ["apt-mark", "hold"]:
            self.row = self.row.replace(" install ", " hold ")
        return Completed(0, "", "")


def device(host: Host, tmp_path: Path) -> PinnedPackages:
    apt = Apt(host, tmp_path / "policy-rc.d")
    return PinnedPackages(host, WANT, tmp_path / "ours.sources", apt, history=tmp_path / "history.log")


def test_a_bare_host_gets_the_version_and_keeps_it(tmp_path: Path) -> None:
    host = Host("kubelet  unknown not-installed")
    outcome = converge(device(host, tmp_path), plan, WANT)
    assert (outcome.error, outcome.left) == ("", [])
    assert (tmp_path / "ours.sources").read_text() == WANT.sources
    install = next(argv for argv in host.ran if argv[-1] == "kubelet=1.36.3-1")
    assert {"--no-remove", "--allow-downgrades", "--allow-change-held-packages"} < set(install)
    host.ran.clear()
    assert converge(device(host, tmp_path), plan, WANT).steps == []
    assert host.ran == []


def test_a_removed_package_with_its_configuration_left_is_absent(tmp_path: Path) -> None:
    assert device(Host("kubelet 1.36.3-1 deinstall config-files"), tmp_path).read().versions == {"kubelet": ""}


def test_who_installed_another_version_is_read(tmp_path: Path) -> None:
    upgrade = "Start-Date: 2026-11-25  10:02:11\nCommandline: apt upgrade\nUpgrade: kubelet:amd64 (1.36.3-1, 1.36.4-1)"
    (tmp_path / "history.log").write_text(f"{upgrade}\n")
    right, other = (Host(f"kubelet {version} hold installed") for version in ("1.36.3-1", "1.36.4-1"))
    assert device(right, tmp_path).read().installed == {}
    assert device(other, tmp_path).read().installed == {"kubelet": WHO}
