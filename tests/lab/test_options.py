# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
import pytest

from lab import cli, options
from lab.hosts.nspawn import Nspawn
from lab.hosts.paths import Paths


def parse(*argv):
    return options.parser().parse_args(argv)


@pytest.mark.parametrize("argv", [[], ["reset"], ["power-cut"], ["dance"]])
def test_a_line_that_says_too_little_is_refused(argv, capsys):
    with pytest.raises(SystemExit, match="2"):
        parse(*argv)
    assert "usage" in capsys.readouterr().err


@pytest.mark.parametrize("verb", [["up"], ["down"], ["reset", "ctl"], ["power-cut", "ctl"]])
def test_only_root_changes_a_lab_and_nothing_is_touched_before(verb, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("LAB_STATE", str(tmp_path / "state"))
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert cli.main(verb) == 1
    assert capsys.readouterr().err.endswith("run it with sudo\n")
    assert not (tmp_path / "state").exists()


def test_a_wrong_name_is_one_sentence_and_exit_code_one(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("LAB_STATE", str(tmp_path))
    assert cli.main(["up", "gpu99"]) == 1
    assert capsys.readouterr().err.startswith("lab: nothing is called gpu99: ")
    assert not Paths.of().state.exists()


@pytest.mark.parametrize("verb", ["fault gpu01 mlnx_qos lie", "clock +10", "ssh gpu01 true"])
def test_a_lab_that_is_not_there_has_no_devices(verb, capsys, monkeypatch, tmp_path):
    """Files for them would be left behind, and keep the next lab from starting."""
    monkeypatch.setenv("LAB_STATE", str(tmp_path / "state"))
    monkeypatch.setattr(Nspawn, "alive", lambda self: False)
    monkeypatch.setattr("os.execvp", lambda *_: pytest.fail("it went on"))
    assert cli.main(verb.split()) == 1
    assert capsys.readouterr().err == f"lab: lab {Paths.of().lab_id} is not running: run lab up first\n"
    assert not (tmp_path / "state").exists()
