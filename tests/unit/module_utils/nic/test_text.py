# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.plan import NicPortQos
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.queues import shared
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.text import UnreadableReport, parse
from hypothesis import given
from hypothesis import strategies as st

from lab.emulators.nic import driver
from lab.emulators.nic import mlnx_qos as printed

TRANSCRIPTS = Path(__file__).resolve().parents[3] / "transcripts/nic/mlnx_qos"


def only(*dscps: int) -> NicPortQos:
    """A wanted port with these DSCPs."""
    return NicPortQos("dscp", dict.fromkeys(dscps, 0), frozenset())


def report(name: str) -> str:
    return (TRANSCRIPTS / f"{name}.txt").read_text()


def test_a_map_is_read_in_any_order_and_only_for_the_wanted_dscps() -> None:
    port = parse(report("profile"), only(48, 26, 0))
    assert port == NicPortQos("dscp", {0: 0, 26: 4, 48: 6}, frozenset({3}))
    assert list(port.dscp_priority) == [0, 26, 48]


@pytest.mark.parametrize(
    ("cut", "missing"),
    [("DCBX mode", "DCBX mode"), ("Priority trust state", "trust state"), ("\tenabled", "PFC configuration")],
)
def test_half_a_report_is_no_report(cut: str, missing: str) -> None:
    text = "".join(line for line in report("factory").splitlines(keepends=True) if not line.startswith(cut))
    with pytest.raises(UnreadableReport, match=f"printed no {missing}"):
        parse(text, only())


def test_lldpad_is_refused() -> None:
    warning = "****** WARNING: lldpad service is running and may overwrite your settings ******\n\n"
    with pytest.raises(UnreadableReport, match="stop and disable lldpad"):
        parse(warning + report("factory"), only())


ALL = NicPortQos("dscp", dict.fromkeys(range(64), 0), frozenset(), queues=shared({0: 1}), cable_m=1)
"""A wanted port of which every part is read."""


def test_captured_shares_and_cable() -> None:
    others, gpu, control = (0, "ets", 20), (3, "ets", 80), (6, "strict", 0)
    port = parse(report("profile"), ALL)
    assert (port.queues, port.cable_m) == ((*[others] * 3, gpu, others, others, control, others), 50)
    factory = parse(report("factory"), ALL)
    assert factory.queues == tuple((number, "vendor", 0) for number in (1, 0, 2, 3, 4, 5, 6, 7))
    assert factory.cable_m == 7


def test_a_report_without_some_priorities_has_no_shares() -> None:
    cut = report("profile").partition("tc: 3")[0]
    with pytest.raises(UnreadableReport, match="no traffic class of some priorities"):
        parse(cut, ALL)
    assert parse(cut, only(26)).dscp_priority == {26: 4}, "what is not wanted is not read"


PORTS = st.fixed_dictionaries(
    {
        "dcbx": st.sampled_from(["os", "fw"]),
        "apps": st.lists(st.tuples(st.integers(0, 63), st.integers(0, 7)), unique_by=lambda app: app[0]),
        "pfc": st.lists(st.integers(0, 1), min_size=8, max_size=8),
        "cable_len": st.integers(1, 999),
        "prio_tc": st.lists(st.integers(0, 7), min_size=8, max_size=8),
        "tsa": st.lists(st.sampled_from(["strict", "ets", "vendor"]), min_size=8, max_size=8),
        "tcbw": st.lists(st.integers(0, 100), min_size=8, max_size=8),
        "ratelimit": st.lists(st.integers(0, 400), min_size=8, max_size=8),
        "buffers": st.booleans(),
    }
)


@pytest.mark.parametrize("version", printed.VERSIONS)
@given(port=PORTS)
def test_every_state_that_a_release_prints_is_read_back(version: str, port: dict[str, Any]) -> None:
    text = "\n".join(printed.report({**driver.factory(), **port}, version)) + "\n"
    lossless = frozenset(at for at, bit in enumerate(port["pfc"]) if bit)
    queues = tuple(
        (number, port["tsa"][number], port["tcbw"][number] if port["tsa"][number] == "ets" else 0)
        for number in port["prio_tc"]
    )
    trust = "dscp" if port["apps"] else "pcp"
    expected = NicPortQos(trust, dict(port["apps"]), lossless, port["dcbx"], queues, port["cable_len"])
    assert parse(text, ALL) == expected
