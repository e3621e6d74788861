# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""setpci and lspci show one register, and end as the real ones do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lab.emulators.common import Device
from lab.emulators.nic.pciutils import main

if TYPE_CHECKING:
    from collections.abc import Sequence

BDF = "0000:18:00.0"
REGISTER = "CAP_EXP+08.w"


class Pci:
    """A host with one port."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.root, self._capsys = root, capsys
        (root / f"sys/devices/{BDF}").mkdir(parents=True)
        (root / "sys/class/net/rail0").mkdir(parents=True)
        (root / "sys/class/net/rail0/device").symlink_to(root / f"sys/devices/{BDF}")
        (root / "proc/sys/kernel/random").mkdir(parents=True)
        self.boot("one")
        for name, place in {"LAB_SYSFS": "sys", "LAB_PROCFS": "proc", "LAB_DEVICE_DIR": "lab"}.items():
            monkeypatch.setenv(name, str(root / place))
        self.device = Device(root / "lab/pciutils")

    def boot(self, number: str) -> None:
        (self.root / "proc/sys/kernel/random/boot_id").write_text(number)

    def run(self, *argv: str, name: str = "setpci") -> tuple[int, str]:
        code = main(name, list(argv))
        done = self._capsys.readouterr()
        return code, f"{done.out}{done.err}".strip()


@pytest.fixture
def pci(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Pci:
    return Pci(tmp_path, monkeypatch, capsys)


def test_a_write_changes_the_bits_of_its_mask_until_a_boot(pci: Pci) -> None:
    assert pci.run("-s", BDF, REGISTER) == (0, "2910")
    assert pci.run("-s", "18:00.0", f"{REGISTER}=5000:f000") == (0, "")
    assert pci.run("-s", BDF, REGISTER) == (0, "5910")
    assert "RlxdOrd+ ExtTag+" in pci.run("-vv", name="lspci")[1]
    assert pci.run("-vv", "-s", BDF, name="lspci")[1].endswith("MaxReadReq 4096 bytes")
    pci.boot("two")
    assert pci.run("-s", BDF, REGISTER) == (0, "2910")


def test_a_missing_device_is_a_warning_and_no_failure(pci: Pci) -> None:
    warning = "setpci: Warning: No devices selected for operation group 2."
    assert pci.run("-s", BDF, REGISTER, "-s", "99:00.0", REGISTER) == (0, f"2910\n{warning}")


def quirk(pci: Pci, **state: Sequence[str]) -> None:
    with pci.device.state({"devices": {}}) as found:
        found.update(state)


def test_some_devices_ignore_a_write_and_some_have_no_such_register(pci: Pci) -> None:
    quirk(pci, stubborn=[BDF])
    assert pci.run("-s", BDF, f"{REGISTER}=5000:f000") == (0, "")
    assert pci.run("-s", BDF, REGISTER) == (0, "2910")
    quirk(pci, plain=[BDF])
    code, told = pci.run("-s", BDF, REGISTER)
    assert (code, "Instance #0 of Capability 0010 not found" in told) == (1, True)


def test_a_kernel_that_refuses_is_a_warning_and_no_failure(pci: Pci) -> None:
    pci.device.add_fault("setpci", "refuse")
    refused = "pcilib: sysfs_write: write failed: Operation not permitted"
    assert pci.run("-s", BDF, f"{REGISTER}=5000:f000") == (0, refused)
