# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Hosts that share one emulated cluster, and what tests read of its commands."""

import re

from lab.emulators.common import Device
from lab.emulators.storage.gpfs.states import default_state
from tests.lab.emulators.conftest import Host

ADDRESSES = {"nsd1": 13, "gpu01": 21, "gpu02": 22, "gpu03": 23, "gpu04": 24}
DATE = re.compile(r"(?m)^\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \w+ \d{4}: ")


class Site:
    """Hosts that share one cluster."""

    def __init__(self, root):
        self.root = root
        lines = [f"10.77.1.{octet} {name}" for name, octet in ADDRESSES.items()]
        (root / "hosts").write_text("\n".join(["127.0.0.1 localhost", *lines, ""]))
        self.hosts = {name: Host(root, name) for name in ADDRESSES}
        self.device = Device(root / "shared/gpfs", root / "shared/clock")
        self.owner = Device(root / "shared/gpfs-ess1", root / "shared/clock")
        self.mount_point = str(root / "gpfs/fs1")
        self.change(lambda state: state["filesystems"]["fs1"].update(mount_point=self.mount_point))
        self.change(lambda state: state.update(lag_calls=0, request_timeout_s=300.0))

    def change(self, edit):
        initial = default_state()
        for node in initial["nodes"].values():
            node["ip"] = "10.77.1.13"
        with self.device.state(initial) as state:
            edit(state)

    def state(self):
        with self.device.state() as state:
            return state

    def __getitem__(self, name):
        return self.hosts[name]

    def admin(self, *argv, **options):
        return self.hosts["nsd1"].run(*argv, **options)

    def seen(self, name, by="nsd1"):
        """Return the state of a daemon as a host sees it."""
        return records(self[by].run("mmgetstate", "-N", name, "-Y").stdout)[0]["state"]

    def join(self, *names):
        """Bring hosts to where only the mount is missing."""
        described = ",".join(f"{name}:nonquorum-client::client" for name in names)
        assert self.admin("mmaddnode", "--accept", "-N", described).returncode == 0
        assert self.admin("mmstartup", "-N", ",".join(names)).returncode == 0
        for _ in range(2):
            self.admin("mmgetstate", "-a")
        for name in names:
            assert self[name].run("mmlscluster").returncode == 0


def undated(text):
    return DATE.sub("DATE: ", text)


def records(text, record=""):
    """Return the rows of a record type as dicts by the header's names; longer rows keep what the header names."""
    lines = [line.split(":") for line in text.splitlines() if ":" in line]
    names = next(line for line in lines if line[1] == record and line[2] == "HEADER")
    return [dict(zip(names[6:-1], line[6:-1], strict=False)) for line in lines if line[1] == record and line[2] == "0"]
