# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Exit codes of a check: 0 none, 3 drift, otherwise Ansible's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from roles.drawbridge_status.files.status.drift_io import drift, folder
from roles.drawbridge_status.files.status.options import parser

FAKE = """#!/bin/sh
echo "$@" > "$SAID"
[ -z "$FINDINGS" ] || { printf '{"findings": %s}' "$FINDINGS" > "$DRAWBRIDGE_REPORT_JSON.new"
mv "$DRAWBRIDGE_REPORT_JSON.new" "$DRAWBRIDGE_REPORT_JSON"; }
exit $CODE
"""


@pytest.mark.parametrize(
    ("findings", "code", "exits", "said"),
    [
        ("[]", "0", 0, ""),
        ('[{"kind": "changed"}]', "0", 3, ""),
        ('[{"kind": "failed"}]', "2", 2, ""),
        ("", "4", 4, ""),
        ("", "0", 1, "enable the callback drawbridge.drawbridge.report"),
    ],
)
def test_an_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, findings: str, code: str, exits: int, said: str
) -> None:
    program = tmp_path / "ansible-playbook"
    program.write_text(FAKE)
    program.chmod(0o755)
    (tmp_path / "drift.json").write_text('{"findings": []}')
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin", "SAID": str(tmp_path / "said"), "FINDINGS": findings, "CODE": code}
    found, text = drift(["-i", "inventories/mine"], tmp_path, env)
    assert found == exits
    assert said in text and bool(said) == bool(text)
    assert (tmp_path / "said").read_text() == "--check playbooks/drift.yml -i inventories/mine\n"


def test_without_ansible_the_error_says_where_to_run_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    code, text = drift([], tmp_path, {"PATH": str(tmp_path)})
    assert code == 1 and "run drawbridge drift where Ansible is installed" in text


def test_where_reports_are_kept() -> None:
    assert folder("", {"HOME": "/home/ada"}) == Path("/home/ada/.local/state/drawbridge")
    assert folder("", {"HOME": "/home/ada", "XDG_STATE_HOME": "/s"}) == Path("/s/drawbridge")
    assert folder("/var/lib/drawbridge", {}) == Path("/var/lib/drawbridge")


def test_options_of_ansible_follow_two_dashes() -> None:
    given = parser().parse_args(["drift", "--state", "/s", "--", "-i", "hosts", "--limit", "ctl"])
    assert (given.state, given.words[-4:]) == ("/s", ["-i", "hosts", "--limit", "ctl"])


@pytest.mark.parametrize("line", ["status gpu[01", "status --watch 0", "status --watch soon", "nothing"])
def test_a_wrong_line_is_refused(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args(line.split())
    assert line.split()[-1] in capsys.readouterr().err
