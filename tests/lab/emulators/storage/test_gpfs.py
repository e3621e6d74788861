# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The mm* commands on several hosts of one cluster, against public transcripts and documented behaviour.

The tests of the modules mm_node and mm_mount run them with every fault.
"""

import contextlib
import fcntl
import subprocess
import time
from pathlib import Path

import pytest

from lab.emulators.common import Device
from lab.emulators.storage.gpfs.states import default_state
from tests.lab.emulators.conftest import Host
from tests.lab.emulators.storage.gpfs_site import Site, records, undated
from tests.waiting import until


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path)


def as_cluster(state, name, nodes):
    """Turn the state into the cluster of a transcript: nodes as {name: (ip, designation, license)}."""
    state.update(name=name, admin_nodes=list(nodes), nodes={}, daemons={}, pushes={})
    for number, (node, (ip, designation, license_)) in enumerate(nodes.items(), 1):
        kind = {"number": number, "daemon": node, "admin": node, "ip": ip, "designation": designation}
        state["nodes"][node] = {**kind, "license": license_}
        state["daemons"][node] = {"state": "active", "polls": 0}
        state["pushes"][node] = 0


@pytest.fixture
def as_node(tmp_path):
    """A site of one host that has a transcript's name."""

    def make(name, cluster, nodes):
        (tmp_path / "hosts").write_text("".join(f"{ip or '10.0.0.1'} {node}\n" for node, (ip, _, _) in nodes.items()))
        device = Device(tmp_path / "shared/gpfs", tmp_path / "shared/clock")
        with device.state({**default_state(), "boots": {name: f"{name}-first"}}) as state:
            as_cluster(state, cluster, nodes)
        return Host(tmp_path, name), device

    return make


TWO = {"gpfs-01": ("192.168.196.150", "quorumManager", "none"), "gpfs-02": ("192.168.196.160", "quorumManager", "none")}
THREE = {f"worker0{n}": (f"10.10.1.1{n}", "quorum", "server") for n in (1, 2, 3)}
LICENSED = {"c01": ("", "quorum", "server"), "c02": ("", "quorum", "server"), "c03": ("", "", "client")}
ONE = {"lsst-verify00.ncsa.illinois.edu": ("", "quorum", "server")}
EC = {"ec01": ("10.0.0.1", "quorum", "server")}


class TestTranscripts:
    @pytest.mark.parametrize(
        ("nodes", "version", "command", "name"),
        [
            (TWO, "5.2", "mmlscluster", "mmlscluster"),
            (TWO, "5.2", "mmgetstate -aLs", "mmgetstate_l"),
            (TWO, "5.2", "mmchlicense server --accept -N all", "mmchlicense"),
            (THREE, "5.2", "mmgetstate -a", "mmgetstate"),
            (LICENSED, "5.2", "mmlslicense -L", "mmlslicense_l"),
            (ONE, "5.2", "mmlslicense -Y", "mmlslicense_y"),
            (EC, "5.1", "mmgetstate -Y", "mmgetstate_y_5.1"),
            (EC, "5.2", "mmgetstate -Y", "mmgetstate_y_5.2"),
        ],
    )
    def test_a_command_prints_what_the_real_one_did(self, as_node, transcript, nodes, version, command, name):
        host, device = as_node(next(iter(nodes)), "gpfscluster.gpfs-01", nodes)
        with device.state() as state:
            state["version"] = version
        assert host.run(*command.split()).stdout == transcript(f"storage/gpfs/{name}.txt")

    def test_mmlscluster_records(self, as_node, transcript):
        nodes = {
            "server-1.domain.com": ("10.0.0.1", "quorum", "server"),
            "server-3.domain.com": ("10.0.0.4", "quorumManager", "server"),
        }
        host, device = as_node("server-1.domain.com", "cluster.domain.com", nodes)
        with device.state() as state:
            state.update(id="2936932203756487754", primary="server-1.domain.com")
            for node in state["nodes"].values():
                node.update(roles="Z", roles_alias="perfmon")
        wanted = ("mmlscluster:clusterSummary:", "mmlscluster:clusterNode:")
        output = host.run("mmlscluster", "-Y").stdout
        lines = [line for line in output.splitlines() if line.startswith(wanted)]
        assert lines == transcript("storage/gpfs/mmlscluster_y.txt").splitlines()
        assert "mmlscluster:cesNode:HEADER:" in output  # empty sections still have their headers, before any row
        assert output.rindex(":HEADER:") < output.index(":0:1:")

    def test_mmlsfs(self, site, transcript):
        site.change(lambda state: state["filesystems"]["fs1"].update(mount_point="/ibm/fs1"))
        assert site.admin("mmlsfs", "fs1", "-T").stdout == transcript("storage/gpfs/mmlsfs_t.txt")
        site.change(
            lambda state: state["filesystems"].update(FS1={**state["filesystems"]["fs1"], "mount_point": "/ibm/FS1"})
        )
        assert site.admin("mmlsfs", "FS1", "-T", "-Y").stdout == transcript("storage/gpfs/mmlsfs_y.txt")

    def test_partial_mmaddnode(self, site, transcript):
        site.change(lambda state: state["unreachable"].append("gpu02"))
        result = site.admin("mmaddnode", "-N", "gpu01,gpu02", capture_output=False, stdout=-1, stderr=subprocess.STDOUT)
        wanted = undated(transcript("storage/gpfs/mmaddnode_partial.txt"))
        wanted = wanted.replace("client04", "gpu01").replace("client05", "gpu02")
        assert result.returncode == 0  # although a node could not be added
        assert sorted(undated(result.stdout).splitlines()) == sorted(wanted.splitlines())  # two streams in one pipe

    def test_starting_a_running_node_and_deleting_one(self, site, transcript):
        started = transcript("storage/gpfs/mmstartup_active.txt").replace("gpfs-01", "nsd1")
        result = site.admin("mmstartup", "-N", "nsd1")
        assert (result.returncode, undated(result.stdout)) == (0, undated(started))
        site.admin("mmaddnode", "-N", "gpu01")
        assert site.admin("mmdelnode", "-N", "gpu01").stdout == transcript("storage/gpfs/mmdelnode.txt")
        site.admin("mmaddnode", "-N", "gpu02")
        assert site.state()["nodes"]["gpu02"]["number"] == 3, "numbers are not used again"

    @pytest.mark.parametrize("command", ["mmlscluster", "mmgetstate", "mmlsmount all", "mmaddnode -N x"])
    def test_a_host_of_no_cluster(self, site, transcript, command):
        result = site["gpu01"].run(*command.split())
        told = transcript("storage/gpfs/not_a_member.txt").replace("mmlscluster", command.split()[0])
        assert (result.returncode, result.stdout, result.stderr) == (1, "", told)


