# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The command of a run without secrets."""

from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.command import shown


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["/x/bin/ansible-playbook", "site.yml", "-i", "inv"], "ansible-playbook site.yml -i inv"),
        (["p", "-e", "password=hunter22", "--check"], "p -e ... --check"),
        (["p", "-epassword=hunter22", "--extra-vars=a=hunter22", "--extra", "b=hunter22"], None),
        (["p", "-e", "@vars/secret file.yml"], "p -e '@vars/secret file.yml'"),
    ],
)
def test_the_command_has_no_values_of_extra_variables(argv: list[str], expected: str | None) -> None:
    assert "hunter22" not in shown(argv)
    assert expected is None or shown(argv) == expected
