# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A host that mounts exports of an emulated NFS server. systemd, Slurm and rpm are small programs with their words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lab.emulators.common import NFS_TOOLS
from lab.emulators.storage.nfs import export
from tests.unit.library.emulated import Host, writes

LAYER = "ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.nfs.layer"
SYSTEMCTL = r"""value() { sed -n "s/^$1=//p" "$UNITS/$unit"; }
mounted() { grep -qF " $where " /proc/self/mountinfo; }
fail() {
    printf '%s: %s\n' "$unit" "$1" >> "$SITE/journal"
    printf 'Job for %s failed.\nSee "systemctl status" and "journalctl -xe" for details.\n' "$unit" >&2
    exit 1
}
verb=$1 unit=$2
test "$verb" != daemon-reload || exit 0
where=$(value Where)
echo "$verb" >> "$SITE/verbs"
test ! -e "$SITE/$verb-lies" || exit 0
if test "$verb" = stop; then
    umount "$where" 2>> "$SITE/journal" || fail "Failed unmounting $where."
    exit 0
fi
! mounted || exit 0
mkdir -p "$where"
timeout --signal=KILL "$(value TimeoutSec)" mount.nfs "$(value What)" "$where" -o "$(value Options)" 2>> "$SITE/journal"
case $? in
0) mounted || fail "Mount process finished, but there is no mount." ;;
137) fail "Mounting timed out. Terminating." ;;
*) fail "Failed with result 'exit-code'." ;;
esac
"""
SCONTROL = """if test "$1" = show; then
    test -e "$SITE/drain" && state=IDLE+DRAIN || state=IDLE
    echo "NodeName=gpu01 State=$state Reason=$(cat "$SITE/drain" 2> /dev/null) [root@2026-11-21T10:00:00]"
    exit 0
fi
echo "$@" >> "$SITE/slurm"
for word; do
    case $word in
    reason=*) printf %s "${word#reason=}" > "$SITE/drain" ;;
    state=undrain) rm "$SITE/drain" ;;
    esac
done
"""
PROGRAMS = {
    **{"systemctl": SYSTEMCTL, "journalctl": 'cat "$SITE/journal"', "scontrol": SCONTROL, "squeue": 'cat "$SITE/jobs"'},
    **{"rpm": 'cat "$SITE/packages"; test -s "$SITE/packages"', "dnf": 'echo nfs-utils > "$SITE/packages"'},
}


class Site:
    """gpu01 has the NFS client. Server filer exports /export/data."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
        self.host = Host(root, "gpu01", monkeypatch, capfd)
        self.host.install(*NFS_TOOLS)
        self.units, self.marker, self._folder = root / "units", root / "nfs-change", root / "site"
        self.mount = str(root / "data")
        self.exported = export(root / "shared", "filer", "/export/data")
        for folder in (self.units, self._folder):
            folder.mkdir()
        self.host.environment |= {"UNITS": str(self.units), "SITE": str(self._folder)}
        for name, body in PROGRAMS.items():
            self.host.program(name, body)
        for name in ("journal", "verbs", "slurm", "jobs", "packages"):
            self.write(name)
        self.write("packages", "nfs-utils\n")
        monkeypatch.setattr(f"{LAYER}.UNITS", self.units)
        monkeypatch.setattr(f"{LAYER}.MARKER", self.marker)
        self.device = self.host.device("nfs")

    def run(self, check: bool = False, mounts: list[dict[str, Any]] | None = None, **more: Any) -> dict[str, Any]:
        """Run the module. Limits are long, so that a loaded machine reaches none by chance."""
        wanted = [self.wanted()] if mounts is None else mounts
        limits = {"wait_s": 100, "probe_s": 100}
        arguments = {"manager": "dnf", "package": "nfs-utils", "slurm_node": "gpu01", **limits, **more}
        return self.host.run("nfs_mounts", check, mounts=wanted, **arguments)

    def wanted(self, **more: Any) -> dict[str, Any]:
        """The export of the intent."""
        return {"server": "filer", "export": "/export/data", "mount": self.mount, **more}

    def write(self, name: str, text: str = "") -> None:
        """A file of the small programs: jobs, drain, packages, or a verb of systemctl that lies."""
        (self._folder / name).write_text(text)

    def remove(self, name: str) -> None:
        """Remove such a file."""
        (self._folder / name).unlink()

    def drain(self) -> str:
        """The reason of the node's drain, empty for none."""
        path = self._folder / "drain"
        return path.read_text() if path.exists() else ""

    def verbs(self) -> list[str]:
        """The verbs of the calls of systemctl that start and stop units."""
        return (self._folder / "verbs").read_text().split()

    def slurm(self) -> list[str]:
        """How the node was changed in Slurm."""
        return (self._folder / "slurm").read_text().splitlines()

    def written(self) -> list[list[str]]:
        """Calls of mount.nfs."""
        return writes(self.device)

    def is_mounted(self) -> bool:
        """Ask the kernel: os.path.ismount does not see bind mounts within one file system."""
        return f" {self.mount} " in Path("/proc/self/mountinfo").read_text()
