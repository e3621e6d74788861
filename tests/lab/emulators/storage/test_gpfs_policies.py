# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Policies against public transcripts and IBM's pages."""

import calendar

import pytest

from tests.lab.emulators.storage.gpfs_site import Site

ENCRYPTION = """\
RULE 'EncPolicyGenerator Rule' ENCRYPTION 'RULE1' IS
ALGO 'DEFAULTNISTSP800131AFAST'
KEYS ('NEW_MASTER_KEY: KP')
RULE 'Encrypt all files' SET ENCRYPTION 'RULE1' WHERE NAME LIKE '%'
"""
PLACEMENT = """\
/* managed: RULE in a comment is none */
define(is_small, (FILE_SIZE < 4096))
RULE EXTERNAL POOL 'tape' EXEC '/opt/tape'
RULE 'scratch' SET POOL 'system' FOR FILESET ('scratch','tmp')  -- rule of a remark
rule 'move' migrate from pool 'data' threshold(90,80) to pool 'tape' where is_small
RULE 'default' SET POOL 'data'
"""


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path)


def change(site, text, *flags, title="new_encryption_policy.pol"):
    path = site.root / title
    path.write_text(text)
    return site.admin("mmchpolicy", "fs1", path, *flags)


def installed(site):
    return site.admin("mmlspolicy", "fs1", "-L").stdout


class TestTranscripts:
    def test_a_policy_is_checked_and_installed(self, site, transcript):
        told = transcript("storage/gpfs/mmchpolicy.txt")
        tested = change(site, ENCRYPTION, "-I", "test")
        assert (tested.returncode, tested.stdout) == (0, told.splitlines(keepends=True)[0])
        assert installed(site) == "No policy file was installed for file system 'fs1'.\n"
        assert change(site, ENCRYPTION).stdout == told
        assert installed(site) == ENCRYPTION

    def test_who_installed_it(self, site, transcript):
        text = "/* This is the policy for the fs2 GPFS file system. */\nRULE 'default' SET POOL 'data'\n"
        change(site, text, "-t", "policy")
        when = calendar.timegm((2010, 3, 30, 15, 6, 20))

        def edit(state):
            state["filesystems"]["fs2"] = state["filesystems"]["fs1"]
            state["filesystems"]["fs2"]["policy"].update(host="c103rp12.gpfs.net", when=when)

        site.change(edit)
        assert site.admin("mmlspolicy", "fs2").stdout == transcript("storage/gpfs/mmlspolicy.txt")


def test_all_rules_are_replaced(site):
    assert "Parsed 4 policy rules." in change(site, PLACEMENT).stdout
    assert "Parsed 1 policy rules." in change(site, "RULE SET POOL 'data'").stdout
    assert installed(site) == "RULE SET POOL 'data'\n"
    assert site.admin("mmchpolicy", "fs1", "DEFAULT").returncode == 0
    assert installed(site) == "RULE 'DEFAULT' SET POOL 'system'\n"


MISTAKES = [
    ("", "at least one rule"),
    ("/* nothing */", "at least one rule"),
    ("RULE 'a' SETT POOL 'data'", "unexpected SETT in rule 1"),
    ("RULE 'a' SET POOL data", "unexpected data in rule 1"),
    ("RULE 'a'", "unexpected end of rule in rule 1"),
    ("rules\nRULE 'a' SET POOL 'data'", "unexpected rules in line 1"),
    ("RULE 'a' SET POOL 'data", "unexpected ' in line 1"),
    ("RULE 'a' SET POOL 'data'\nRULE 'b' SET POOL 'nvme'", "Rule 2 refers to storage pool 'nvme'"),
    ("RULE 'a' MIGRATE FROM POOL 'data' TO POOL 'tape'", "Rule 1 refers to storage pool 'tape'"),
]


def test_mistakes_are_refused_and_the_old_policy_stays(site):
    change(site, PLACEMENT)
    for text, told in MISTAKES:
        for flags in ([], ["-I", "test"]):
            refused = change(site, text, *flags)
            assert (refused.returncode, told in refused.stderr, refused.stdout) == (22, True, ""), text
    assert installed(site) == PLACEMENT


@pytest.mark.parametrize(
    "argv", [["fs1"], ["fs1", "/no/such/file"], ["fs9", "DEFAULT"], ["fs1", "DEFAULT", "-I", "maybe"]]
)
def test_calls_that_cannot_be_carried_out(site, argv):
    assert site.admin("mmchpolicy", *argv).returncode == 1
    assert installed(site) == "No policy file was installed for file system 'fs1'.\n"


def test_a_lie_and_another_administrator(site):
    site["nsd1"].device("gpfs").add_fault("mmchpolicy", "lie")
    assert change(site, PLACEMENT).returncode == 0
    assert installed(site) == "No policy file was installed for file system 'fs1'.\n"
    site["nsd1"].device("gpfs").add_fault("mmchpolicy", "drift")
    change(site, PLACEMENT)
    assert installed(site).startswith("/* another administrator's */\n")
