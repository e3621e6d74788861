# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Filesets against public transcripts and IBM's pages. Without the lab's process for disks they are plain folders."""

import calendar
import os
import signal
import stat
import subprocess
import time
from pathlib import Path

import pytest

from lab.emulators.storage.gpfs import filesystems
from lab.emulators.storage.gpfs.fileset_list import FIELDS
from lab.emulators.storage.gpfs.filesets import SOMEBODY
from tests.lab.emulators.storage.gpfs_site import Site, records
from tests.waiting import until


@pytest.fixture
def site(tmp_path):
    """A cluster whose admin has mounted fs1."""
    site = Site(tmp_path)
    with site["nsd1"].own_mounts() as host:
        assert host.run("mmmount", "fs1").returncode == 0
        yield site


def seconds(date):
    return calendar.timegm(time.strptime(date, "%a %b %d %H:%M:%S %Y"))


def with_filesets(site, device, mount_point, filesets):
    """Give the state a file system with filesets: name, id, root inode, space, date, maximum, allocated, junction."""

    def edit(state):
        record = filesystems.completed({"mount_point": mount_point, "block_size": 4 << 20, "automatic": "no"})
        record["filesets"] = {}
        for name, number, inode, space, date, most, alloc, junction, comment in filesets:
            made = filesystems.fileset(number, space, seconds(date), comment, (most, alloc))
            record["filesets"][name] = {**made, "root_inode": inode, "junction": junction}
        state["filesystems"][device] = record
        state["mounts"][device] = {}

    site.change(edit)


DRIVER = "Fileset created by IBM Container Storage Interface driver"
STORE, VOLUME = "spectrum-scale-csi-volume-store", "pvc-45a62f00-0474-4ec7-891a-8ad253720cbf"
CSI = [
    ("root", 0, 3, 0, "Fri Apr  9 05:58:21 2021", 32953344, 411648, "", "root fileset"),
    (STORE, 1, 524291, 1, "Mon Dec  6 23:41:22 2021", 1024, 1024, STORE, DRIVER),
    (VOLUME, 7, 2621443, 5, "Thu Jan 20 19:34:22 2022", 100352, 100352, VOLUME, ""),
]
MMOXI = [
    CSI[0],
    ("public", 271, 73014444035, 136, "Fri Oct 29 14:18:40 2021", 20971520, 5251072, "public", ""),
]


