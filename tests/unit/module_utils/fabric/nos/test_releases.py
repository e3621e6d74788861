# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.capabilities import (
    capabilities,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.systems import SYSTEMS

from tests.unit.emulated_switch import Leaf

OF = {system: capabilities(system).releases for system in SYSTEMS}
PRINTED = [
    ("eos", "Arista DCS-7060X6\nSoftware image version: 4.35.0F (engineering build)\n", "4.35.0F"),
    ("nvue", 'DISTRIB_ID="Cumulus Linux"\nDISTRIB_RELEASE=5.9.0\n', "5.9.0"),
    ("nvue", 'DISTRIB_RELEASE="5.16.1"\n', "5.16.1"),
    ("sonic", "---\nbuild_version: '202405.0-8d21b6f0c'\nasic_type: broadcom\n", "202405.0-8d21b6f0c"),
    ("sonic", "build_version: 20250510.12\n", "20250510.12"),
    ("nxos", "Software\n  BIOS: version 01.09\n NXOS: version 9.3(13)\n", "9.3(13)"),
    ("nxos", "  NXOS: version 10.3(8) [Feature Release]\n", "10.3(8)"),
    ("junos", "Hostname: leaf1\nJunos: 23.4R2-S2.5-EVO\n", "23.4R2-S2.5-EVO"),
    ("os10", "Dell SmartFabric OS10 Enterprise\nOS Version: 10.5.6.1\n", "10.5.6.1"),
]


@pytest.mark.parametrize(("system", "printed", "release"), PRINTED)
def test_a_switch_prints_its_release_and_it_can_be_configured(system: str, printed: str, release: str) -> None:
    assert OF[system].read(printed) == release
    assert OF[system].refusal(release, "try_it") == ""


@pytest.mark.parametrize(
    ("system", "release"),
    [("eos", "4.30.9M"), ("nvue", "5.8.0"), ("sonic", "202311.4-x"), ("nxos", "7.0(3)I7(10)"), ("junos", "22.4R3")],
)
def test_an_older_release_is_refused_by_name_whatever_the_consent(system: str, release: str) -> None:
    for consent in ("try_it", ""):
        assert OF[system].refusal(release, consent) == (
            f"it runs {OF[system].system} {release}, but Drawbridge configures {OF[system].oldest} and later;"
            " upgrade it"
        )


@pytest.mark.parametrize(("system", "release"), [("nvue", "5.17.0"), ("sonic", "master.91-0c"), ("os10", "10.6.0.2")])
def test_a_newer_or_unnumbered_release_needs_consent_and_has_the_newest_forms(system: str, release: str) -> None:
    assert OF[system].refusal(release, "try_it").endswith("to try it on this switch, set try_it: true")
    assert OF[system].refusal(release, "") == ""
    assert all(OF[system].has(row.what, release) for row in OF[system].came)


def test_an_answer_without_a_release_is_no_release() -> None:
    assert OF["nvue"].read("cat: /etc/lsb-release: No such file") == ""
    assert OF["nvue"].refusal("", "try_it").startswith("its answer to 'cat /etc/lsb-release' has no release, and")


@pytest.mark.parametrize("system", SYSTEMS)
def test_what_came_later_is_missing_before_it_and_has_a_source(system: str) -> None:
    releases = OF[system]
    for row in releases.came:
        assert not releases.has(row.what, releases.oldest)
        assert not releases.has(row.what), "without a release, what all of them have"
        assert releases.has(row.what, row.since) and releases.has(row.what, releases.newest)
        assert row.source
    assert releases.source


def test_a_run_asks_for_the_release_first_and_for_nothing_on_one_that_is_too_old(leaf: Leaf) -> None:
    with leaf.state() as state:
        state["version"] = "4.30.1F"
    with leaf.switch() as switch, pytest.raises(DeviceError, match=r"leaf1: it runs EOS 4\.30\.1F, but Drawbridge"):
        switch.read()
    lines = [call["line"] for call in leaf.journal() if "line" in call]
    assert [line for line in lines if line.startswith("show")] == ["show version"]
