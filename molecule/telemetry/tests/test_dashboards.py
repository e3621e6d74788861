# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Dashboards as committed: their queries on made-up sites, as the host's own Prometheus answers them.

The sites are days in the past, in a data folder of their own. What Prometheus reads of the lab meanwhile is there too.
"""

from __future__ import annotations

import base64
import contextlib
import socket
import subprocess
import tarfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from docs.dashboards.answers import Prometheus
from lab.hosts.paths import Paths
from tests.alerts.blocks import APART_S, BLOCK_S, openmetrics, recorded, write
from tests.alerts.sites import Placed, Site, everything, healthy, others, people_ask, placed, with_cause, wrong
from tests.running import Lab

PORT = 9090
LONG_S = 120
FOLDER = "/var/lib/prometheus/made-up"
ARGUMENTS = f"--storage.tsdb.path={FOLDER} --storage.tsdb.retention.time=90d"
"""The sites span 25 days. By default Prometheus deletes blocks that are 15 days older than its newest one."""
SITES: dict[str, Site] = {
    "healthy": healthy(),
    **{it["question"]: with_cause(it) for it in people_ask()},
    "others": others(),
    "everything": everything(),
}
NEWEST = int(time.time() - 2 * APART_S) // BLOCK_S * BLOCK_S
"""Days ago, so that no query sees the lab beside a site."""
PLACED: dict[str, Placed] = dict(zip(SITES, placed(SITES.values(), NEWEST), strict=True))


@pytest.fixture(scope="module")
def lab() -> Lab:
    return Lab(Paths.of())


def restart(lab: Lab, arguments: str, meanwhile: str = "true") -> None:
    """Let Prometheus run with these arguments, after a command while it is down."""
    there = f"sed -i 's|^ARGS=.*|ARGS=\"{arguments}\"|' /etc/default/prometheus"
    lab.ssh("ctl", f"systemctl stop prometheus && {meanwhile} && {there} && systemctl start prometheus")


@contextlib.contextmanager
def tunnel(lab: Lab) -> Iterator[int]:
    """A port of this machine that leads to Prometheus on its host."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    argv = ["ssh", "-F", str(lab.paths.ssh_config), "-o", "ControlPath=none", "-o", "ExitOnForwardFailure=yes", "-N"]
    with subprocess.Popen([*argv, "-L", f"127.0.0.1:{port}:127.0.0.1:{PORT}", "ctl"]) as process:
        try:
            yield port
        finally:
            process.terminate()


def put(lab: Lab, texts: Sequence[str], scratch: Path) -> None:
    """Make blocks of these texts, and put them into the folder of Prometheus, which reads it when it starts."""
    blocks, archive = scratch / "blocks", scratch / "blocks.tar.gz"
    write(texts, blocks, scratch / "text")
    with tarfile.open(archive, "w:gz") as tar:
        for block in blocks.iterdir():
            tar.add(block, block.name)
    lab.ssh("ctl", "base64 -d > /run/blocks.tar.gz", stdin=base64.b64encode(archive.read_bytes()).decode())
    owned = f"chown -R prometheus: {FOLDER}"
    restart(lab, ARGUMENTS, f"tar -xzf /run/blocks.tar.gz --no-same-owner -C {FOLDER} && {owned}")


@pytest.fixture(scope="module")
def prometheus(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """That of the host, with all sites: first their series, then the recorded ones."""
    lab.ssh("ctl", f"rm -rf {FOLDER} && mkdir -p {FOLDER}")
    try:
        with tunnel(lab) as port:
            found = Prometheus(port)
            put(lab, [openmetrics(it.site.series, it.start) for it in PLACED.values()], tmp_path_factory.mktemp("raw"))
            lab.wait("Prometheus answers", found.ready, LONG_S)
            rules = [recorded(found, it.start) for it in PLACED.values()]
            put(lab, rules, tmp_path_factory.mktemp("recorded"))
            lab.wait("Prometheus answers", found.ready, LONG_S)
            yield found
    finally:
        restart(lab, "", f"rm -rf {FOLDER} /run/blocks.tar.gz")


@pytest.mark.parametrize("it", PLACED.values(), ids=PLACED)
def test_queries_name_their_planted_causes_and_nothing_else(prometheus: Prometheus, it: Placed) -> None:
    assert wrong(prometheus, it) == []
