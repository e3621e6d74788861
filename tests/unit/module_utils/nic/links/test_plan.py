# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from functools import reduce

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.links.managers import (
    NETWORK_MANAGER,
    NETWORK_MANAGER_FILE,
    NETWORKD,
    Owner,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.links.plan import (
    NicLink,
    NicLinks,
    plan,
    wanted,
)
from hypothesis import given
from hypothesis import strategies as st

FILE = "/run/systemd/network/10-netplan-rail0.network"
DROP_IN = "/etc/systemd/network/10-netplan-rail0.network.d/50-drawbridge-mtu.conf"
WANT = wanted([{"interfaces": ["rail0", "rail1"], "mtu_bytes": "9000"}, {"interfaces": ["stor0"], "mtu_bytes": 4200}])


def have(owner: Owner, mtu: int = 1500) -> NicLinks:
    links = {name: NicLink(mtu, 9978) for name in WANT.links}
    return NicLinks({**links, "rail0": NicLink(mtu, 9978, owner=owner)})


def test_a_device_that_is_up_waits_for_the_nodes_jobs_and_its_file_does_not() -> None:
    steps = plan(have(Owner(NETWORKD, FILE)), WANT)
    assert [step.disturbs for step in steps] == [False, True, True, True]
    down = NicLinks({**WANT.links, "rail0": NicLink(1500, up=False)})
    assert [step.disturbs for step in plan(down, WANT)] == [False]


def test_network_manager_gets_a_section_for_each_mtu() -> None:
    owned = {name: NicLink(1500, owner=Owner(NETWORK_MANAGER, name)) for name in WANT.links}
    first = plan(NicLinks(owned), WANT)[0]
    assert first.payload.name == NETWORK_MANAGER_FILE
    assert first.payload.text.splitlines()[1:] == [
        *("[connection-drawbridge-4200]", "match-device=interface-name:stor0", "ethernet.mtu=4200", ""),
        *("[connection-drawbridge-9000]", "match-device=interface-name:rail0,interface-name:rail1"),
        "ethernet.mtu=9000",
    ]


def test_a_file_whose_manager_has_gone_is_removed() -> None:
    left = NicLinks(WANT.links, {DROP_IN: "old"})
    (step,) = plan(left, WANT)
    assert (step.reason, step.becomes(left).files) == (f"remove {DROP_IN}, for the settings after a boot", {})


OWNERS = st.sampled_from([Owner(), Owner(NETWORKD, FILE), Owner(NETWORK_MANAGER, "af1e")])


@given(owner=OWNERS, mtu=st.integers(68, 9978), files=st.dictionaries(st.sampled_from([DROP_IN, "other"]), st.text()))
def test_from_anywhere_the_steps_end_where_nothing_is_left(owner: Owner, mtu: int, files: dict[str, str]) -> None:
    before = NicLinks(have(owner, mtu).links, files)
    after = reduce(lambda state, step: step.becomes(state), plan(before, WANT), before)
    assert after.links == WANT.links
    assert plan(after, WANT) == []
