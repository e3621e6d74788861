# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
import subprocess

from lab.hosts import keys


def test_a_key_pair_is_made_once_and_is_private(tmp_path):
    keys.make(tmp_path / "a" / "key", "me")
    first = (tmp_path / "a" / "key").read_bytes()
    keys.make(tmp_path / "a" / "key", "me")
    assert (tmp_path / "a" / "key").read_bytes() == first
    assert (tmp_path / "a" / "key").stat().st_mode & 0o777 == 0o600


def test_openssh_reads_the_private_key_and_finds_the_same_public_one(tmp_path):
    keys.make(tmp_path / "key", "me")
    shown = subprocess.run(["ssh-keygen", "-y", "-f", tmp_path / "key"], capture_output=True, text=True, check=True)
    assert shown.stdout.split()[:2] == (tmp_path / "key.pub").read_text().split()[:2]


def test_everything_that_can_be_reached_is_in_known_hosts(room_site, paths):
    keys.prepare(room_site, paths)
    lines = dict(line.split(" ", 1) for line in paths.known_hosts.read_text().splitlines())
    assert lines.keys() == {f"{name},{ip}" for name, ip in room_site.addresses().items()}
    assert len(set(lines.values())) == len(lines)


def test_ssh_resolves_names_by_the_config_and_checks_strictly(room_site, paths):
    keys.prepare(room_site, paths)

    def effective(name):
        argv = ["ssh", "-G", "-F", paths.ssh_config, name]
        text = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
        return dict(line.split(" ", 1) for line in text.splitlines())

    gpu = effective("gpu01")
    assert (gpu["hostname"], gpu["user"], gpu["stricthostkeychecking"]) == ("10.77.7.21", "root", "true")
    assert gpu["userknownhostsfile"] == str(paths.known_hosts)
    assert gpu["identityfile"] == str(paths.user_key)
    assert effective("leaf1")["user"] == "admin"


def test_shared_connections_outlive_a_moment_and_end_with_their_host(room_site, paths, monkeypatch):
    keys.prepare(room_site, paths)
    assert "ServerAliveInterval 1\n  ServerAliveCountMax 60\n" in paths.ssh_config.read_text()
    for user_at_name in ("root@gpu01", "ansible@10.77.7.21", "root@gpu02"):
        (paths.state / user_at_name).touch()
    ended = []
    monkeypatch.setattr(keys.subprocess, "run", lambda command, **_: ended.append((command[3:5], command[6])))
    keys.hang_up(paths, "gpu01", "10.77.7.21")
    wanted = ("root@gpu01", "ansible@10.77.7.21")
    assert ended == [(["-O", "exit"], f"ControlPath={paths.state / name}") for name in wanted]
