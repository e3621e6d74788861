# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.layer import Layer, run
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.printable import all_printable

COLOURED = "\x1b]0;mine\x07\x1b[2Jdisk \u009b31mfull\r"
"""Escape sequences that rename a terminal, clear it and colour it; the last in one character of C1."""


def test_no_text_of_a_host_reaches_the_terminal_as_a_command() -> None:
    said = {"msg": COLOURED, "steps": [b"caf\xe9".decode(errors="surrogateescape")], "diff": {COLOURED: "a\tb\n"}}
    shown = {"msg": "?]0;mine??[2Jdisk ?31mfull?", "steps": ["caf?"], "n": 3}
    assert all_printable({**said, "n": 3}) == {**shown, "diff": {shown["msg"]: "a\tb\n"}}


def test_a_layers_result_is_printable() -> None:
    def refuse(params: Any, check: bool) -> Any:
        raise DeviceError(COLOURED, said=[COLOURED])

    result = run(Layer({}, refuse), {}, check=False)
    assert "\x1b" not in result["msg"]
    assert "\x1b" not in result["said"][0]


def test_a_tools_error_is_printable() -> None:
    error = DeviceError(COLOURED, stdout=COLOURED, rc=1)
    assert "\x1b" not in f"{error} {error.details}"
    assert error.details["rc"] == 1
