# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Which Go builds the tools."""

from pathlib import Path

import pytest

from lab.tools import toolchain

GO_MODS = ["module one\n\ngo 1.26.0\n", "module two\n\ngo 1.25\n"]
PINNED = "# why\ngo-bin==1.26.6 --hash=sha256:00\n"
GO = Path("/usr/bin/go")


@pytest.mark.parametrize("version", ["1.26.0", "1.26.8", "1.27", "2.0.1"])
def test_the_machines_own_go_when_new_enough(version):
    assert toolchain.choose(GO_MODS, PINNED, {GO: version}) == toolchain.Toolchain(version, GO)


@pytest.mark.parametrize("installed", [{}, {GO: "1.24.4"}, {GO: "1.26rc1"}, {GO: "devel"}])
def test_else_the_packaged_one(installed):
    assert toolchain.choose(GO_MODS, PINNED, installed) == toolchain.Toolchain("1.26.6", None)


def test_the_packaged_go_satisfies_every_module():
    packaged = toolchain.packaged_version(toolchain.REQUIREMENTS.read_text())
    for go_mod in toolchain.go_mods():
        assert tuple(map(int, packaged.split("."))) >= toolchain.wanted_version(go_mod)


def test_a_go_mod_without_a_go_line_is_refused():
    with pytest.raises(ValueError, match="no go line"):
        toolchain.wanted_version("module example\n")
