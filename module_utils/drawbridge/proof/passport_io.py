# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Signatures of passports, by OpenSSH's own tool: the key stays on the controller, and a node can't make its own."""

from __future__ import annotations

import tempfile
from pathlib import Path

from ..core.command import Command, tool
from ..core.converge import DeviceError

SIGNER, PURPOSE = "drawbridge", "drawbridge-passport"
"""Who signs, and what for: a signature that the same key made for another purpose is none of a passport."""
LIMIT_S = 10.0


def make_key(path: str) -> None:
    """Make the key pair; its private half has mode 0600. Raises DeviceError, also if there is a key already."""
    if Path(path).exists():
        raise DeviceError(f"{path} exists already; passports that it signed would be worth nothing with another key")
    Command(LIMIT_S)([tool("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-C", SIGNER, "-f", path])


def sign(text: str, key: str) -> str:
    """The signature of a passport's text, in OpenSSH's armour. Raises DeviceError."""
    return Command(LIMIT_S, stdin=text)([tool("ssh-keygen"), "-q", "-Y", "sign", "-n", PURPOSE, "-f", key]).out


def is_signed(text: str, signature: str, public_key: str) -> bool:
    """Whether the owner of this public key signed exactly this text as a passport. Raises DeviceError without the tool.

    `public_key` is the content of the .pub file.
    """
    with tempfile.TemporaryDirectory(prefix="drawbridge-passport-") as folder:
        allowed, signed = Path(folder) / "allowed", Path(folder) / "signature"
        allowed.write_text(f'{SIGNER} namespaces="{PURPOSE}" {public_key.strip()}\n', encoding="utf-8")
        signed.write_text(signature, encoding="utf-8")
        words = ["-q", "-Y", "verify", "-f", str(allowed), "-I", SIGNER, "-n", PURPOSE, "-s", str(signed)]
        return Command(LIMIT_S, stdin=text)([tool("ssh-keygen"), *words], ok=tuple(range(256))).rc == 0
