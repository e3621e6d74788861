# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Filesets as a lab has them: its process mounts them, hosts see them in mount namespaces of their own."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lab.emulators.conftest import REPOSITORY
from tests.lab.emulators.storage.gpfs_site import Site, records
from tests.waiting import until

MIB = 1 << 20
LAB = """
mount --bind {shared} {shared}; mount --make-shared {shared}
echo ready; exec {python} -m lab.emulators.storage.gpfs.disk_server {shared}
"""
HOST = "mount --make-rshared /; echo ready; exec sleep 600"
"""As systemd-nspawn does it: a slave of the lab's mounts, which shares them with its own namespaces."""


@contextlib.contextmanager
def started(*argv):
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def inside(process):
    return ["nsenter", f"--mount=/proc/{process.pid}/ns/mnt"]


@pytest.fixture
def site(tmp_path):
    """A cluster in a lab: nsd1, gpu01 and gpu02 have mounted fs1, and fileset `a` is linked."""
    site = Site(tmp_path)
    site.join("gpu01", "gpu02")
    lab = LAB.format(shared=tmp_path / "shared", python=sys.executable)
    with contextlib.ExitStack() as stack:
        keeper = stack.enter_context(started("unshare", "--mount", "--propagation", "private", "sh", "-ec", lab))
        until(lambda: (tmp_path / "shared/disks.sock").exists(), 60, "the lab's process listens")
        for name in ("nsd1", "gpu01", "gpu02"):
            host = [*inside(keeper), "unshare", "--mount", "--propagation", "slave", "sh", "-ec", HOST]
            site[name].prefix = inside(stack.enter_context(started(*host)))
            assert site[name].run("mmmount", "fs1").returncode == 0
        assert site.admin("mmcrfileset", "fs1", "a", "--inode-space", "new").returncode == 0
        assert site.admin("mmlinkfileset", "fs1", "a", "-J", f"{site.mount_point}/a").returncode == 0
        yield site


def write(host, path, size):
    """Write as an ordinary user; return the bytes that were written and what dd said."""
    argv = ["dd", "if=/dev/zero", f"of={path}", "bs=64k", f"count={size >> 16}"]
    done = subprocess.run(
        [*host.prefix, "setpriv", "--reuid=1001", "--regid=1001", "--clear-groups", *argv],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.defpath, "LC_ALL": "C"},
    )
    return int(host.command("stat", "-c", "%s", path) or 0), done.stderr


def test_a_new_fileset_is_roots_alone_and_all_hosts_see_it(site):
    for name in ("nsd1", "gpu01", "gpu02"):
        assert site[name].command("stat", "-c", "%u %g %a", f"{site.mount_point}/a") == "0 0 700\n"
    assert "Permission denied" in write(site["gpu01"], f"{site.mount_point}/a/file", MIB)[1]
    site["gpu01"].command("chown", "1001:1001", f"{site.mount_point}/a")
    assert write(site["gpu02"], f"{site.mount_point}/a/file", MIB)[0] == MIB


class TestLimits:
    @pytest.fixture
    def full(self, site):
        """All hosts' user may write 8 MiB, and has written 6 on gpu01."""
        site["gpu01"].command("chown", "1001:1001", f"{site.mount_point}/a")
        assert site.admin("mmsetquota", "fs1:a", "--block", "4M:8M").returncode == 0
        assert write(site["gpu01"], f"{site.mount_point}/a/one", 6 * MIB)[0] == 6 * MIB
        return site

    def test_what_two_hosts_write_counts_together(self, full):
        written, told = write(full["gpu02"], f"{full.mount_point}/a/two", 6 * MIB)
        assert (written, "No space left on device" in told) == (2 * MIB, True)
        row = records(full.admin("mmlsquota", "-Y", "-j", "a", "fs1").stdout, "fileset")[0]
        keys = ("blockUsage", "blockLimit", "blockGrace", "filesUsage")
        assert [row[key] for key in keys] == ["8192", "8192", "7 days", "3"]
        full.admin("mmsetquota", "fs1:a", "--block", "4M:12M")
        assert write(full["gpu02"], f"{full.mount_point}/a/two", 6 * MIB)[0] == 6 * MIB

    def test_a_limit_below_usage_stops_writes_and_deletes_nothing(self, full):
        assert full.admin("mmsetquota", "fs1:a", "--block", "4M:4M").returncode == 0
        assert write(full["gpu02"], f"{full.mount_point}/a/two", MIB)[0] == 0
        assert full["gpu01"].command("stat", "-c", "%s", f"{full.mount_point}/a/one") == f"{6 * MIB}\n"
        full.admin("mmsetquota", "fs1:a", "--block", "0:0")
        assert write(full["gpu02"], f"{full.mount_point}/a/two", 20 * MIB)[0] == 20 * MIB

    def test_quotas_that_are_off_stop_no_user(self, full):
        full.admin("mmchfs", "fs1", "-Q", "no")
        assert write(full["gpu02"], f"{full.mount_point}/a/two", 20 * MIB)[0] == 20 * MIB

    def test_a_grace_period_that_is_over_stops_writes(self, full):
        full.admin("mmlsquota", "-j", "a", "fs1")
        (full.root / "shared/clock").write_text(str(8 * 86400))
        assert "expired" in full.admin("mmlsquota", "-j", "a", "fs1").stdout
        assert write(full["gpu02"], f"{full.mount_point}/a/two", MIB)[0] == 0

    def test_files_are_limited_by_quota_and_by_inodes(self, full):
        place = f"{full.mount_point}/a"
        make = f"i=0; while touch {place}/$i 2>/dev/null; do i=$((i+1)); done; ls {place} | wc -l"
        full.admin("mmsetquota", "fs1:a", "--files", "10:10")
        assert full["gpu02"].command("sh", "-c", make) == "9\n"  # the root directory is the tenth
        full.admin("mmsetquota", "fs1:a", "--files", "0:0")
        full.admin("mmcrfileset", "fs1", "b", "--inode-space", "new", "--inode-limit", "1024")
        full.admin("mmlinkfileset", "fs1", "b", "-J", f"{full.mount_point}/b")
        assert full["gpu02"].command("sh", "-c", make.replace("/a", "/b")) == "1023\n"


