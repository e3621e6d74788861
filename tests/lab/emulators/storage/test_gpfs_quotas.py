# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Quotas and pools against public transcripts and IBM's pages. Without the lab's process no limit is enforced."""

import os
import signal

import pytest

from lab.emulators.storage.gpfs import filesystems
from tests.lab.emulators.storage.gpfs_site import Site, records


@pytest.fixture
def site(tmp_path):
    """A cluster with an unlinked fileset."""
    site = Site(tmp_path)
    assert site.admin("mmcrfileset", "fs1", "a", "--inode-space", "new").returncode == 0
    return site


def quota(site, name="a"):
    """Return the row of a fileset's quota, nothing without one."""
    found = records(site.admin("mmlsquota", "-Y", "-j", name, "fs1").stdout, "fileset")
    return found[0] if found else {}


def limits(row):
    return [int(row[key]) for key in ("blockQuota", "blockLimit", "filesQuota", "filesLimit")]


class TestTranscripts:
    def as_file_system(self, site, device, name, number, entry):
        def edit(state):
            record = filesystems.completed({**state["filesystems"]["fs1"], "mount_point": f"/{device}"})
            record["filesets"] = {
                "root": record["filesets"]["root"],
                name: filesystems.fileset(number, 1, 0, "", (1024, 1024)),
            }
            record["quotas"] = {"USR": {}, "GRP": {}, "FILESET": {name: entry}}
            state["filesystems"][device] = record
            state["mounts"][device] = {}

        site.change(edit)

    def test_a_table_of_one_fileset(self, site, transcript):
        entry = {"block": [2147483648, 2147483648], "files": [0, 0]}
        self.as_file_system(site, "gemss_test", "data1", 1, entry)
        place = site.root / "shared/filesets/gemss_test/1"
        place.mkdir(parents=True)
        (place / "file").write_bytes(bytes(512 << 10))
        for number in range(3126):
            (place / str(number)).touch()
        printed = site.admin("mmlsquota", "-j", "data1", "gemss_test").stdout
        assert printed == transcript("storage/gpfs/mmlsquota_j.txt")

    def test_a_report(self, site, transcript):
        entry = {"block": [2147483648, 2147483648], "files": [2000000, 2000000]}
        self.as_file_system(site, "project", "PZS1003", 408, entry)
        site.change(lambda state: state["filesystems"]["project"].update(in_doubt={"root": [163840, 400]}))
        printed = site.admin("mmrepquota", "-j", "-Y", "project").stdout
        wanted = transcript("storage/gpfs/mmrepquota_j_y.txt")
        for usage, files in (("337419744", "1395"), ("341467872", "6286")):
            wanted = wanted.replace(f":{usage}:", ":0:").replace(f":none:{files}:", ":none:0:")
        assert printed == wanted

    def test_the_header_is_all_without_a_quota(self, site, transcript):
        result = site.admin("mmlsquota", "-Y", "-j", "a", "fs1")
        assert (result.returncode, result.stdout) == (0, transcript("storage/gpfs/mmlsquota_j_y.txt"))

    @pytest.mark.parametrize(("knob", "rc"), [(False, 22), (True, 0)])
    def test_errors_end_with_22_or_with_0(self, site, transcript, knob, rc):
        site.change(lambda state: state.update(quota_rc0=knob))
        unknown = site.admin("mmlsquota", "-j", "dat991", "fs1")
        assert (unknown.returncode, unknown.stderr) == (rc, transcript("storage/gpfs/mmlsquota_unknown.txt"))
        site.admin("mmchfs", "fs1", "-Q", "no")
        off = site.admin("mmlsquota", "-Y")
        assert (off.returncode, off.stdout, off.stderr) == (rc, "", transcript("storage/gpfs/mmlsquota_off.txt"))
        assert site.admin("mmsetquota", "fs1:a", "--block", "1G").returncode == rc
        assert "none" in site.admin("mmlsfs", "fs1", "-Q", "-Y").stdout

    def test_what_a_file_system_enforces(self, site, transcript):
        assert site.admin("mmlsfs", "fs1", "-Q").stdout == transcript("storage/gpfs/mmlsfs_q.txt")
        site.admin("mmchfs", "fs1", "--filesetdf", "--perfileset-quota")
        rows = {row["fieldName"]: row["data"] for row in records(site.admin("mmlsfs", "fs1", "-Y").stdout)}
        assert [rows[key] for key in ("filesetdfEnabled", "perfilesetQuotas", "quotasEnforced")] == [
            *("Yes", "Yes", "user;group;fileset"),
        ]

    def test_pools(self, site, transcript):
        pools = {
            "system": {"id": 0, "kib": 783308292096, "metadata": True},
            "data": {"id": 65537, "kib": 3064453922816, "metadata": False},
        }
        site.change(
            lambda state: state["filesystems"]["fs1"].update(pools=pools, block_size=8 << 20, mount_point="/fs/scratch")
        )
        printed = site.admin("mmlspool", "fs1").stdout
        for theirs, ours in (
            ("143079555072 ( 18%)", "704977462886 ( 89%)"),
            ("205366984704 ( 26%)", "704977462886 ( 89%)"),
            (" 529111449600 ( 17%)", "3064453922816 (100%)"),
        ):
            printed = printed.replace(ours, theirs, 1)
        assert printed == transcript("storage/gpfs/mmlspool.txt")
        assert site.admin("mmlspool", "fs1", "data").stdout.splitlines()[2].startswith("data  ")

    def test_free_space(self, site, transcript):
        printed = site.admin("mmdf", "fs1", "-Y").stdout
        assert printed.startswith(transcript("storage/gpfs/mmdf_y.txt"))
        assert [row["poolName"] for row in records(printed, "poolTotal")] == ["system", "data"]
        assert records(printed, "inode")[0]["usedInodes"] == "1"


