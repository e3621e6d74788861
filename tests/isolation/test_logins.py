# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Logins on the node, by ssh: where a user has a job, and as a part of the job. Group speech is of admins here."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.isolation.node import LAB, NODE, PATIENCE_S, build, here, job
from tests.waiting import until

pytestmark = pytest.mark.live
INTENT = Path(__file__).with_name("inventory") / "group_vars/all/slurm.yml"
USERS = ("ada", "ben", "cleo")
KEYS = "runuser -u {0} -- sh -c 'test -e ~/.ssh/id_ed25519 || ssh-keygen -q -t ed25519 -N \"\" -f ~/.ssh/id_ed25519'"
GREETED = "ssh -o BatchMode=yes -o StrictHostKeyChecking=accept-new"
ITSELF = "cat /proc/self/cgroup; for at in /dev/nvidia[0-9]; do : <$at && echo $at; done"
ACCOUNT = """
import ctypes, sys
pam, handle = ctypes.CDLL("libpam.so.0"), ctypes.c_void_p()
talk = (ctypes.c_void_p * 2)(ctypes.cast(ctypes.CDLL("libpam_misc.so.0").misc_conv, ctypes.c_void_p), None)
pam.pam_start(b"cron", sys.argv[1].encode(), talk, ctypes.byref(handle))
print(pam.pam_acct_mgmt(handle, 0))
"""
"""What PAM says to cron of a user: 0 is a yes."""


@pytest.fixture(scope="module", autouse=True)
def keys() -> None:
    """Each user has a key, on a home that both hosts know."""
    for user in USERS:
        LAB.ssh("ctl", f"mkdir -p -m 700 ~{user}/.ssh; chown {user}: ~{user}/.ssh; {KEYS.format(user)}")
        public = LAB.ssh("ctl", f"cat ~{user}/.ssh/id_ed25519.pub")
        place = f"~{user}/.ssh"
        here(f"mkdir -p -m 700 {place}; echo '{public}' > {place}/authorized_keys; chown -R {user}: {place}")


def login(user: str, command: str = ITSELF) -> str:
    """What a login says, with what PAM says of it."""
    return LAB.ssh("ctl", f"runuser -u {user} -- {GREETED} {NODE} '{command}' 2>&1", check=False)


def test_a_user_without_a_job_does_not_get_in() -> None:
    assert "you have no active jobs on this node" in login("ben")
    with job("--mem=200M"):
        assert "you have no active jobs on this node" in login("ben")


def test_a_login_is_a_part_of_the_job_and_ends_with_it() -> None:
    with job("--mem=200M --gres=gpu:h100:1") as (number, found):
        said = login("ada")
        assert re.search(rf"/job_{number}/step_extern", said), said
        assert [line for line in said.splitlines() if line.startswith("/dev/")] == found["gpus"]
        login("ada", "setsid --fork sleep 87654 </dev/null >/dev/null 2>&1")
        assert here("pgrep --exact --full 'sleep 87654'")
    until(lambda: not here("pgrep --exact --full 'sleep 87654' || true"), PATIENCE_S, "it ended with the job")
    assert "you have no active jobs on this node" in login("ada")


def test_nothing_takes_a_login_out_of_its_job() -> None:
    with job("--mem=200M") as (number, _):
        said = login("ada", "systemd-run --user --scope true; loginctl list-sessions; cat /proc/self/cgroup")
        assert f"/job_{number}/step_extern" in said
    assert here("systemctl is-active systemd-logind.service || true") == "inactive"


def test_admins_log_in_and_stay_outside_of_jobs() -> None:
    assert "job_" not in login("cleo") and "0::/" in login("cleo")


@pytest.mark.parametrize(("user", "may"), [("ada", False), ("cleo", True), ("root", True), ("munge", True)])
def test_commands_of_users_do_not_wait_for_a_time_without_their_jobs(user: str, may: bool) -> None:
    said = LAB.ssh(NODE, f"python3 - {user}", stdin=ACCOUNT)
    assert (said.strip() == "0") is may


def intent(node_logins: dict[str, str]) -> dict[str, Any]:
    """The inventory's Slurm, with other logins."""
    slurm = yaml.safe_load(INTENT.read_text())["drawbridge_slurm"]
    return {"drawbridge_slurm": {**slurm, "node_logins": node_logins}, "visit_layers": ["slurm_node"]}


def test_who_connects_is_not_locked_out() -> None:
    me = {"ansible_user": "ansible", "ansible_become": True}
    done = LAB.playbook("slurm", "--extra-vars", json.dumps({**intent({"policy": "closed"}), **me}))
    assert done.code != 0
    told = "ansible, who connects here, could not log in any more: add ansible to"
    assert any(told in result.get("msg", "") for _, host, result in done.results() if host == NODE)
    assert "pam_slurm_adopt" in here("cat /etc/pam.d/sshd")


def test_logins_become_the_sites_again() -> None:
    done = LAB.playbook("slurm", "--extra-vars", json.dumps(intent({"policy": "site"})))
    assert done.code == 0, done.output
    assert "drawbridge" not in here("cat /etc/pam.d/sshd /etc/pam.d/cron")
    assert "user.slice" in login("ben")
    done = build()
    assert done.code == 0, done.output
    assert "you have no active jobs on this node" in login("ben")
