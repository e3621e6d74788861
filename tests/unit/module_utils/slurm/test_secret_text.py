# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm import secret_text
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.text import HIDDEN
from hypothesis import given
from hypothesis import strategies as st

WANT = f"StorageUser=slurm\nStoragePass={HIDDEN}\n"
PASSWORDS = st.text(st.characters(exclude_characters='"\n\r\0', codec="ascii", categories=("L", "N", "P", "S", "Zs")))


@given(PASSWORDS.filter(lambda it: it and it.strip() == it))
def test_a_written_password_is_recognised_and_hidden(password: str) -> None:
    secrets = {"StoragePass": password}
    assert secret_text.hidden(secret_text.revealed(WANT, secrets), secrets) == WANT


@given(PASSWORDS.filter(lambda it: it.strip() == it and it != "right"))
def test_another_password_is_hidden_too_and_differs(password: str) -> None:
    shown = secret_text.hidden(secret_text.revealed(WANT, {"StoragePass": password or "x"}), {"StoragePass": "right"})
    assert shown == "StorageUser=slurm\nStoragePass=(another one, hidden)\n"


@pytest.mark.parametrize(
    "line", ["storagepass = top secret", '  StoragePass="top secret"  # old', "JobCompPass=secret"]
)
def test_lines_of_people_are_hidden(line: str) -> None:
    assert "secret" not in secret_text.hidden(f"{line}\n", {})


def test_a_line_without_a_password_is_left_out() -> None:
    assert secret_text.revealed(WANT, {}) == secret_text.without_places(WANT, {}) == "StorageUser=slurm\n"
    assert secret_text.without_places(WANT, {"StoragePass": "x"}) == WANT


@pytest.mark.parametrize("secrets", [{"StoragePass": 'zq"zq'}, {"StoragePass": "zq\nzq"}, {"Password": "zq"}])
def test_what_a_file_can_not_hold_is_refused_without_the_password(secrets: dict[str, str]) -> None:
    assert secret_text.impossible(secrets)
    assert "zq" not in secret_text.impossible(secrets)
    assert secret_text.impossible({"StoragePass": "p#w\\ one"}) == ""