REFUSED = [
    ("nsd1", "mmaddnode -N nsd1", "Command failed.  Examine previous error messages to determine cause.\n"),
    ("gpu01", "mmaddnode -N gpu02", ""),
    ("nsd1", "mmgetstate -N gpu99", "gpu99"),
    ("nsd1", "mmdelnode -N nsd1", ""),
    ("nsd1", "mmchconfig pagePool=1G", ""),
    ("nsd1", "mmchconfig verbsRdma=maybe", ""),
    ("nsd1", "mmchconfig workerThreads=512 -i -N gpu01", "not supported"),
    ("nsd1", "mmchnode --daemon-interface=gpu02 -N gpu01", ""),
]
"""With gpu01 as an active client; tests of module mm_node have further refusals."""


@pytest.mark.parametrize(("host", "command", "told"), REFUSED, ids=[command for _, command, _ in REFUSED])
def test_a_refused_command_changes_nothing(site, host, command, told):
    site.join("gpu01")
    before = site.state()
    result = site[host].run(*command.split())
    assert (result.returncode, told in result.stderr) == (1, True)
    assert site.state() == before


class TestJoining:
    def test_descriptors_give_designation_admin_name_and_licence(self, site):
        site.admin(
            "mmaddnode", "--accept", "-N", "gpu01:nonquorum-client:gpu01-adm:client,gpu02:quorum-manager,gpu03::"
        )
        nodes = records(site.admin("mmlscluster", "-Y").stdout, "clusterNode")
        assert [(node["daemonNodeName"], node["adminNodeName"], node["designation"]) for node in nodes] == [
            ("nsd1", "nsd1", "quorumManager"),
            ("gpu01", "gpu01-adm", ""),
            ("gpu02", "gpu02", "quorumManager"),
            ("gpu03", "gpu03", ""),
        ]
        licences = records(site.admin("mmlslicense", "-Y").stdout)
        assert [licence["designatedLicense"] for licence in licences] == ["server", "client", "none", "none"]
        assert [licence["requiredLicense"] for licence in licences] == ["server", "client", "server", "client"]

    def test_a_name_that_is_a_file_is_read_as_a_file(self, site, tmp_path):
        (tmp_path / "here").mkdir()
        (tmp_path / "here/gpu01").write_text("# new\n\ngpu02:nonquorum-client\n  gpu03  # second\n")
        site.admin("mmaddnode", "-N", "gpu01", cwd=tmp_path / "here")
        assert set(site.state()["nodes"]) == {"nsd1", "gpu02", "gpu03"}

    def test_licences_need_accepting(self, site):
        result = site.admin("mmaddnode", "-N", "gpu01:::client")
        assert "Warning: Not all nodes have proper GPFS license designations." in result.stdout
        for options, license_ in (
            ({"stdin": subprocess.DEVNULL}, "none"),
            ({"input": "yes\n"}, "client"),
        ):
            refused = site.admin("mmchlicense", "client", "-N", "gpu01", **options).returncode
            assert (site.state()["nodes"]["gpu01"]["license"], refused) == (license_, int(license_ == "none"))

    def test_an_ordinary_user_changes_nothing(self, site, any_user):
        site.admin("mmlscluster")
        site["nsd1"].device("gpfs").journal(tool="made by root")
        assert site.admin("mmaddnode", "-N", "gpu01", **any_user).returncode == 1
        assert "gpu01" not in site.state()["nodes"]


