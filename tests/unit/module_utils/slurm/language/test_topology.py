# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.language.lines import lines
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.language.topology import (
    below,
    yaml_lines,
)


def test_a_switch_has_the_nodes_of_those_below_it() -> None:
    found = below(lines("SwitchName=top Switches=s[1-2]\nSwitchName=s1 Nodes=a[1-2]\nSwitchName=s2 Nodes=a3\n"))
    assert found == {"top": {"a1", "a2", "a3"}, "s1": {"a1", "a2"}, "s2": {"a3"}}


def test_switches_that_are_below_each_other_end() -> None:
    assert below(lines("SwitchName=a Switches=b\nSwitchName=b Switches=a Nodes=n\n")) == {"a": {"n"}, "b": {"n"}}


def test_yaml_says_what_the_other_file_says() -> None:
    tree = "- topology: t\n  cluster_default: true\n  tree:\n    switches:\n    - switch: s\n      children: l[1-2]\n"
    assert [str(it) for it in yaml_lines(f"---\n{tree}    - {{switch: l1, nodes: 'a[1-4]'}}\n")] == [
        "SwitchName=s Switches=l[1-2]",
        "SwitchName=l1 Nodes=a[1-4]",
    ]
    block = "- topology: b\n  block:\n    block_sizes: [4, 16]\n    blocks:\n    - {block: b1, nodes: 'a[1-4]'}\n"
    assert [str(it) for it in yaml_lines(block)] == ["BlockName=b1 Nodes=a[1-4]", "BlockSizes=4,16"]
    assert yaml_lines("- topology: f\n  flat: true\n") == []


@pytest.mark.parametrize(
    "text",
    [
        "- topology: a\n- topology: b\n",
        "topology: a\n",
        "- topology: a\n  torus3d: {}\n",
        "- topology: a\n  tree: {switches: [{switch: s, speed: 9}]}\n",
        "- topology: a\n  tree: {switches: s}\n",
        "- topology: a\n  tree: {levels: 3}\n",
        "- topology: a\n  tree: {}\n  block: {}\n",
    ],
)
def test_what_the_other_file_can_not_say_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"it has|no list|an entry"):
        yaml_lines(text)
