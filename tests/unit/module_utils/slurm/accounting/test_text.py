# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.accounting import text
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.accounting.plan import (
    AccountingState,
)

# Slurm 24.11.5, captured
ASSOCIATIONS = """\
root|||1|normal||||||
root|root||1|normal||||||
old||root|1|normal||||||
old|zoe||1|normal||||||
vision||root|3|normal,urgent|urgent|gres/gpu=8,mem=123456M|3|7|gres/gpu=4|1-02:04:00
vision|ada||1|normal,urgent|urgent||||gres/gpu=4|1-02:04:00
vision|ben||1|normal,urgent|urgent||||gres/gpu=4|1-02:04:00
"""
USERS = "ada|vision\nben|old\nroot|root\nzoe|old\n"
SERVICES = """\
normal|0||cluster||||||
urgent|1000|normal|requeue|cpu=10,node=2|mem=1T|gres/gpu=16,mem=100000M|4|5|04:00:00
"""


def test_only_our_accounts_and_qos_are_read() -> None:
    found = text.accounting(
        ASSOCIATIONS, USERS, SERVICES, AccountingState.of({"chem": [], "vision": []}, qos={"urgent": {}})
    )
    assert found.cluster
    assert found.accounts == {
        "vision": {
            "parent": "root",
            "fairshare": "3",
            "qos": "normal,urgent",
            "defaultqos": "urgent",
            "GrpTRES": "gres/gpu=8,mem=123456",
            "GrpJobs": "3",
            "GrpSubmitJobs": "7",
            "MaxTRES": "gres/gpu=4",
            "MaxWall": "1564",
        }
    }
    assert found.members == {("vision", "ada"), ("vision", "ben")}
    assert found.defaults == {"ada": "vision", "ben": "old"}
    assert list(found.qos) == ["urgent"]
    assert found.qos["urgent"]["MaxTRESPerUser"] == "gres/gpu=16,mem=100000"
    assert found.qos["urgent"]["MaxWall"] == "240"
    assert found.top["qos"] == "normal"


def test_leading_blanks_of_a_tree_and_empty_lines_are_nothing() -> None:
    assert text.rows(" vision|ada\n\n") == [["vision", "ada"]]


LEFT = """\
root|||1|normal||||||
old||root|1|gold,normal||||||
old|zoe||1|gold,normal||||||
below||old|1|gold,normal||||||
theirs||root|1|normal,silver||||||
"""
OFFERED = "normal|0||cluster||||||\ngold|5||cluster||||||\nsilver|7||cluster||||||\n"


def deletions(
    *to_delete: tuple[str, str], busy: dict[tuple[str, str], str] | None = None
) -> dict[tuple[str, str], str]:
    want = AccountingState.of({}, to_delete=frozenset(to_delete))
    return dict(text.accounting(LEFT, "zoe|old\n", OFFERED, want, busy or {}).deletions)


def test_deletions_begin_with_the_children() -> None:
    assert [*deletions(("account", "old"), ("account", "below"), ("account", "never")).items()] == [
        (("account", "below"), ""),
        (("account", "old"), ""),
    ]


def test_an_account_stays_for_accounts_below_it() -> None:
    assert deletions(("account", "old")) == {("account", "old"): "account below is below it"}
    running = {("account", "below"): "job 7 has it"}
    assert deletions(("account", "old"), ("account", "below"), busy=running) == {
        ("account", "below"): "job 7 has it",
        ("account", "old"): "account below is below it",
    }


def test_a_qos_stays_for_accounts_of_others() -> None:
    assert deletions(("qos", "silver"), ("qos", "bronze")) == {("qos", "silver"): "account theirs may use it"}
    assert deletions(("qos", "gold"), ("account", "old"), ("account", "below"))[("qos", "gold")] == ""
    assert deletions(("qos", "gold"))[("qos", "gold")] == "account old may use it"


def test_only_settings_that_drawbridge_keeps_are_read() -> None:
    rows = "normal|0||cluster|||||||NoDecay|00:05:00|0.500000|gres/gpu=5\n"
    want = AccountingState.of({}, qos={"normal": {"UsageFactor": "1"}})
    assert text.service(want.kept).endswith(",maxwall,flags,gracetime,usagefactor,grptresmins")
    found = text.accounting("", "", rows, want).qos["normal"]
    assert {key: found[key] for key in ("Flags", "GraceTime", "UsageFactor", "GrpTRESMins")} == {
        **{"Flags": "NoDecay", "GraceTime": "300", "UsageFactor": "0.5", "GrpTRESMins": "gres/gpu=5"}
    }
    want = AccountingState.of({}, qos={"normal": {}})
    assert text.service(want.kept).endswith(",maxwall")
    assert "Flags" not in text.accounting("", "", "normal|0||cluster||||||\n", want).qos["normal"]