class TestTranscripts:
    @pytest.mark.parametrize(("flags", "name"), [([], "mmlsfileset"), (["-L"], "mmlsfileset_l")])
    def test_lists_for_people(self, site, transcript, flags, name):
        with_filesets(site, "gpfs0", "/ibm/gpfs0", CSI)
        assert site.admin("mmlsfileset", "gpfs0", *flags).stdout == transcript(f"storage/gpfs/{name}.txt")

    def test_records(self, site, transcript):
        with_filesets(site, "gpfs1", "/gpfs1", MMOXI)
        site.change(lambda state: state.update(version="5.1"))
        printed = site.admin("mmlsfileset", "gpfs1", "public", "-Y").stdout
        assert printed.replace(":5251072:-:-", ":4719472:-:-") == transcript("storage/gpfs/mmlsfileset_y.txt")

    def test_one_life(self, site, transcript):
        site.change(lambda state: state["filesystems"]["fs1"].update(next_fileset=1))
        made = site.admin("mmcrfileset", "fs1", "dir1", "--inode-space", "new", "--inode-limit", "200000")
        assert made.stdout == transcript("storage/gpfs/mmcrfileset.txt").replace("131075", "524291")
        junction = f"{site.mount_point}/dir1"
        linked = transcript("storage/gpfs/mmlinkfileset.txt").replace("/gpfs/fs1/iRODS/fs0resc0", junction)
        assert site.admin("mmlinkfileset", "fs1", "dir1", "-J", junction).stdout == linked.replace("fs0resc0", "dir1")
        changed = transcript("storage/gpfs/mmchfileset.txt").replace("testimmutability", "dir1")
        assert site.admin("mmchfileset", "fs1", "dir1", "--iam-mode", "noncompliant").stdout == changed
        gone = transcript("storage/gpfs/mmunlinkfileset.txt").replace(STORE, "dir1")
        assert site.admin("mmunlinkfileset", "fs1", "dir1").stdout == gone
        deleted = site.admin("mmdelfileset", "fs1", "dir1", "-f").stdout.splitlines()
        wanted = transcript("storage/gpfs/mmdelfileset.txt").replace(STORE, "dir1").splitlines()
        assert [*deleted[:3], *deleted[4:]] == [*wanted[:3], *wanted[4:]]
        assert deleted[3].startswith(" 100.00 % complete on ")
        assert [len(deleted[3]), deleted[3].endswith(" MB data processed)")] == [len(wanted[3]), True]

    def test_an_unknown_fileset(self, site, transcript):
        result = site.admin("mmlsfileset", "fs1", "fset", "-Y")
        assert (result.returncode, result.stdout) == (22, "")
        assert result.stderr == transcript("storage/gpfs/mmlsfileset_unknown.txt")

    def test_a_dependent_fileset_outside_of_its_space(self, site, transcript):
        site.admin("mmcrfileset", "fs1", "owner", "--inode-space", "new")
        site.admin("mmcrfileset", "fs1", "web", "--inode-space", "owner")
        site.admin("mmlinkfileset", "fs1", "owner", "-J", f"{site.mount_point}/owner")
        refused = site.admin("mmlinkfileset", "fs1", "web", "-J", f"{site.mount_point}/web")
        assert (refused.returncode, refused.stderr) == (1, transcript("storage/gpfs/mmlinkfileset_other_space.txt"))
        assert site.admin("mmlinkfileset", "fs1", "web", "-J", f"{site.mount_point}/owner/web").returncode == 0
        rows = {row["filesetName"]: row for row in records(site.admin("mmlsfileset", "fs1", "-Y").stdout)}
        assert [rows["web"][key] for key in ("isInodeSpaceOwner", "maxInodes", "inodeSpace", "parentId")] == [
            *("0", "0", "1"),
            rows["owner"]["id"],
        ]


class TestRecords:
    def test_a_new_fileset_is_unlinked_and_its_path_is_encoded(self, site):
        site.admin("mmcrfileset", "fs1", "a-b_c", "-t", "ends: 2026-12 %", "--inode-space", "new")
        line = site.admin("mmlsfileset", "fs1", "a-b_c", "-Y").stdout.splitlines()[1]
        assert ":Unlinked:%2D%2D:--:" in line
        assert ":ends%3A 2026-12 %25:off:" in line
        site.admin("mmlinkfileset", "fs1", "a-b_c", "-J", f"{site.mount_point}/a-b_c")
        line = site.admin("mmlsfileset", "fs1", "-J", f"{site.mount_point}/a-b_c", "-Y").stdout.splitlines()[1]
        assert "%2Ffs1%2Fa%2Db%5Fc:0:" in line

    @pytest.mark.parametrize(("version", "longer"), [("5.1", 0), ("5.2", 5), ("6.0", 0)])
    def test_rows_of_a_release_are_longer_than_the_header(self, site, version, longer):
        site.change(lambda state: state.update(version=version))
        head, row = site.admin("mmlsfileset", "fs1", "-Y").stdout.splitlines()
        assert len(head.split(":")) == 92
        assert len(row.split(":")) == 92 + longer
        assert row.endswith(":default:")

    def test_a_fileset_counts_what_it_holds_when_asked(self, site):
        site.admin("mmcrfileset", "fs1", "a")
        site.admin("mmlinkfileset", "fs1", "a", "-J", f"{site.mount_point}/a")
        place = site.root / "shared/fs/fs1/a"
        (place / "in").mkdir()
        (place / "in/file").write_bytes(bytes(4096))
        os.link(place / "in/file", place / "again")
        rows = records(site.admin("mmlsfileset", "fs1", "-i", "-Y").stdout)
        assert [(row["inodes"], row["dataInKB"]) for row in rows] == [("1", "0"), ("3", "4")]
        assert {row["inodes"] for row in records(site.admin("mmlsfileset", "fs1", "-Y").stdout)} == {"-"}

    def test_columns_are_those_of_the_transcript(self, transcript):
        assert transcript("storage/gpfs/mmlsfileset_y.txt").splitlines()[0].split(":")[6:-1] == FIELDS.split()

    def test_only_root_lists_filesets(self, site, any_user):
        site.admin("mmlscluster")
        site["nsd1"].device("gpfs").journal(tool="made by root")
        site["nsd1"].prefix = []  # only root may enter its mounts
        assert site.admin("mmlsfileset", "fs1", **any_user).returncode == 2


