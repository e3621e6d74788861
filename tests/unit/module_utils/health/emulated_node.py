# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A node in this process: files of its kernel, and what its tools print. A look at it is that of the node's program."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Union, cast
from unittest import mock

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health import rows
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.finding import Finding
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.node import look_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.node.look import Files, words
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.node.node_settings import (
    NodeSettings,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.check import Output, Program
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.watch_rates import COUNTERS

from tests.unit.module_utils.proof.checks import healthy

NODE = replace(healthy.NODE, memory_mib=2_063_000)
BOOT_ID, UPTIME = "/proc/sys/kernel/random/boot_id", "/proc/uptime"
NHC = "/usr/sbin/nhc"
TEXTS = {
    **healthy.TEXTS,
    **healthy.SYSTEM,
    BOOT_ID: "one\n",
    "/proc/1/comm": "systemd\n",
    "/proc/1/cgroup": "0::/init.scope\n",
    **{f"/sys/class/net/{it.netdev}/carrier_changes": "9\n" for it in NODE.rails},
    **{
        f"/sys/class/infiniband/{it.rdma}/ports/1/counters/{name}": "0\n"
        for it in NODE.rails
        for name in ("link_downed", "port_rcv_errors", "link_error_recovery", "local_link_integrity_errors")
    },
}
ABSENT = Output("", "", 127)
Said = Union[str, Output, Sequence[Union[str, Output]]]
"""What a tool prints; a sequence: at its first call, at the second and so on, and the last one from then on."""


class EmulatedNode:
    """A healthy node, in the place of look_io.Host. Tests change `texts` and `said`."""

    def __init__(self, name: str = NODE.name, nhc: str = "") -> None:
        self.until = time.monotonic() + 600.0
        self.settings = NodeSettings(replace(NODE, name=name), nhc)
        self.texts: dict[str, str] = dict(TEXTS)
        self.said: dict[tuple[str, ...], Said] = dict(healthy.OUTPUTS)
        self.calls: list[tuple[str, ...]] = []
        self.first: dict[str, str | None] = {}
        """Files as the first try of a look reads them; None: not at all."""
        self.unread = False
        """Whether the first try reads no file in time."""
        self.reads = 0

    def shared(self) -> EmulatedNode:
        """Its calls take no time."""
        return self

    def run(self, argv: Sequence[str], seconds: float, *_other: object) -> Output:
        """One thread at a time calls each tool."""
        command = words(Program(tuple(argv), seconds))
        self.calls.append(command)
        said = self.said.get(command, ABSENT)
        if not isinstance(said, (str, Output)):
            said = said[min(self.calls.count(command), len(said)) - 1]
        return said if isinstance(said, Output) else Output(said, "", 0)

    def read(self, patterns: Sequence[str], *_other: object) -> Files:
        escaped = [re.escape(it).replace(r"\*", "[^/]*").replace(r"\[0\-9\]", "[0-9]") for it in patterns]
        known = re.compile("|".join(escaped))
        self.reads += 1
        if self.reads == 1 and self.unread:
            return Files({}, patterns, 124)
        texts = {**self.texts, **(self.first if self.reads == 1 else {})}
        return Files({path: text for path, text in texts.items() if text is not None and known.fullmatch(path)})

    def look(self, where: str = rows.HEALTH) -> tuple[Finding, ...]:
        """What a look finds that takes no time."""
        self.calls.clear()
        self.reads = 0
        with mock.patch.object(look_io, "write_bytes", self._write):
            return look_io.findings(self.settings, where, cast(Any, self))[0]

    def _write(self, path: Path, content: bytes, *_other: object) -> None:
        self.texts[str(path)] = content.decode()

    def pass_time(self, seconds: float) -> None:
        """The node's clock goes on."""
        self.texts[UPTIME] = f"{float(self.texts[UPTIME].split()[0]) + seconds} 1.0\n"

    def boot(self) -> None:
        """A boot: counters and the kernel's log begin again."""
        self.texts[BOOT_ID] = f"{self.texts[BOOT_ID].strip()}-again\n"
        self.texts[UPTIME] = "120.0 1.0\n"
        self.texts.pop(COUNTERS, None)
