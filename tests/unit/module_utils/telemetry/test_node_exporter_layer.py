# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The site's unit as `systemctl cat` prints it, and what the layer does with units that run, are stopped, or refuse.

tests/unit/roles/telemetry has the starter, with all releases.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError, Settle
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.layer import run, validated
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry import (
    node_exporter_io,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry import (
    node_exporter_layer as layer,
)

DEBIAN = """\
# /lib/systemd/system/prometheus-node-exporter.service
[Unit]
Description=Prometheus exporter for machine metrics

[Service]
Restart=on-failure
User=prometheus
EnvironmentFile=/etc/default/prometheus-node-exporter
ExecStart=/usr/bin/prometheus-node-exporter $ARGS
ExecReload=/bin/kill -HUP $MAINPID
"""
SITES = """
# /etc/systemd/system/prometheus-node-exporter.service.d/override.conf
[Service]
ExecStart=
ExecStart = /opt/node_exporter \\
    --web.config.file=/etc/web.yml \\
    $ARGS
"""
OURS = """
# /etc/systemd/system/prometheus-node-exporter.service.d/zz-drawbridge.conf
[Service]
ExecStart=
ExecStart=/usr/local/libexec/drawbridge/node-exporter /usr/bin/prometheus-node-exporter $ARGS
"""
PROGRAM = "/usr/bin/prometheus-node-exporter"
UNIT, FOLDER = "n.service", "/run/drawbridge/metrics"
PCI = "--collector.pcidevice"


def test_the_sites_command_is_the_last_one_that_is_not_drawbridges() -> None:
    assert layer.commands(DEBIAN) == layer.commands(DEBIAN + OURS) == ["/usr/bin/prometheus-node-exporter $ARGS"]
    found = layer.commands(DEBIAN + SITES + OURS)
    assert found == ["/opt/node_exporter  --web.config.file=/etc/web.yml  $ARGS"]
    assert layer.commands("") == [] and len(layer.commands(DEBIAN + SITES.replace("ExecStart=\n", ""))) == 2


def test_the_drop_in_starts_the_sites_command_by_the_starter() -> None:
    shown = layer.drop_in("-/opt/node_exporter --a=%H $ARGS", FOLDER).splitlines()
    assert shown[-2:] == ["ExecStart=", f"ExecStart=-{layer.STARTER} /opt/node_exporter --a=%H $ARGS"]
    assert f"ExecStartPre=+/bin/mkdir -p -m 0755 /run/drawbridge {FOLDER}" in shown
    assert layer.place(UNIT) > "/etc/systemd/system/n.service.d/override.conf"


class Systemd:
    """A host with a unit: its text, its state, that after a restart, and what its program prints for --version."""

    def __init__(self) -> None:
        self.text, self.state, self.restarted = DEBIAN, "active", "active"
        self.version = "node_exporter, version 1.12.1 (branch: HEAD, revision: a7dcc3a)\n"
        self.verbs: list[str] = []
        self.begun = 1

    def __call__(self, argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        if argv[1] == "--version":
            if not self.version:
                raise DeviceError("node_exporter can't be run")
            return Completed(0, "", self.version)
        if argv[1] == "cat":
            return Completed(0 if self.text else 1, self.text, "")
        if argv[0] == "journalctl":
            return Completed(0, "node_exporter: error: unknown long flag '--no', try --help\n", "")
        if argv[1] == "show":
            names = {"LoadState": "loaded", "ActiveState": self.state, "UnitFileState": "disabled"}
            shown = {**names, "InactiveExitTimestampMonotonic": self.begun, "NeedDaemonReload": "no"}
            return Completed(0, "".join(f"{name}={value}\n" for name, value in shown.items()), "")
        self.verbs.append(argv[1])
        if argv[1] == "restart":
            self.state, self.begun = self.restarted, int(time.monotonic() * 1e6)
        return Completed(0, "", "")


class Host:
    """The layer on a host; its files are below a folder of the test."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.systemd = Systemd()
        self.argv = [PROGRAM, PCI]
        place = layer.place
        monkeypatch.setattr(layer, "place", lambda unit: f"{root}{place(unit)}")
        monkeypatch.setattr(layer, "STARTER", f"{root}/starter")
        monkeypatch.setattr(layer, "FLAGS", f"{root}/flags")
        self.files = [{"path": f"{root}/starter", "content": "x\n", "mode": "0755"}]
        monkeypatch.setattr(layer, "Settle", lambda _: Settle(0.01, 0))
        monkeypatch.setattr(layer, "Command", lambda _: self.systemd)
        monkeypatch.setattr(node_exporter_io.NodeExporter, "_process", lambda _: ("7", self.argv))

    def run(self, check: bool = False) -> dict[str, Any]:
        flags = [{"least": 1010, "own": "collector.pcidevice", "flags": [PCI]}]
        options = {"unit": UNIT, "flags": flags, "files": self.files}
        return run(layer.NODE_EXPORTER, validated(layer.SPEC, options), check)

    def warnings(self, check: bool = False) -> list[str]:
        """Without the host's name."""
        found = self.run(check)
        assert not found.get("failed") and not found["pending"]
        return [text.partition(": ")[2] for text in found["warnings"]]


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    return Host(tmp_path, monkeypatch)


def test_a_host_without_node_exporter_gets_a_warning(host: Host) -> None:
    host.systemd.text = ""
    assert host.warnings() == ["n.service is not on this host: install node_exporter, or name its unit"]


def test_no_unit_is_left_without_its_starter(host: Host) -> None:
    host.files = []
    found = host.run()
    assert found["failed"] and "starter, a file of the role" in found["msg"] and not found["changed"]


@pytest.mark.parametrize(
    ("text", "version"),
    [
        (DEBIAN, ""),
        (DEBIAN, "Docker version 24.0.5, build ced0996\n"),
        (DEBIAN, "node_exporter, version  (branch: , revision: )\n"),
        ("[Service]\nExecStart=@/usr/bin/node_exporter other\n", "node_exporter, version 1.12.1 ()\n"),
        ('[Service]\nExecStart="/usr/bin/node_exporter"\n', "node_exporter, version 1.12.1 ()\n"),
        ("[Service]\nExecStart=/bin/one\nExecStart=/bin/two\n", "node_exporter, version 1.12.1 ()\n"),
    ],
)
def test_another_program_gets_no_flags(host: Host, text: str, version: str) -> None:
    host.systemd.text, host.systemd.version = text, version
    [warning] = host.warnings()
    assert "which is no node_exporter with a release" in warning and not host.systemd.verbs


def test_an_old_release_gets_a_warning_also_in_check_mode(host: Host) -> None:
    host.systemd.version = "node_exporter, version 1.5.0 (branch: debian/sid, revision: 1.5.0-1+b6)\n"
    for check in (True, False):
        [old] = host.warnings(check)
        assert old.startswith("node_exporter 1.5 has no counters of RoCE") and old.endswith("install 1.11 or later")


def test_a_running_unit_is_restarted_once(host: Host, tmp_path: Path) -> None:
    first = host.run()
    *written, restart = first["steps"]
    # the drop-in is last, because it names the starter
    assert [step.rpartition("/")[2] for step in written] == ["flags", "starter", "zz-drawbridge.conf"]
    assert restart == "restart n.service, which runs with older files"
    assert (first["warnings"], host.systemd.verbs) == ([], ["daemon-reload", "restart"])
    assert (tmp_path / "flags").read_text() == f"1010 100000 collector.pcidevice {PCI}\n"
    assert host.run()["steps"] == []


def test_a_unit_that_the_site_has_stopped_stays_so(host: Host) -> None:
    host.systemd.state = "inactive"
    host.argv = []
    assert host.warnings() == ["n.service does not run: start it"]
    assert "restart" not in host.systemd.verbs and host.run()["steps"] == []


def test_a_unit_that_does_not_come_back_fails_with_its_own_words(host: Host) -> None:
    host.systemd.restarted = "failed"
    found = host.run()
    assert found["failed"] and found["msg"].endswith("it says: unknown long flag '--no', try --help")


def test_flags_that_are_left_out_are_named(host: Host) -> None:
    host.argv = host.argv[:1]
    start = "the site's own flags of collector.pcidevice stand, and --collector.pcidevice are left out"
    assert host.warnings() == [f"{start}: remove the site's"]


def test_before_a_restart_no_flag_is_missing(host: Host) -> None:
    host.argv = host.argv[:1]
    assert host.warnings(check=True) == []


def test_files_that_leave_the_intent_leave_the_host() -> None:
    places = layer.NODE_EXPORTER.places({"unit": UNIT, "files": [{"path": layer.STARTER}]})
    assert [item.path for item in places] == [layer.place(UNIT), layer.STARTER, f"{layer.STARTER}.flags"]