class TestCreating:
    def test_its_root_directory_is_roots_alone(self, site):
        site.admin("mmcrfileset", "fs1", "a", "--inode-space", "new")
        place = site.root / "shared/filesets/fs1/1"
        assert (place.stat().st_uid, stat.S_IMODE(place.stat().st_mode)) == (0, 0o700)
        site.admin("mmlinkfileset", "fs1", "a", "-J", f"{site.mount_point}/a")
        os.chown(site.root / "shared/fs/fs1/a", 1001, 1002)
        (site.root / "shared/fs/fs1/a").chmod(0o2770)
        site.admin("mmunlinkfileset", "fs1", "a")
        site.admin("mmlinkfileset", "fs1", "a", "-J", f"{site.mount_point}/b")
        seen = site["nsd1"].command("stat", "-c", "%u %g %a", f"{site.mount_point}/b")
        assert seen == "1001 1002 2770\n"  # the directory of an unlinked fileset stays as it was

    @pytest.mark.parametrize(
        ("limit", "seen"),
        [
            ([], ("100352", "100352")),
            (["--inode-limit", "20000000"], ("20000768", "100352")),
            (["--inode-limit", "100000:1024"], ("100352", "1024")),
            (["--inode-limit", "2M:65000"], ("2097152", "65536")),
        ],
    )
    def test_inodes_are_rounded_up(self, site, limit, seen):
        assert site.admin("mmcrfileset", "fs1", "a", "--inode-space", "new", *limit).returncode == 0
        row = records(site.admin("mmlsfileset", "fs1", "a", "-Y").stdout)[0]
        assert (row["maxInodes"], row["allocInodes"]) == seen

    def test_from_6_0_it_can_be_linked_at_once(self, site):
        junction = f"{site.mount_point}/a"
        assert site.admin("mmcrfileset", "fs1", "a", "-J", junction).returncode == 1
        site.change(lambda state: state.update(version="6.0"))
        made = site.admin("mmcrfileset", "fs1", "a", "-J", junction)
        assert made.stdout.endswith(f"Fileset a linked at {junction}\n")


REFUSED = [
    "mmcrfileset fs9 b",
    "mmcrfileset fs1 a",
    "mmcrfileset fs1 root",
    "mmcrfileset fs1 new",
    "mmcrfileset fs1 -- -b",
    "mmcrfileset fs1 b*",
    f"mmcrfileset fs1 {'x' * 256}",
    "mmcrfileset fs1 b --inode-limit 1024",
    "mmcrfileset fs1 b --inode-space dependent",
    "mmcrfileset fs1 b --inode-space nowhere",
    "mmcrfileset fs1 b --inode-space new --inode-limit 1024:2048",
    "mmcrfileset fs1 b --inode-space new --inode-limit many",
    "mmcrfileset fs1 b --allow-permission-change never",
    "mmcrfileset fs1",
    "mmlinkfileset fs1 a -J MOUNT/elsewhere",
    "mmlinkfileset fs1 dependent -J MOUNT/a",
    "mmlinkfileset fs1 dependent -J MOUNT/no/such",
    "mmlinkfileset fs1 dependent -J /tmp/b",
    "mmlinkfileset fs1 dependent -J MOUNT/../b",
    "mmlinkfileset fs1 nowhere -J MOUNT/b",
    "mmunlinkfileset fs1 root",
    "mmunlinkfileset fs1 dependent",
    "mmunlinkfileset fs1 -J MOUNT/b",
    "mmdelfileset fs1 root",
    "mmdelfileset fs1 a",
    "mmdelfileset fs1 nowhere",
    "mmchfileset fs1 a",
    "mmchfileset fs1 a -j dependent",
    "mmchfileset fs1 a --inode-limit 4096:1024",
    "mmchfileset fs1 a --inode-limit 1024",
    "mmchfileset fs1 dependent --inode-limit 4096",
]
"""With `a` of 2048 allocated inodes linked at MOUNT/a, and an unlinked `dependent`."""