class TestLimits:
    def test_they_are_whole_blocks_in_kib_and_a_missing_hard_limit_is_none(self, site):
        assert site.admin("mmsetquota", "fs1:a", "--block", "200000000000:1T", "--files", "10:20").stdout == ""
        assert limits(quota(site)) == [200001191936 >> 10, 1 << 30, 10, 20]
        site.admin("mmsetquota", "fs1:a", "--block", "1G")
        assert limits(quota(site)) == [1 << 20, 0, 10, 20]

    def test_an_entry_without_any_limit_is_gone(self, site):
        site.admin("mmsetquota", "fs1:a", "--block", "1G:2G", "--files", "10:20")
        site.admin("mmsetquota", "fs1:a", "--block", "0:0")
        assert limits(quota(site)) == [0, 0, 10, 20]
        site.admin("mmsetquota", "fs1:a", "--files", "0:0")
        assert quota(site) == {}
        rows = records(site.admin("mmrepquota", "-j", "-Y", "fs1").stdout)
        assert [(row["name"], row["remarks"]) for row in rows] == [("root", "i"), ("a", "N/A")]

    def test_refused_commands_change_nothing(self, site):
        site.admin("mmlsfs", "fs1")
        before = site.state()
        for command in (
            "mmsetquota fs1 --block 1G",
            "mmsetquota fs1:nowhere --block 1G",
            "mmsetquota fs9:a --block 1G",
            "mmsetquota fs1:a",
            "mmsetquota fs1:a --block 2G:1G",
            "mmsetquota fs1:a --block 1X",
            "mmsetquota fs1:a --files -1",
            "mmsetquota fs1:a --block 1G --user no-such-user",
            "mmsetquota fs1 --grace fileset --block soon",
            "mmsetquota fs1 --default project --block 1G",
            "mmchfs fs1 -Q maybe",
        ):
            assert site.admin(*command.split()).returncode in (1, 22), command
            assert site.state() == before, command

    def test_dying_leaves_out_files_and_another_administrator_doubles_blocks(self, site):
        site["nsd1"].device("gpfs").add_fault("mmsetquota", "die")
        argv = ("mmsetquota", "fs1:a", "--block", "1G:2G", "--files", "10:20")
        assert site.admin(*argv).returncode == -signal.SIGKILL
        assert limits(quota(site)) == [1 << 20, 2 << 20, 0, 0]
        site["nsd1"].device("gpfs").add_fault("mmsetquota", "drift")
        assert site.admin(*argv).returncode == 0
        assert limits(quota(site)) == [2 << 20, 4 << 20, 10, 20]
        site["nsd1"].device("gpfs").add_fault("mmsetquota", "lie")
        assert site.admin("mmsetquota", "fs1:a", "--block", "0").returncode == 0
        assert limits(quota(site)) == [2 << 20, 4 << 20, 10, 20]

    def test_users_and_groups_have_limits_in_all_or_in_one_fileset(self, site):
        for place, owner in (("shared/fs/fs1/file", 1001), ("shared/filesets/fs1/1/file", 1001)):
            (site.root / place).parent.mkdir(parents=True, exist_ok=True)
            (site.root / place).write_bytes(bytes(8192))
            os.chown(site.root / place, owner, 2001)
        site.admin("mmsetquota", "fs1", "--user", "1001", "--block", "1G:1G")
        site.admin("mmsetquota", "fs1:a", "--group", "2001", "--files", "5:6")
        rows = records(site.admin("mmlsquota", "-Y", "-u", "1001", "fs1").stdout, "user")
        assert [(row["blockUsage"], row["blockLimit"], row["filesUsage"]) for row in rows] == [("16", "1048576", "2")]
        rows = records(site.admin("mmrepquota", "-Y", "-g", "fs1").stdout)
        own = [row for row in rows if row["filesetname"] == "a"]
        assert [(row["id"], row["fid"], row["blockUsage"], row["filesLimit"]) for row in own] == [
            ("2001", "1", "8", "6")
        ]

    def test_a_grace_period_begins_above_the_soft_limit_and_ends(self, site):
        (site.root / "shared/filesets/fs1/1/file").write_bytes(bytes(8 << 20))
        site.admin("mmsetquota", "fs1:a", "--block", "4M:16M")
        assert (quota(site)["blockUsage"], quota(site)["blockGrace"]) == ("8192", "7 days")
        site.admin("mmsetquota", "fs1", "--grace", "fileset", "--block", "2hours")
        assert quota(site)["blockGrace"] == "2 hours"
        (site.root / "shared/clock").write_text("7201")
        assert (quota(site)["blockGrace"], quota(site)["filesGrace"]) == ("expired", "none")
        (site.root / "shared/filesets/fs1/1/file").unlink()
        assert quota(site)["blockGrace"] == "none"

    def test_numbers_in_doubt_until_files_are_counted(self, site):
        site.change(lambda state: state["filesystems"]["fs1"].update(in_doubt={"a": [1024, 3]}))
        site.admin("mmsetquota", "fs1:a", "--block", "1G:1G")
        assert (quota(site)["blockInDoubt"], quota(site)["filesInDoubt"]) == ("1024", "3")
        assert site.admin("mmcheckquota", "fs1").returncode == 0
        assert quota(site)["blockInDoubt"] == "0"

    def test_the_line_of_asterisks(self, site):
        first = site.admin("mmrepquota", "-Y", "fs1").stdout.splitlines()[0]
        assert first == "*** Report for USR GRP FILESET quotas on fs1"
        assert not site.admin("mmrepquota", "fs1").stdout.startswith("*")
        site.change(lambda state: state.update(quota_banner=False))
        assert site.admin("mmrepquota", "-Y", "fs1").stdout.startswith("mmrepquota::HEADER:")
