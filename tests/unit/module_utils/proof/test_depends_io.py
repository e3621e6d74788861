# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes import lldp_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.depends import Asked, values
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.depends_io import depends, read

from lab.emulators.nodes.lldpctl import neighbours
from tests.unit.module_utils.answers import Answer, Answers
from tests.unit.module_utils.proof.test_depends import ABOUT, ASKED, CABLES, TEXTS

FILES = {
    "proc/sys/kernel/osrelease": "6.12.48\n",
    "sys/module/nvidia/version": "580.95.05\n",
    **{f"proc/driver/nvidia/gpus/0000:{gpu}8:00.0/information": ABOUT.format(gpu) for gpu in range(2)},
    **{f"sys/class/infiniband/mlx5_{port}/fw_ver": "28.43.1014\n" for port in range(3)},
}
LLDP = json.dumps(neighbours({name: [*ends] for name, ends in CABLES.items()}))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(lldp_io, "tool", lambda name: name)
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def found(root: Path, lldp: Answer = LLDP) -> dict[str, str]:
    return read(ASKED, Answers({"lldpctl": lldp, "networkctl": DeviceError("no")}), str(root))


def test_a_node_is_read(root: Path) -> None:
    assert found(root) == values(ASKED, TEXTS)


@pytest.mark.parametrize(
    ("path", "lost"),
    [
        ("proc/sys/kernel/osrelease", "kernel"),
        ("sys/module/nvidia/version", "GPU driver"),
        ("proc/driver/nvidia", "GPUs"),
        ("sys/class/infiniband/mlx5_1", "firmware of mlx5_1"),
    ],
)
def test_a_file_that_is_missing_leaves_its_value_out(path: str, lost: str, root: Path) -> None:
    (root / path).rename(root / "away")
    assert values(ASKED, TEXTS).keys() - found(root).keys() == {lost}


def test_without_lldp_no_cable_is_known(root: Path) -> None:
    lost = values(ASKED, TEXTS).keys() - found(root, DeviceError("lldpctl is not installed")).keys()
    assert lost == {"cable of rail0", "cable of rail1"}


def test_a_node_without_rails_and_gpus_asks_no_tool(root: Path) -> None:
    assert read(Asked("cpu01", "77"), Answers({}), str(root)) == {"intent": "77", "kernel": "6.12.48"}


def test_a_node_that_needs_no_passport_has_its_versions(root: Path) -> None:
    firmware = {f"firmware of mlx5_{port}": "28.43.1014" for port in range(3)}
    assert depends(str(root)) == {"kernel": "6.12.48", **firmware}
    (root / "etc/drawbridge").mkdir(parents=True)
    (root / "etc/drawbridge/passport.json").write_text(Asked("cpu01", "77").text())
    assert depends(str(root)) == {"intent": "77", "kernel": "6.12.48"}