@pytest.fixture
def two(site):
    site.admin("mmcrfileset", "fs1", "a", "--inode-space", "new", "--inode-limit", "8192:2048")
    site.admin("mmlinkfileset", "fs1", "a", "-J", f"{site.mount_point}/a")
    site.admin("mmcrfileset", "fs1", "dependent")
    return site


def tree(site):
    return sorted(str(path) for path in (site.root / "shared").rglob("*"))


def run(site, command):
    return site.admin(*command.replace("MOUNT", site.mount_point).split())


def test_refused_commands_change_nothing(two):
    before, files = two.state(), tree(two)
    for command in REFUSED:
        result = run(two, command)
        assert (result.returncode in (1, 22), result.stdout) == (True, ""), command
        assert result.stderr.endswith("Command failed.  Examine previous error messages to determine cause.\n")
        assert (two.state(), tree(two)) == (before, files), command


class TestChanging:
    def test_limits_grow_and_names_change_with_their_quota(self, two):
        two.admin("mmsetquota", "fs1:a", "--block", "1G:1G")
        assert two.admin("mmchfileset", "fs1", "a", "-j", "b", "--inode-limit", "9000:3000", "-t", "x").returncode == 0
        row = records(two.admin("mmlsfileset", "fs1", "b", "-Y").stdout)[0]
        assert [row[key] for key in ("maxInodes", "allocInodes", "comment")] == ["9216", "3072", "x"]
        assert records(two.admin("mmlsquota", "-Y", "-j", "b", "fs1").stdout, "fileset")[0]["blockLimit"] == "1048576"

    def test_a_fileset_in_use_stays_linked_unless_forced(self, two):
        folder = two.root / "shared/fs/fs1/a"
        with subprocess.Popen(["sh", "-c", "echo in; exec sleep 60"], cwd=folder, stdout=subprocess.PIPE) as user:
            assert user.stdout is not None
            assert user.stdout.readline() == b"in\n"
            refused = two.admin("mmunlinkfileset", "fs1", "a")
            forced = two.admin("mmunlinkfileset", "fs1", "a", "-f")
            user.kill()
        assert (refused.returncode, "busy" in refused.stderr, forced.returncode) == (1, True, 0)

    def test_one_with_files_is_deleted_only_with_force(self, two):
        (two.root / "shared/fs/fs1/a/file").touch()
        two.admin("mmunlinkfileset", "fs1", "a")
        assert two.admin("mmdelfileset", "fs1", "a").returncode == 1
        assert two.admin("mmdelfileset", "fs1", "a", "-f").returncode == 0
        assert not (two.root / "shared/filesets/fs1/1").exists()

    def test_an_inode_space_with_dependents_and_a_junction_with_others_below_stay(self, two):
        two.admin("mmcrfileset", "fs1", "c", "--inode-space", "a")
        two.admin("mmlinkfileset", "fs1", "c", "-J", f"{two.mount_point}/a/c")
        assert two.admin("mmunlinkfileset", "fs1", "a").returncode == 1
        two.admin("mmunlinkfileset", "fs1", "-J", f"{two.mount_point}/a/c")
        two.admin("mmunlinkfileset", "fs1", "a")
        assert two.admin("mmdelfileset", "fs1", "a", "-f").returncode == 1

    def test_a_junction_needs_a_mount_here_and_an_active_daemon(self, two):
        two.admin("mmumount", "fs1")
        assert "not mounted" in two.admin("mmlinkfileset", "fs1", "dependent", "-J", f"{two.mount_point}/b").stderr
        two.admin("mmshutdown")
        assert two.admin("mmlsfileset", "fs1").stderr.startswith("mmlsfileset: GPFS is down on this node.\n")


