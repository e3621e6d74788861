# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import (
    DeviceError,
    converge,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.packages.apt import FORBID, Packages
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.packages.plan import (
    PackageState,
    plan,
)

LOCKED = (  # apt 3.0.4 and dpkg 1.22.22, captured
    "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 136 (apt-get)",
    "dpkg: error: dpkg frontend lock was locked by /usr/bin/apt-get process with pid 136\nNote: removing the lock file",
)
WANT = PackageState(frozenset({"munge", "slurmd"}))


class Dpkg:
    """dpkg-query and apt-get over one set of packages."""

    def __init__(self, policy: Path, installed: str = "", locked: Sequence[str] = ()) -> None:
        self.policy, self.out, self.locked = policy, installed, list(locked)
        self.writes: list[list[str]] = []

    def __call__(self, argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        if argv[0] == "dpkg-query":
            return Completed(1, self.out, "no packages found")
        self.writes.append(list(argv)[2:])
        if self.locked:
            raise DeviceError("it failed", stderr=self.locked.pop())
        if "update" not in argv:
            assert self.policy.read_text() == FORBID
            assert self.policy.stat().st_mode & 0o111
        if "install" in argv:
            self.out = "munge install ok installed\nslurmd install ok installed\n"
        return Completed(0, "", "")


def test_services_stay_off_while_packages_are_installed_and_only_then(tmp_path: Path) -> None:
    policy = tmp_path / "policy-rc.d"
    run = Dpkg(policy, "munge install ok installed\nslurmd deinstall ok config-files\n")
    outcome = converge(Packages(run, ["munge", "slurmd"], policy), plan, WANT)
    assert (outcome.steps, outcome.error) == (["install slurmd"], "")
    assert [(argv[0], argv[-1]) for argv in run.writes] == [
        ("apt-get", "update"),
        ("dpkg", "--pending"),
        ("apt-get", "slurmd"),
    ]
    assert not policy.exists()


def test_a_foreign_policy_is_left_alone(tmp_path: Path) -> None:
    policy = tmp_path / "policy-rc.d"
    policy.write_text("#!/bin/sh\nexit 0\n")
    with pytest.raises(DeviceError, match="exists and is not Drawbridge's, so a package's service might start"):
        Packages(Dpkg(policy), ["munge"], policy).apply(plan(PackageState(frozenset()), WANT))
    assert policy.read_text() == "#!/bin/sh\nexit 0\n"


def test_an_installation_that_was_killed_at_its_very_end_is_finished(tmp_path: Path) -> None:
    policy = tmp_path / "policy-rc.d"
    policy.write_text(FORBID)
    policy.chmod(0o755)
    run = Dpkg(policy, "munge install ok installed\nslurmd install ok installed\n")
    assert converge(Packages(run, ["munge", "slurmd"], policy), plan, WANT, check=True).changed
    outcome = converge(Packages(run, ["munge", "slurmd"], policy), plan, WANT)
    assert outcome.steps == ["finish an installation that was cut off, and let packages start their services again"]
    assert [(argv[0], argv[-1]) for argv in run.writes] == [("dpkg", "--pending"), ("apt-get", "install")]
    assert not policy.exists()


def test_another_installation_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("time.sleep", pauses.append)
    run = Dpkg(tmp_path / "policy-rc.d", locked=LOCKED)
    assert converge(Packages(run, ["munge", "slurmd"], run.policy), plan, WANT).error == ""
    assert len(pauses) == 2
