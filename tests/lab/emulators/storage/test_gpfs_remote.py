# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A cluster that mounts the file system of another one."""

import pytest

from lab.emulators.storage.gpfs.remote import own_digest
from lab.emulators.storage.gpfs.states import CLUSTER, default_state, local_copy
from tests.lab.emulators.conftest import Host
from tests.lab.emulators.storage.gpfs_site import Site, records

OWNER, HERE = f"{CLUSTER}ess1", f"{CLUSTER}nsd1"


@pytest.fixture
def site(tmp_path):
    """nsd1's cluster with gpu01, and ess1 with a cluster of its own."""
    site = Site(tmp_path)
    with (tmp_path / "hosts").open("a") as hosts:
        hosts.write("10.77.1.14 ess1\n")
    site.hosts["ess1"] = owner = Host(tmp_path, "ess1")
    local = owner.directory / "mmfs/gen/mmsdrfs"
    local.parent.mkdir(parents=True)
    local.write_text(local_copy(default_state("ess1")))
    owner.run("mmlscluster")  # learns of its boot, and writes its key
    site.admin("mmlscluster")
    site.join("gpu01")
    return site


def key(site, host):
    return site[host].directory / "mmfs/ssl/id_rsa_committed.pub"


def connect(site):
    """Do all that both sides need."""
    for host, *argv in (
        ("ess1", "mmauth", "add", HERE, "-k", key(site, "nsd1")),
        ("ess1", "mmauth", "grant", HERE, "-f", "fs1", "-r", "65534:65534"),
        ("nsd1", "mmremotecluster", "add", OWNER, "-n", "ess1", "-k", key(site, "ess1")),
        ("nsd1", "mmremotefs", "add", "data", "-f", "fs1", "-C", OWNER, "-T", site.mount_point),
    ):
        done = site[host].run(*argv)
        assert done.returncode == 0, done.stderr
    site.change(lambda state: state["filesystems"].clear())


@pytest.fixture
def gpu01(site):
    with site["gpu01"].own_mounts() as host:
        yield host


def test_forms_are_those_of_the_transcripts(site, transcript):
    with site.owner.state() as state:
        state.update(name="ess3k-2a1.scale.ibm.com")
        grants = {"essfs1": {"access": "rw", "root": "root allowed"}}
        digest = "120181a28e571aebef129fc3d6f0ab4808f7805b1bb1c702ad0900fd9dfcba05"
        client = {"digest": digest, "cipher": "AUTHONLY", "grants": grants}
        state["auth"] = {"ibm-spectrum-scale.ocp2.scale.ibm.com": client}
        own = own_digest(state)
    wanted = transcript("storage/gpfs/mmauth_show.txt").splitlines()
    printed = site["ess1"].run("mmauth", "show", "all").stdout.splitlines()
    assert [" ".join(line.split()) for line in printed] == [
        f"SHA digest: {own}" if line.startswith("SHA digest:          5d26") else " ".join(line.split())
        for line in wanted
    ]
    contacts = "ess3000-3a.bda.scale.com,ess3000-3b.bda.scale.com,ems3000.bda.scale.com"
    entry = {"contacts": contacts, "digest": "8e29e5b130934a8938d00027bebaddca324da" + 27 * "0"}
    mount = {"remote": "ess3k_fs1", "cluster": "ess3000.bda.scale.ibm.com", "mount": "/mnt/fs1"}
    filesystems = {"fs1": {**mount, "options": "rw", "automount": "yes"}}
    known = {"ess3000.bda.scale.ibm.com": entry}
    site.change(lambda state: state.update(remote_clusters=known, remote_filesystems=filesystems))
    for verb in ("mmremotecluster", "mmremotefs"):
        assert site.admin(verb, "show", "all").stdout == transcript(f"storage/gpfs/{verb}_show.txt")


def test_a_remote_file_system_is_mounted_and_shared(site, gpu01):
    connect(site)
    assert gpu01.run("mmmount", "data").returncode == 0
    gpu01.command("sh", "-c", f"echo bridge > {site.mount_point}/file")
    assert (site.root / "shared/fs/ess1-fs1/file").read_text() == "bridge\n"
    [row] = records(site.admin("mmlsmount", "data", "-Y").stdout)
    assert (row["localDevName"], row["realDevName"], row["owningCluster"]) == ("data", "fs1", OWNER)
    [row] = records(site.admin("mmlsfs", "data", "-T", "-Y").stdout)
    assert row["data"].replace("%2F", "/") == site.mount_point


@pytest.mark.parametrize(
    ("side", "change", "told"),
    [
        ("owner", lambda state: state["auth"].clear(), "Permission denied"),
        ("owner", lambda state: state["auth"][HERE]["grants"].clear(), "Permission denied"),
        ("owner", lambda state: state["key"].update(committed=2), "Permission denied"),
        ("owner", lambda state: state["filesystems"]["fs1"].update(block_size=16 << 20), "block size larger"),
        ("here", lambda state: state["unreachable"].append("ess1"), "could not be contacted"),
    ],
)
def test_without_key_grant_contact_or_block_size_it_is_not_mounted(site, gpu01, side, change, told):
    connect(site)
    if side == "owner":
        with site.owner.state() as state:
            change(state)
    else:
        site.change(change)
    refused = gpu01.run("mmmount", "data")
    assert (refused.returncode, told in refused.stderr) == (1, True)
    assert site.mount_point not in gpu01.command("cat", "/proc/self/mounts")


def test_a_second_or_missing_definition_is_refused(site):
    connect(site)
    for host, *argv in (
        ("ess1", "mmauth", "add", HERE, "-k", key(site, "nsd1")),
        ("ess1", "mmauth", "grant", HERE, "-f", "fs9"),
        ("nsd1", "mmremotecluster", "add", OWNER, "-n", "ess1", "-k", key(site, "ess1")),
        ("nsd1", "mmremotecluster", "delete", OWNER),
        ("nsd1", "mmremotefs", "add", "more", "-f", "fs1", "-C", "elsewhere"),
        ("gpu01", "mmremotefs", "delete", "data"),
    ):
        assert site[host].run(*argv).returncode == 1, argv
