# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.dialect import Config

CONFIG = Config((("traffic classes", ("qos map",)), ("interface Ethernet1", ("interface Ethernet1", "   mtu 9214"))))


def test_the_lines_are_the_sections_in_order() -> None:
    assert CONFIG.lines() == ["qos map", "interface Ethernet1", "   mtu 9214"]


def test_what_is_not_there_to_stay_is_remarked_on() -> None:
    shaky = Config(CONFIG.sections, saved=False, stale=("drawbridge-a",), waiting="drawbridge-b")
    assert shaky.lines()[3:] == [
        "! session drawbridge-a was left open",
        "! session drawbridge-b waits for its confirmation",
        "! startup-config differs",
    ]


def test_a_changed_section_keeps_its_place_and_is_not_saved() -> None:
    changed = CONFIG.with_sections({"traffic classes": ()})
    assert [name for name, _ in changed.sections] == ["traffic classes", "interface Ethernet1"]
    assert (changed.lines()[0], changed.saved) == ("interface Ethernet1", False)


def test_what_others_do_and_what_hardware_does_is_no_part_of_the_configuration() -> None:
    assert Config(CONFIG.sections, foreign=("upgrade",), unproven=("no",)) == CONFIG
