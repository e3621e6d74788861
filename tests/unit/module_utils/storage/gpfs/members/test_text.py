# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.members import text
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.members.plan import (
    Member,
    Membership,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.mounts.plan import (
    ClientState,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.text import Row

ROWS = [
    Row(daemonnodename="node10.site", adminnodename="node10-adm.site", ipaddress="10.0.0.10"),
    Row(daemonnodename="node1.site", adminnodename="node1-adm.site", ipaddress="10.0.0.1"),
    Row(daemonnodename="node1.lab", adminnodename="node1.lab", ipaddress="10.1.0.1"),
]
NODES = text.directory(ROWS)
MOUNTINFO = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
90 22 0:52 / /gpfs/fs1 rw,relatime shared:7 - gpfs fs1 rw
91 22 8:1 /srv/x /with\\040blank rw - ext4 /dev/sda1 rw
92 90 0:53 / /gpfs/fs1 rw - tmpfs none rw
"""


def test_a_node_answers_to_each_of_its_names_and_no_other() -> None:
    for name in ("node1", "node1.site", "node1-adm", "node1-adm.site", "10.0.0.1"):
        assert text.find(NODES, name) is ROWS[1], name
    assert text.find(NODES, "node10") is ROWS[0]
    assert text.find(NODES, "node1.lab") is ROWS[2]
    assert text.find(NODES, "10.0.0") is None
    assert text.find(NODES, "node") is None
    assert text.short("10.0.0.1") == "10.0.0.1", "addresses have no short form"


def test_a_full_name_is_found_by_its_short_form_where_the_cluster_has_no_more() -> None:
    row = Row(nodename="gpu01")
    assert text.find(text.directory([row]), "gpu01.site.example") is row


def test_a_full_name_stands_before_the_short_form_of_another() -> None:
    rows = [Row(nodename="gpu01.site"), Row(nodename="gpu01")]
    assert text.find(text.directory(rows), "gpu01") is rows[1]


def test_the_topmost_mount_wins_and_blanks_are_decoded() -> None:
    table = text.mountinfo(MOUNTINFO)
    assert table["/"] == ("ext4", "/dev/sda1")
    assert table["/gpfs/fs1"] == ("tmpfs", "none")
    assert "/with blank" in table


def test_lines_are_words_of_the_tools() -> None:
    members = {"gpu01": Member("client"), "gpu02": None, "nsd1": Member("server", "quorumManager", configured=False)}
    assert Membership(members).lines() == ["gpu01 client", "nsd1 quorumManager server without configuration"]
    assert ClientState({"fs1": "/gpfs/fs1"}).lines() == ["GPFS active", "fs1 /gpfs/fs1 gpfs"]
