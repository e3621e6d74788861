# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Forms for people, from transcripts."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.remote import text

TRANSCRIPTS = Path(__file__).resolve().parents[5] / "transcripts/storage/gpfs"
OWNER = "ess3000.bda.scale.ibm.com"


def read(name: str) -> str:
    return (TRANSCRIPTS / f"{name}.txt").read_text()


def test_mmauth_shows_clusters_with_their_grants_and_this_one() -> None:
    found = text.authorized(read("mmauth_show"))
    client, own = found["ibm-spectrum-scale.ocp2.scale.ibm.com"], found["ess3k-2a1.scale.ibm.com"]
    assert client.digest.startswith("120181a2") and client.grants == {"essfs1": ("rw", "root")}
    assert own.own and own.digest.startswith("5d26357a") and own.grants == {}


def test_several_grants_stand_on_lines_of_their_own() -> None:
    shown = (
        "Cluster name:        a.b\nSHA digest:          ff\n"
        "File system access:  fs1       (ro, root remapped to 99:98)\n"
        "                     fs2       (rw, root allowed)\n"
    )
    assert text.authorized(shown)["a.b"].grants == {"fs1": ("ro", "99:98"), "fs2": ("rw", "root")}
    assert text.authorized(shown.replace("fs1       (ro", "(none authorized) (x"))["a.b"].grants == {
        "fs2": ("rw", "root")
    }


def test_remote_clusters_and_file_systems() -> None:
    contacts, digest = text.clusters(read("mmremotecluster_show"))[OWNER]
    assert contacts[0] == "ess3000-3a.bda.scale.com" and len(contacts) == 3 and digest.startswith("8e29e5b1")
    found = text.filesystems(read("mmremotefs_show"))
    assert found == {"fs1": text.RemoteFilesystem("ess3k_fs1", OWNER, "/mnt/fs1", "rw")}


def test_nothing_defined() -> None:
    assert text.is_none("mmremotefs: There are no remote file systems defined.")
    assert not text.is_none("mmremotefs: Permission denied")
