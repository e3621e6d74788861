# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the emulated cluster of test_mm_node.py does not show: full names, answers of older releases, empty ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.io import Mm
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.members import (
    io as mm_cluster,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.members.io import Cluster
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.members.plan import (
    Member,
    Membership,
    plan,
)

from tests.unit.module_utils.answers import Answers

MMLSCLUSTER = (Path(__file__).resolve().parents[5] / "transcripts/storage/gpfs/mmlscluster_y.txt").read_text()
LICENSES = """\
mmlslicense::HEADER:version:reserved:reserved:nodeName:requiredLicense:designatedLicense:totalNodes:
mmlslicense::0:1:::server-1.domain.com:server:server:2:
mmlslicense::0:1:::server-3.domain.com:server:none:2:
"""
STATES = """\
mmgetstate::HEADER:version:reserved:reserved:nodeName:nodeNumber:state:quorum:nodesUp:totalNodes:remarks:cnfsState:
mmgetstate::0:1:::server-1:1:active:1*:2:2:quorum node:(undefined):
"""
ANSWERS = {"mmlscluster": MMLSCLUSTER, "mmlslicense": LICENSES, "mmgetstate": STATES}


class Tools:
    """Recorded answers; node files are read while they exist."""

    def __init__(self, **answers: str) -> None:
        self.answers, self.ran, self.files = {**ANSWERS, **answers}, [], []

    def __call__(self, argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        verb = argv[0].rpartition("/")[2]
        self.ran.append([verb, *argv[1:]])
        if "-N" in argv and argv[-1].startswith("/"):
            path = Path(argv[-1])
            self.files.append((verb, path.read_text(), path.parent.stat().st_mode & 0o777))
        return Completed(0, self.answers.get(verb, ""), "")


def cluster(tools: Tools, *nodes: str, **more: Any) -> Cluster:
    """Names resolve to no address, so that only names are compared."""
    return Cluster(Mm(tools, "/mm"), nodes, address=lambda _: "", **more)


def test_a_short_name_is_its_full_name_and_a_node_without_a_row_is_unknown() -> None:
    tools = Tools()
    state = cluster(tools, "server-1", "server-3", "server-2").read()
    assert state == Membership(
        {
            "server-1": Member("server", "quorum"),
            "server-3": Member("none", "quorumManager"),
            "server-2": None,
        }
    )
    assert tools.ran[-1] == ["mmgetstate", "-N", "server-1.domain.com,server-3.domain.com", "-Y"]


def test_many_nodes_are_queried_in_turns_whose_answers_are_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mm_cluster, "AT_A_TIME", 1)
    tools = Tools()
    state = cluster(tools, "server-3", "server-1").read()
    asked = [argv[2] for argv in tools.ran if argv[0] == "mmgetstate"]
    assert asked == ["server-3.domain.com", "server-1.domain.com"]
    assert state.nodes["server-1"] == Member("server", "quorum")


def test_node_files_describe_clients_and_are_roots_alone(tmp_path: Path) -> None:
    tools = Tools(mmlscluster=MMLSCLUSTER + "mmlscluster:clusterNode:0:1:::3:new:10.0.0.9:new:::::\n")
    device = cluster(tools, "new", folder=tmp_path / "gpfs")
    device.apply(plan(Membership({"new": None}), Membership({"new": Member("client")})))
    assert tools.files == [
        ("mmaddnode", "new:nonquorum-client\n", 0o700),
        ("mmchlicense", "new\n", 0o700),
    ]
    assert list((tmp_path / "gpfs").iterdir()) == []
    assert ["mmchlicense", "client", "--accept", "-N"] in [argv[:4] for argv in tools.ran]


def test_a_cluster_without_nodes_is_not_believed() -> None:
    empty = "".join(line for line in MMLSCLUSTER.splitlines(keepends=True) if "clusterNode:0" not in line)
    with pytest.raises(DeviceError, match="mmlscluster lists no node, not even this one"):
        Cluster(Mm(Tools(mmlscluster=empty), "/mm"), ["gpu01"]).read()


def test_an_mmaddnode_that_was_killed_leaves_nodes_that_are_given_the_configuration(tmp_path: Path) -> None:
    """A member's row proves nothing then: the row comes first, the configuration later."""
    folder = tmp_path / "gpfs"
    row = "mmlscluster:clusterNode:0:1:::3:new:10.0.0.9:new:::::\n"
    state = "mmgetstate::0:1:::new:3:down:0:0:0::(undefined):\n"

    killed = Answers({"/mm/mmaddnode": DeviceError("mmaddnode failed: no output", rc=-9, stderr="", stdout="")})
    want = Membership({"new": Member("client")})
    with pytest.raises(DeviceError):
        Cluster(Mm(killed, "/mm"), ["new"], folder=folder).apply(plan(Membership({"new": None}), want)[:1])
    tools = Tools(mmlscluster=MMLSCLUSTER + row, mmgetstate=STATES + state)
    device = cluster(tools, "new", folder=folder)
    steps = [step for step in plan(device.read(), want) if step.payload.verb == "mmsdrrestore"]
    assert [step.reason for step in steps] == ["new: give it the cluster's configuration, which it does not have"]
    device.apply(steps)
    assert tools.files == [("mmsdrrestore", "new\n", 0o700)]
    assert device.read().nodes["new"] == Member("none")
    assert list(folder.iterdir()) == []


def test_an_mmaddnode_that_refuses_has_come_to_its_end(tmp_path: Path) -> None:
    refusing = Answers({"/mm/mmaddnode": DeviceError("mmaddnode failed: no", rc=1, stderr="no", stdout="")})
    want = Membership({"new": Member("client")})
    with pytest.raises(DeviceError, match="mmaddnode failed: no"):
        Cluster(Mm(refusing, "/mm"), ["new"], folder=tmp_path).apply(plan(Membership({"new": None}), want)[:1])
    assert list(tmp_path.iterdir()) == []
