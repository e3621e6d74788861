# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Signatures by the real ssh-keygen."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Command, tool
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.passport_io import (
    is_signed,
    make_key,
    sign,
)

TEXT = '{"node":"gpu01"}\n'


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("passport") / "key"
    make_key(str(path))
    return path


def public(key: Path) -> str:
    return key.with_suffix(".pub").read_text()


def test_a_passport_that_the_controller_signed_is_known(key: Path) -> None:
    assert key.stat().st_mode & 0o777 == 0o600
    assert is_signed(TEXT, sign(TEXT, str(key)), public(key))


@pytest.mark.parametrize("change", ["", TEXT.strip(), TEXT.replace("gpu01", "gpu02"), TEXT * 2])
def test_another_text_is_not_signed(key: Path, change: str) -> None:
    assert not is_signed(change, sign(TEXT, str(key)), public(key))


@pytest.mark.parametrize("signature", ["", "-----BEGIN SSH SIGNATURE-----\n-----END SSH SIGNATURE-----\n"])
def test_a_text_without_a_signature_is_not_signed(key: Path, signature: str) -> None:
    assert not is_signed(TEXT, signature, public(key))


def test_a_key_of_a_node_signs_nothing(key: Path, tmp_path: Path) -> None:
    make_key(str(tmp_path / "own"))
    assert not is_signed(TEXT, sign(TEXT, str(tmp_path / "own")), public(key))


def test_a_signature_for_another_purpose_is_none(key: Path) -> None:
    argv = [tool("ssh-keygen"), "-q", "-Y", "sign", "-n", "git", "-f", str(key)]
    assert not is_signed(TEXT, Command(10, stdin=TEXT)(argv).out, public(key))


def test_a_key_is_never_replaced(key: Path) -> None:
    before = key.read_text()
    with pytest.raises(DeviceError, match="exists already"):
        make_key(str(key))
    assert key.read_text() == before