class TestDaemon:
    def test_a_started_node_has_its_configuration(self, site):
        site.change(lambda state: state.update(lag_calls=9))
        site.join("gpu01")
        assert site["gpu01"].run("mmlsmount", "fs1").returncode == 0

    def test_a_node_can_be_stuck_and_an_unlicensed_one_does_not_start(self, site):
        site.change(lambda state: state.update(arbitrating_polls=99))
        site.join("gpu01")
        assert site.seen("gpu01") == "arbitrating"
        site.admin("mmaddnode", "-N", "gpu02")
        assert site.admin("mmstartup", "-N", "gpu02").returncode == 1
        assert site.seen("gpu02") == "down"

    def test_a_client_sees_only_itself(self, site):
        site.join("gpu01")
        assert site.seen("gpu01", by="gpu01") == "active"
        everybody = records(site["gpu01"].run("mmgetstate", "-a", "-Y").stdout)
        assert {row["state"] for row in everybody} == {"unknown"}

    @pytest.mark.parametrize(("autoload", "state"), [([], "down"), (["gpu01"], "arbitrating")])
    def test_after_a_boot_only_autoload_starts_gpfs(self, site, autoload, state):
        site.join("gpu01")
        site.change(lambda cluster: cluster["autoload"].extend(autoload))
        site["gpu01"].boot("second")
        assert site.seen("gpu01", by="gpu01") == state


@contextlib.contextmanager
def daemon(host):
    """Run the host's daemon, as its gpfs.service does."""
    process = host.start("mmfsd")
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


