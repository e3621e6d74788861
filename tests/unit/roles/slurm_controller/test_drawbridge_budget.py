# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The controller's program of budgets with no other file of this tree, and tools that keep use in files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.visit_source_io import source
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.program_imports import imported

from tests.conformance.tree import ROOT

ROLE = ROOT / "roles/slurm_controller"
PROGRAM = ROLE / "files/drawbridge-budget.py"
SOURCES = imported(PROGRAM.read_text(), source)
DRIVER = """
import importlib.machinery, importlib.util, pathlib, sys
file, root = sys.argv[1], pathlib.Path(sys.argv[2])
loader = importlib.machinery.SourceFileLoader("program", file)
program = importlib.util.module_from_spec(importlib.util.spec_from_loader("program", loader))
loader.exec_module(program)
program.PATH, program.PLACE, program.STORE = f"{root}/bin:/usr/bin:/bin", root / "budget.json", root / "store"
sys.argv = [file, *sys.argv[3:]]
sys.exit(program.main())
"""
"""The program's own paths are those of a controller."""
SCONTROL = """#!/bin/sh
[ "$SLURM_TIME_FORMAT" = %s ] || exit 9
case "$*" in
  *assoc_mgr*) echo "QOS=pb(3) UsageRaw=$(cat {0}/used).0 GrpTRESMins=gres/gpu=60(0) MaxWallPJ=" ;;
  *) echo "BOOT_TIME               = 1" ;;
esac
"""
SACCTMGR = '#!/bin/sh\necho "$*" >> {0}/changes\n[ ! -e {0}/deaf ] || exit 0\necho 0 > {0}/used\n'


class Controller:
    """A folder with the program and its Slurm."""

    def __init__(self, root: Path) -> None:
        self.root, self._program = root, root / "usr/local/sbin/drawbridge-budget"
        files = {
            self._program: PROGRAM.read_text(),
            root / "bin/scontrol": SCONTROL.format(root),
            root / "bin/sacctmgr": SACCTMGR.format(root),
            root / "budget.json": json.dumps({"cluster": "lab", "periods": {"pb": "month"}, "ends": {}}),
            root / "used": "50",
            root / "changes": "",
            **{root / "usr/local/lib/drawbridge-budget/drawbridge" / path: text for path, text in SOURCES.items()},
        }
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            path.chmod(0o755)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, "-IS", "-c", DRIVER, str(self._program), str(self.root), *words]
        return subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False, env={"PATH": "/bin"})

    def last_period(self) -> None:
        """As if the program had not run since."""
        record = self.root / "store/periods.json"
        shown = json.loads(record.read_text())
        record.write_text(json.dumps({**shown, "pb": {"since": "2020-01-01", "reset": None}}))


@pytest.fixture
def controller(tmp_path: Path) -> Controller:
    return Controller(tmp_path)


def test_it_resets_once(controller: Controller) -> None:
    for _look in range(2):
        done = controller.run("tend")
        assert (done.returncode, done.stderr) == (0, "")
    controller.last_period()
    done = controller.run("tend")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("the budget of QOS pb begins anew, for the period from ")
    assert controller.run("tend").stderr == ""
    assert (controller.root / "changes").read_text() == "-i modify qos where name=pb set RawUsage=0\n"


def test_a_failure_has_a_code_for_systemd(controller: Controller) -> None:
    controller.run("tend")
    controller.last_period()
    (controller.root / "deaf").touch()
    done = controller.run("tend")
    assert done.returncode == 1
    assert "the use of QOS pb is not reset; the next look tries again" in done.stderr


def test_without_settings_it_names_the_playbook(controller: Controller) -> None:
    (controller.root / "budget.json").write_text("{}")
    done = controller.run("tend")
    assert done.returncode == 2
    assert "budget.json has no settings of drawbridge-budget, run slurm.yml: KeyError" in done.stderr


def test_the_verb_is_needed(controller: Controller) -> None:
    assert controller.run().returncode == 2


def test_the_role_places_what_it_removes() -> None:
    placed = {
        file["path"] for file in yaml.safe_load((ROLE / "vars/main.yml").read_text())["__slurm_controller_budget"]
    }
    [_look, leave] = yaml.safe_load((ROLE / "tasks/no_budget.yml").read_text())
    [_stop, remove] = leave["block"]
    [install] = yaml.safe_load((ROLE / "tasks/budget.yml").read_text())
    directory = install["drawbridge.drawbridge.gate_program"]["directory"]
    own = {"/var/lib/drawbridge/budget", str(Path(directory).parent)}
    assert set(remove["loop"]) == placed | own
    assert remove["loop"][-1].endswith(".timer")
