# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A real GPFS mount, as the kernel shows it: the emulated one is a bind mount. The rest is in test_mm_mount.py."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import (
    DeviceError,
    converge,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.daemon_io import Daemon
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.io import Mm
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.mounts.io import (
    Client,
    Expected,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.mounts.plan import (
    ClientState,
    plan,
)

from tests.unit.module_utils.answers import Answers

STATE = """\
mmgetstate::HEADER:version:reserved:reserved:nodeName:nodeNumber:state:quorum:nodesUp:totalNodes:remarks:cnfsState:
mmgetstate::0:1:::gpu01:7:{}:4:7:1122::(undefined):
"""
DIAG = """\
mmdiag:config:HEADER:version:reserved:reserved:name:value:changed:
mmdiag:config:0:1:::pagepool:4294967296:static:
"""
CONFIG = """\
mmlsconfig::HEADER:version:reserved:reserved:configParameter:value:nodeList:
mmlsconfig::0:1:::pagepool:8G:nsdNodes:
mmlsconfig::0:1:::pagepool:16G:drawbridge_h100:
"""
NOWHERE = "mmlsmount::HEADER:version:reserved:reserved:localDevName:realDevName:nodeName:\n"
CLUSTER = """\
mmlscluster:clusterSummary:HEADER:version:reserved:reserved:clusterName:
mmlscluster:clusterSummary:0:1:::lab.example:
"""
DEFAULT = """\
mmlsfs::HEADER:version:reserved:reserved:deviceName:fieldName:data:
mmlsfs::0:1:::fs1:defaultMountPoint:%2Fgpfs%2Ffs1:
"""
MOUNT = "90 22 0:52 / {} rw,relatime shared:7 - gpfs {} rw\n"
WANT = ClientState({"fs1": "/gpfs/fs1"})
FREE: Any = SimpleNamespace(drained=False)


def client(table: str, state: str = "active", want: ClientState = WANT) -> ClientState:
    """Without mmlsmount: the kernel's table is enough for a real mount."""
    run = Answers({"/mm/mmgetstate": STATE.format(state), "/mm/mmdiag": DIAG, "/mm/mmlsconfig": CONFIG})
    daemon = Daemon(Mm(run, "/mm"), lambda: table)
    return Client(daemon, want, lambda: table, FREE, Expected(node_class="drawbridge_h100")).read()


@pytest.mark.parametrize(
    ("path", "source", "state", "found"),
    [
        ("/gpfs/fs1", "fs1", "active", WANT),
        ("/gpfs/fs1", "/dev/fs1", "active", WANT),
        ("/gpfs/fs10", "fs10", "active", ClientState({})),
        ("/mnt", "fs1", "active", ClientState({"fs1": "/mnt"})),
        *(("/gpfs/fs1", "fs1", state, ClientState({}, state)) for state in ("down", "arbitrating", "unknown")),
    ],
)
def test_the_kernels_table_is_enough_while_the_daemon_runs(
    path: str, source: str, state: str, found: ClientState
) -> None:
    assert client(MOUNT.format(path, source), state) == found


def test_a_setting_has_its_effective_and_its_configured_value() -> None:
    wanted = ClientState({}, settings={"pagepool": str(16 << 30)})
    found = client("", want=wanted)
    assert (found.settings, found.configured) == ({"pagepool": str(4 << 30)}, {"pagepool": str(16 << 30)})
    assert found.lines()[1] == f"pagepool effective {4 << 30}, configured {16 << 30}: restart pending"


class Restarting:
    """A node whose GPFS takes a new pagepool at its start, and forgets its mounts."""

    def __init__(self, mounts: bool) -> None:
        self.state, self.pagepool, self.mounted, self.drained, self._mounts = "active", 4 << 30, True, False, mounts

    def run(self, argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        """An mm* command."""
        verb = argv[0].rpartition("/")[2]
        if verb == "mmumount":
            self.mounted = False
        elif verb == "mmshutdown":
            self.state = "down"
        elif verb == "mmstartup":
            self.state, self.pagepool = "active", 16 << 30
        elif verb == "mmmount":
            if not self._mounts:
                raise DeviceError("mmmount: no disks")
            self.mounted = True
        answers = {"mmgetstate": STATE.format(self.state), "mmlsconfig": CONFIG, "mmlsmount": NOWHERE}
        answers |= {"mmlscluster": CLUSTER, "mmlsfs": DEFAULT}
        answers["mmdiag"] = DIAG.replace("4294967296", str(self.pagepool))
        return Completed(0, answers.get(verb, ""), "")

    def table(self) -> str:
        return MOUNT.format("/gpfs/fs1", "fs1") if self.mounted else ""

    def drain(self) -> None:
        self.drained = True

    def resume(self) -> None:
        self.drained = False


@pytest.mark.parametrize("mounts", [True, False])
def test_the_drain_of_a_restart_is_lifted_after_the_mounts_and_only_then(mounts: bool) -> None:
    node = Restarting(mounts)
    want = ClientState({"fs1": "/gpfs/fs1"}, settings={"pagepool": str(16 << 30)})
    daemon = Daemon(Mm(node.run, "/mm"), node.table)
    device = Client(daemon, want, node.table, node, Expected(node_class="drawbridge_h100"))
    done = converge(device, plan, want)
    assert (done.error == "", node.drained) == (mounts, not mounts), done.error
    assert done.changed