class TestMounts:
    @pytest.fixture
    def gpu01(self, site):
        site.join("gpu01", "gpu02")
        with site["gpu01"].own_mounts() as host:
            yield host

    def test_mmlsmount_knows_short_names_and_modes(self, site, gpu01, transcript):
        empty = site.admin("mmlsmount", "all", "-Y").stdout
        assert [(row["totalNodes"], row["nodeName"]) for row in records(empty)] == [("0", "")]
        assert site.admin("mmlsmount", "fs1").stdout == "File system fs1 is not mounted.\n"
        gpu01.run("mmmount", "fs1", "-o", "ro")
        rows = site.admin("mmlsmount", "fs1", "-Y").stdout.splitlines()[1:]
        wanted = transcript("storage/gpfs/mmlsmount_y.txt").strip()
        for ours, theirs in {"ltfscache": "fs1", "ltfs.net": "drawbridge-lab.nsd1", ":RW:": ":RO:"}.items():
            wanted = wanted.replace(ours, theirs)
        assert rows == [wanted.replace("2:192.168.100.2:ltfs2", "1:10.77.1.21:gpu01")]
        assert site.admin("mmlsmount", "fs1").stdout == "File system fs1 is mounted on 1 nodes.\n"

    def test_another_mount_point_can_be_given(self, site, gpu01):
        other = f"{site.root}/elsewhere"
        assert undated(gpu01.run("mmmount", "fs1", other).stdout) == "DATE: mmmount: Mounting file systems ...\n"
        assert other in gpu01.command("cat", "/proc/self/mounts")
        assert gpu01.run("mmumount", "fs1").returncode == 0
        assert other not in gpu01.command("cat", "/proc/self/mounts")

    def test_refusals(self, site, gpu01):
        unknown = gpu01.run("mmmount", "fs9")
        assert unknown.returncode == 1
        assert unknown.stderr.startswith("mmmount: File system fs9 is not known to the GPFS cluster.\n")
        assert gpu01.run("mmumount", "fs1").stderr.startswith("mmumount: No file systems were found\n")
        site.change(lambda state: state["filesystems"]["fs1"].update(maintenance="yes"))
        assert gpu01.run("mmmount", "fs1").returncode == 1
        site.change(lambda state: state["filesystems"]["fs1"].update(maintenance="no"))
        site.admin("mmshutdown", "-N", "gpu01")
        assert gpu01.run("mmmount", "fs1").returncode == 1
        assert site.mount_point not in gpu01.command("cat", "/proc/self/mounts")

    def test_a_busy_file_system_stays_unless_forced(self, site, gpu01):
        gpu01.run("mmmount", "fs1")
        script = f"cd {site.mount_point} && echo in && exec sleep 60"
        with subprocess.Popen([*gpu01.prefix, "sh", "-c", script], stdout=subprocess.PIPE, text=True) as user:
            try:
                assert user.stdout is not None
                assert user.stdout.readline() == "in\n"
                refused = gpu01.run("mmumount", "fs1")
                assert refused.returncode == 1
                assert f"umount: {site.mount_point}: target is busy." in refused.stderr
                assert gpu01.run("mmumount", "fs1", "-f").returncode == 0
            finally:
                user.kill()

    def test_an_admin_mounts_on_other_nodes_through_their_daemons(self, site, gpu01):
        with site["gpu02"].own_mounts() as gpu02, daemon(gpu01), daemon(gpu02):
            assert site.admin("mmmount", "fs1", "-N", "gpu01,gpu02").returncode == 0
            gpu01.command("sh", "-c", f"echo bridge > {site.mount_point}/file")
            assert gpu02.command("cat", f"{site.mount_point}/file") == "bridge\n"
            assert not Path(site.mount_point, "file").exists()
            rows = records(site.admin("mmlsmount", "fs1", "-Y").stdout)
            assert {row["nodeName"] for row in rows} == {"gpu01", "gpu02"}  # in the order in which they answered
            assert "gpu01:  forced unmount of" in site.admin("mmshutdown", "-N", "gpu01").stdout
            assert site.mount_point not in gpu01.command("cat", "/proc/self/mounts")

    def test_a_node_that_does_not_answer_fails_and_the_others_proceed(self, site, gpu01):
        with daemon(gpu01):
            process = site["nsd1"].start("mmmount", "fs1", "-N", "gpu01,gpu02")
            until(lambda: list(site.state()["mounts"]["fs1"]) == ["gpu01"], 120, "gpu01 has mounted")
            site.change(lambda state: state.update(request_timeout_s=0.0))
            _, told = process.communicate(timeout=120)
        assert process.returncode == 1
        assert "gpu02:  The remote command did not complete in time." in told
        assert list(site.state()["mounts"]["fs1"]) == ["gpu01"]
        assert site.state()["requests"] == {}

    def test_autoload_and_automount_bring_a_booted_node_back(self, site, gpu01):
        site.change(lambda state: state["autoload"].append("gpu01"))
        site.change(lambda state: state["filesystems"]["fs1"].update(automatic="yes"))
        gpu01.boot("second")
        with daemon(gpu01):
            until(lambda: list(site.state()["mounts"]["fs1"]) == ["gpu01"], 120, "gpu01 has mounted")


def test_noise_of_a_remote_shell_comes_first_and_separators_are_percent_encoded(site):
    site.change(lambda state: state["filesystems"]["fs1"].update(mount_point="/gpfs/a-b_c:%é"))
    site.change(lambda state: state.update(noise="Authorized users only: all activity is logged"))
    printed = site.admin("mmlsfs", "all", "-Y").stdout
    assert printed.startswith("Authorized users only: all activity is logged\nmmlsfs")
    assert ":defaultMountPoint:%2Fgpfs%2Fa-b_c%3A%25é::" in printed


class TestLock:
    def test_changes_at_the_same_time_wait_for_each_other(self, site):
        site.change(lambda state: state.update(change_takes_s=0.2, lock_timeout_s=300.0))
        with (site.device.directory / ".cluster.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # until all three have met it, however late one starts
            processes = [site["nsd1"].start("mmaddnode", "-N", name) for name in ("gpu01", "gpu02", "gpu03")]
            said = [process.stderr.readline() for process in processes]
            released = time.monotonic()
        for process in processes:
            process.communicate(timeout=120)
        took = time.monotonic() - released
        assert [process.returncode for process in processes] == [0, 0, 0]
        assert len(site.state()["nodes"]) == 4
        busy = "mmaddnode: Unable to obtain the GPFS configuration file lock. Retrying ...\n"
        assert (said, took >= 3 * 0.2) == ([busy] * 3, True)


def test_a_hanging_command_holds_no_lock(site):
    site["nsd1"].device("gpfs").add_fault("mmaddnode", "hang")
    process = site["nsd1"].start("mmaddnode", "-N", "gpu01")
    until(lambda: site["nsd1"].device("gpfs").calls(), 120, "the hanging command is in the journal")
    assert process.poll() is None
    assert site.admin("mmaddnode", "-N", "gpu02").returncode == 0
    process.kill()
    process.communicate()
