# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""mmpmon and mmdiag --waiters of the emulated cluster, against public transcripts and IBM's documentation."""

import os

import pytest

from tests.lab.emulators.storage.gpfs_site import Site, records

REQUEST = "fs_io_s\n"


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path)


@pytest.fixture
def client(site):
    """The founder, which is active from the start."""
    with site["nsd1"].own_mounts() as host:
        yield host


def pairs(text):
    """Return the answers of fs_io_s by file system, each as a dict by keyword."""
    found = [line.split() for line in text.splitlines() if line.startswith("_fs_io_s_ ")]
    answers = [dict(zip(words[1::2], words[2::2], strict=True)) for words in found]
    return {answer["_fs_"]: answer for answer in answers}


def mmpmon(host, *argv, text=REQUEST):
    return host.run("mmpmon", *(argv or ("-s", "-p")), input=text)


def test_counters_have_the_form_of_the_transcript(site, client, transcript):
    client.run("mmmount", "fs1")
    wanted = pairs(transcript("storage/gpfs/mmpmon_fs_io_s.txt"))["scratch"]
    known = {name: [int(wanted[name]), 0, 0] for name in ("_br_", "_bw_", "_oc_", "_cc_", "_rdc_", "_wc_", "_dir_")}
    site.change(lambda state: state.update(io={"nsd1": {"fs1": known}}))
    [found] = pairs(mmpmon(client).stdout).values()
    own = {"_n_": "10.77.1.13", "_nn_": "nsd1", "_cl_": "drawbridge-lab.nsd1", "_fs_": "fs1", "_d_": "2", "_iu_": "0"}
    assert list(found) == list(wanted)
    assert found == {**wanted, **own, "_t_": found["_t_"], "_tu_": found["_tu_"]}


def test_counters_grow_with_the_time_of_the_lab(site, client):
    client.run("mmmount", "fs1")
    start = site.device.now()
    site.change(lambda state: state.update(io={"nsd1": {"fs1": {"_bw_": [1000, 1e9, start]}}}))
    (site.root / "shared/clock").write_text("100")
    assert int(pairs(mmpmon(client).stdout)["fs1"]["_bw_"]) >= 100e9


def test_a_node_without_a_mount_answers_with_code_1(client):
    [(name, answer)] = pairs(mmpmon(client).stdout).items()
    assert (name, answer["_cl_"], answer["_rc_"]) == ("-", "-", "1")
    assert mmpmon(client, "-s").stdout.endswith("fs_io_s status 1\nno file systems mounted\n")


def test_people_read_words_and_see_a_prompt(client):
    client.run("mmmount", "fs1")
    shown = mmpmon(client, "-p")
    assert (list(pairs(shown.stdout)), shown.stderr) == (["fs1"], "mmpmon> ")
    assert "bytes written:  0\n" in mmpmon(client, "-s").stdout


@pytest.mark.parametrize(
    ("daemon", "told"), [("down", "Failed to connect to file system daemon"), ("arbitrating", "Waiting for quorum")]
)
def test_no_answer_without_an_active_daemon(site, client, daemon, told):
    site.change(lambda state: state["daemons"]["nsd1"].update(state=daemon, polls=-9))
    refused = mmpmon(client)
    assert (refused.returncode, refused.stdout, told in refused.stderr) == (1, "", True)


def test_requests_before_a_wrong_one_are_answered(client):
    client.run("mmmount", "fs1")
    refused = mmpmon(client, text=f"# comment\n{REQUEST}nonsense\n{REQUEST}")
    assert (refused.returncode, list(pairs(refused.stdout))) == (1, ["fs1"])


def test_it_can_end_with_0_after_an_error(client):
    client.run("mmmount", "fs1")
    client.device("gpfs").add_fault("mmpmon", "lie")
    lied = mmpmon(client)
    assert (lied.returncode, lied.stdout, "Unexpected mmpmon response" in lied.stderr) == (0, "", True)
    assert list(pairs(mmpmon(client).stdout)) == ["fs1"]


@pytest.mark.skipif(os.geteuid() != 0, reason="another user is needed")
def test_only_root_may_use_it(client):
    assert mmpmon(client).returncode == 0
    client.prefix += ["setpriv", "--reuid", "65534", "--clear-groups"]
    refused = mmpmon(client)
    assert (refused.returncode, "root user" in refused.stderr) == (1, True)


def test_waiters_have_the_form_of_the_transcript(site, client, transcript):
    site.change(lambda state: state.update(waiters={"nsd1": [["NSDThread", 0.0244, "for I/O"], ["Sync", 64.3, "x:y"]]}))
    header, *_ = transcript("storage/gpfs/mmdiag_waiters_y.txt").splitlines()
    text = client.run("mmdiag", "--waiters", "-Y").stdout
    assert text.splitlines()[0] == header
    found = [(row["threadName"], row["waitTime"], row["auxReason"]) for row in records(text, "waiters")]
    assert found == [("Sync", "64.3000", "x%3Ay"), ("NSDThread", "0.0244", "for I/O")]
    assert "thread 4000 Sync: x:y\n" in client.run("mmdiag", "--waiters").stdout


def test_a_node_without_waiters_prints_the_header_alone(client):
    assert len(client.run("mmdiag", "--waiters", "-Y").stdout.splitlines()) == 1