class TestJunctions:
    def test_a_user_on_any_host_keeps_a_fileset_linked(self, site):
        argv = [*site["gpu02"].prefix, "sh", "-c", f"cd {site.mount_point}/a && echo ready && exec sleep 60"]
        with started(*argv) as user:
            refused = site.admin("mmunlinkfileset", "fs1", "a")
            assert (refused.returncode, "busy" in refused.stderr) == (1, True)
            assert site.admin("mmunlinkfileset", "fs1", "a", "-f").returncode == 0
            user.kill()
        assert site["gpu01"].command("ls", site.mount_point) == ""

    def test_an_unlinked_fileset_keeps_its_files(self, site):
        site["gpu01"].command("touch", f"{site.mount_point}/a/file")
        assert site.admin("mmunlinkfileset", "fs1", "a").returncode == 0
        assert site.admin("mmdelfileset", "fs1", "a").returncode == 1
        site.admin("mmlinkfileset", "fs1", "a", "-J", f"{site.mount_point}/again")
        assert site["gpu02"].command("ls", f"{site.mount_point}/again") == "file\n"
        site.admin("mmunlinkfileset", "fs1", "a")
        assert site.admin("mmdelfileset", "fs1", "a", "-f").returncode == 0
        assert not (site.root / "shared/filesets/fs1/1").exists()

    def test_one_fileset_in_another(self, site):
        site.admin("mmcrfileset", "fs1", "b", "--inode-space", "new")
        site.admin("mmlinkfileset", "fs1", "b", "-J", f"{site.mount_point}/a/b")
        site["gpu01"].command("touch", f"{site.mount_point}/a/b/file")
        assert site["gpu02"].command("ls", f"{site.mount_point}/a/b") == "file\n"
        assert (
            records(site.admin("mmlsfileset", "fs1", "a", "-i", "-Y").stdout)[0]["inodes"] == "2"
        )  # with the junction
        assert site.admin("mmunlinkfileset", "fs1", "b").returncode == 0
        assert site["gpu02"].command("ls", f"{site.mount_point}/a") == ""

    def test_a_host_that_mounts_later_or_again_sees_all(self, site):
        gpu02 = site["gpu02"]
        assert gpu02.run("mmumount", "fs1").returncode == 0
        assert site.mount_point not in gpu02.command("cat", "/proc/self/mounts")
        assert "/a " in site["gpu01"].command("cat", "/proc/self/mounts")
        site["gpu01"].command("touch", f"{site.mount_point}/a/file")
        gpu02.run("mmmount", "fs1")
        assert gpu02.command("ls", f"{site.mount_point}/a") == "file\n"

    def test_a_failed_unmount_keeps_filesets(self, site):
        argv = [*site["gpu02"].prefix, "sh", "-c", f"cd {site.mount_point} && echo ready && exec sleep 60"]
        with started(*argv):
            assert site["gpu02"].run("mmumount", "fs1").returncode == 1
        site["gpu01"].command("touch", f"{site.mount_point}/a/file")
        assert site["gpu02"].command("ls", f"{site.mount_point}/a") == "file\n"

    def test_findmnt_takes_a_fileset_for_gpfs(self, site):
        said = site["gpu01"].run("findmnt", "-T", f"{site.mount_point}/a", "-n", "-o", "FSTYPE,SOURCE")
        assert said.stdout == "gpfs fs1\n"


def test_an_order_of_another_user_is_not_taken(site, any_user):
    script = f"import socket; socket.socket(socket.AF_UNIX).connect({str(site.root / 'shared/disks.sock')!r})"
    done = subprocess.run(["/usr/bin/python3", "-c", script], capture_output=True, text=True, check=False, **any_user)
    assert "PermissionError" in done.stderr
    assert Path(site.root / "shared/disks.sock").exists()