class TestFaults:
    """What each effect leaves, besides refusals and lies, which are the same for all commands."""

    def arm(self, site, tool, effect):
        site["nsd1"].device("gpfs").add_fault(tool, effect)

    def seen(self, site, name="a"):
        found = records(site.admin("mmlsfileset", "fs1", "-Y").stdout)
        return {row["filesetName"]: (row["status"], row["comment"], row["maxInodes"]) for row in found}.get(name)

    def test_dying_leaves_a_fileset_without_limit_comment_and_junction(self, site):
        site.change(lambda state: state.update(version="6.0"))
        self.arm(site, "mmcrfileset", "die")
        argv = ("--inode-space", "new", "--inode-limit", "8192", "-t", "x", "-J", f"{site.mount_point}/a")
        assert site.admin("mmcrfileset", "fs1", "a", *argv).returncode == -signal.SIGKILL
        assert self.seen(site) == ("Unlinked", "", "100352")

    def test_dying_deletes_files_and_not_the_fileset(self, two):
        (two.root / "shared/fs/fs1/a/file").touch()
        two.admin("mmunlinkfileset", "fs1", "a")
        self.arm(two, "mmdelfileset", "die")
        assert two.admin("mmdelfileset", "fs1", "a", "-f").returncode == -signal.SIGKILL
        assert self.seen(two) == ("Unlinked", "", "8192")
        assert two.admin("mmdelfileset", "fs1", "a").returncode == 0

    def test_dying_changes_a_comment_and_no_limit(self, two):
        self.arm(two, "mmchfileset", "die")
        two.admin("mmchfileset", "fs1", "a", "-t", "x", "--inode-limit", "16384")
        assert self.seen(two) == ("Linked", "x", "8192")

    @pytest.mark.parametrize("effect", ["lie", "refuse"])
    def test_lies_and_refusals_change_nothing(self, two, effect):
        before, files = two.state(), tree(two)
        for command in (
            "mmcrfileset fs1 b",
            "mmlinkfileset fs1 dependent -J MOUNT/b",
            "mmunlinkfileset fs1 a",
            "mmdelfileset fs1 dependent",
            "mmchfileset fs1 a -t x",
        ):
            self.arm(two, command.split()[0], effect)
            result = run(two, command)
            assert (result.returncode, bool(result.stdout)) == ((0, True) if effect == "lie" else (1, False)), command
            assert (two.state(), tree(two)) == (before, files), command

    def test_another_administrator_changes_it_again(self, two):
        for command, name, seen in (
            ("mmcrfileset fs1 b -t x", "b", ("Unlinked", SOMEBODY, "0")),
            ("mmlinkfileset fs1 dependent -J MOUNT/b", "dependent", ("Unlinked", "", "0")),
            ("mmunlinkfileset fs1 a", "a", ("Linked", "", "8192")),
            ("mmdelfileset fs1 dependent", "dependent", ("Unlinked", SOMEBODY, "0")),
            ("mmchfileset fs1 a -t x", "a", ("Linked", SOMEBODY, "8192")),
        ):
            self.arm(two, command.split()[0], "drift")
            assert run(two, command).returncode == 0
            assert self.seen(two, name) == seen, command

    def test_an_end_while_the_lock_is_held_leaves_neither_lock_nor_change(self, site):
        site.change(lambda state: state.update(change_takes_s=60.0))
        process = site["nsd1"].start("mmcrfileset", "fs1", "a")
        lock = site.device.directory / ".cluster.lock"
        until(lambda: lock.exists() and lock_is_held(lock), 60, "the command holds the lock")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        assert not lock_is_held(lock)
        assert list(site.state()["filesystems"]["fs1"]["filesets"]) == ["root"]


def lock_is_held(path: Path) -> bool:
    return subprocess.run(["flock", "--nonblock", path, "true"], check=False).returncode != 0
