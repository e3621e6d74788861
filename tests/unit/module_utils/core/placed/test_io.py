# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Files, blocks and programs of a folder that stands for the host's own."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import (
    DeviceError,
    converge,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.placed import io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.placed.io import (
    Leftovers,
    RecordFile,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.placed.plan import LeftState, plan
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.placed.text import (
    BLOCK,
    FILE,
    TREE,
    Item,
    text,
)

from tests.unit.module_utils.answers import Answers

NOTHING = LeftState()


class Host:
    """A host with a record."""

    def __init__(self, root: Path) -> None:
        self.root = root / "drawbridge"
        self.record = self.root / "placed.json"
        self.run = Answers(
            {
                "systemctl stop drawbridge-x@*.service": "",
                "systemctl disable --now drawbridge-x.timer": "",
                "systemctl daemon-reload": "",
            }
        )

    def file(self, name: str, content: str = "x\n") -> Item:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        return Item(FILE, str(path))

    def leave(self, check: bool = False) -> list[str]:
        device = Leftovers(RecordFile({}, self.record), {}, ["nic"], self.run)
        return converge(device, plan, NOTHING, check).steps


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    made = Host(tmp_path)
    monkeypatch.setattr(io, "RUNNING", str(tmp_path))
    return made


def test_everything_of_a_role_goes_once(host: Host) -> None:
    tree = host.file("lib/nic/part.py")
    block = host.file("nccl.conf", "A=1\n# BEGIN drawbridge\nB=2\n# END drawbridge\n")
    own = host.file("own.conf", "# BEGIN drawbridge\nB=2\n# END drawbridge\n")
    link = host.root / "link"
    link.symlink_to("/nowhere")
    found = [
        *(host.file("nic.json"), Item(FILE, str(link)), Item(FILE, str(host.root / "gone"))),
        *(Item(BLOCK, block.path), Item(BLOCK, own.path), Item(TREE, str(host.root / "lib/nic"))),
    ]
    host.record.write_text(text({"nic": found, "gate": [tree]}))
    before = sorted(host.root.rglob("*"))
    predicted = host.leave(check=True)
    assert sorted(host.root.rglob("*")) == before
    assert host.leave() == predicted
    assert len(predicted) == 5
    assert Path(block.path).read_text() == "A=1\n"
    assert not any(path.exists() for path in (Path(own.path), link, host.root / "lib/nic"))
    assert host.leave() == []
    assert host.run.asked == []


def test_units_are_stopped_and_systemd_reads_its_files_again(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    units = [host.file(f"system/{name}") for name in ("drawbridge-x.timer", "drawbridge-x@.service")]
    monkeypatch.setattr(io, "UNITS", f"{host.root}/system/")
    monkeypatch.setattr(io, "unit", lambda item: Path(item.path).name)
    host.record.write_text(text({"nic": units}))
    host.leave()
    assert host.run.asked == [
        "systemctl disable --now drawbridge-x.timer",
        "systemctl stop drawbridge-x@*.service",
        "systemctl daemon-reload",
    ]


def test_a_host_without_a_record_begins_with_files_of_earlier_releases(host: Host) -> None:
    old = host.file("old")
    earlier = RecordFile({"nic": (old, Item(FILE, "/nonexistent")), "gate": (Item(FILE, "/nonexistent"),)}, host.record)
    assert earlier.read() == {"nic": [old]}
    earlier.write({"gate": [old]})
    assert earlier.read() == {"gate": [old]}
    assert host.record.stat().st_mode & 0o777 == 0o600


def test_a_broken_record_is_named(host: Host) -> None:
    host.file("placed.json", "{")
    with pytest.raises(DeviceError, match=r"placed.json is no record: .*; remove it"):
        host.leave()
