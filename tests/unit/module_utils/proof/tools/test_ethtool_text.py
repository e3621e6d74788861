# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.tools.ethtool_text import (
    Module,
    counters,
    module,
    uncorrectable_blocks,
)

from tests.unit.module_utils.proof.transcripts import changed, printed

OPTICS = printed("ethtool_optics")


def test_healthy_texts() -> None:
    assert module(OPTICS) == Module("QSFP28", copper=False, optics=True)
    assert module(printed("ethtool_copper")).copper
    assert uncorrectable_blocks(printed("ethtool_fec")) == 0
    assert uncorrectable_blocks(printed("ethtool_fec").partition("Statistics")[0]) is None
    read = counters(printed("ethtool_counters"))
    assert (read["rx_prio0_discards"], read["rx_pcs_symbol_err_phy"], len(read)) == (17, 311, 12)


@pytest.mark.parametrize("read", [counters, module, uncorrectable_blocks])
@pytest.mark.parametrize("text", ["", "netlink error: Operation not supported", "Cannot get module EEPROM information"])
def test_other_texts_are_refused(read: object, text: str) -> None:
    assert callable(read)
    with pytest.raises(ValueError, match="no "):
        read(text)


@pytest.mark.parametrize(
    ("old", "new", "alarms"),
    [
        ("-0.09 dBm", "-14.00 dBm", ("Laser rx power low in channels 1, 2",)),
        ("-0.09 dBm", "-inf dBm", ("Laser rx power low in channels 1, 2",)),
        ("/ 1.20 dBm", "/ 6.20 dBm", ("Laser output power high in channels 1, 2",)),
        ("30.56 degrees C", "81.00 degrees C", ("Module temperature high",)),
        ("Module voltage ", "Rx loss of signal : [ No, Yes ]\n\tModule voltage ", ("Rx loss of signal in channels 2",)),
        ("Module voltage ", "Rx loss of signal : None\n\tModule voltage ", ()),
        ("high alarm threshold", "high alarm limit", ()),
    ],
)
def test_readings_beyond_an_alarm_threshold_count_without_flags(old: str, new: str, alarms: tuple[str, ...]) -> None:
    assert module(changed(OPTICS, old, new)).alarms == alarms


def test_an_alarm_hides_its_own_warning_and_its_reading() -> None:
    text = changed(OPTICS, "-0.09 dBm", "-14.00 dBm").replace(
        "low alarm    (Channel 1)   : Off", "low alarm (Channel 1) : On"
    )
    text = text.replace("low warning  (Channel 1)   : Off", "low warning  (Channel 1)   : On")
    read = module(text)
    assert (read.alarms, read.warnings) == (("Laser rx power low in channels 1",), ())


def test_a_module_that_measures_no_light_has_no_optics() -> None:
    text = "\n".join(line for line in OPTICS.splitlines() if "Rcvr" not in line)
    assert module(text) == Module("QSFP28", copper=False, optics=False)
