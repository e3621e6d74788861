# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config import text as config_text
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover import model
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover.environment import (
    changes,
    is_configuration,
    is_environment,
    is_foreign,
)


@pytest.mark.parametrize(
    ("text", "foreign"),
    [("", False), (f"{config_text.HEADER}\na", False), (config_text.LUA_HEADER, False), ("a", True)],
)
def test_a_file_without_our_first_line_is_the_sites(text: str, foreign: bool) -> None:
    assert is_foreign(text) is foreign


@pytest.mark.parametrize(
    ("path", "environment", "configuration"),
    [
        ("/etc/default/slurmd", True, False),
        ("/etc/sysconfig/slurmd", True, False),
        ("/etc/slurm/slurm.conf", False, True),
        ("/etc/slurm/cli_filter.lua", False, True),
        ("/etc/systemd/system/slurmd.service.d/20-drawbridge-memory.conf", False, False),
    ],
)
def test_files_by_their_names(path: str, environment: bool, configuration: bool) -> None:
    assert (is_environment(path), is_configuration(path)) == (environment, configuration)


def test_variables_of_a_unit() -> None:
    shown = changes(
        "/etc/default/slurmd", "A=1\nSLURMD_OPTIONS=-D\nB=\n# C=1\n", "SLURMD_OPTIONS='--conf-server ctl'\nD=1\n"
    )
    assert [(it.group, it.old, it.new) for it in shown] == [
        (model.DROPPED, "A=1", ""),
        (model.DROPPED, "SLURMD_OPTIONS=-D", "SLURMD_OPTIONS=--conf-server ctl"),
        (model.KEPT, "B=", "B="),
        (model.OURS, "", "D=1"),
    ]
    assert [it for it in shown if it.group == model.DROPPED and "systemctl edit slurmd.service" not in it.note] == []


def test_the_file_of_a_package_has_nothing_to_take_over() -> None:
    assert changes("/etc/default/slurmd", 'SLURMD_OPTIONS=""\n', "SLURMD_OPTIONS=--conf-server ctl\n") == []
