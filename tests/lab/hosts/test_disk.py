# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
import os
import stat

import pytest

from lab.hosts import disk, keys
from lab.hosts.provision import Context


@pytest.fixture
def image(tmp_path):
    tree = tmp_path / "image" / "tree"
    for directory in ("etc/skel", "home/ansible"):
        (tree / directory).mkdir(parents=True)
    (tree / "etc/skel/.profile").write_text("# hello\n")
    (tree / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/bash\nansible:x:1000:1000::/home/ansible:/bin/bash\n")
    (tree / "etc/group").write_text("root:x:0:\nshadow:x:42:\nusers:x:100:\nansible:x:1000:\n")
    (tree / "etc/shadow").write_text("root:*:20000:0:99999:7:::\n")
    os.chown(tree / "home/ansible", 1000, 1000)
    return tree


@pytest.fixture
def installed(room_site, paths, image, tmp_path):
    keys.prepare(room_site, paths)
    context = Context(room_site, room_site.hosts["gpu01"], paths, tmp_path / "disk", image, frozenset())
    disk.provision(context)
    return context


def lines(context, file):
    return (context.disk / file).read_text().splitlines()


def test_users_have_the_sites_numbers_beside_the_images_own(installed):
    passwd = lines(installed, "etc/passwd")
    assert passwd[0].startswith("root:x:0:")
    assert "ada:x:2001:3001::/home/ada:/bin/bash" in passwd
    assert "eve:x:2005:100::/home/eve:/bin/bash" in passwd
    assert "vision:x:3001:" in lines(installed, "etc/group")
    assert "users:x:100:" in lines(installed, "etc/group")


def test_homes_belong_to_their_users_alone(installed):
    home = (installed.disk / "home/ada").stat()
    assert (home.st_uid, home.st_gid, stat.S_IMODE(home.st_mode)) == (2001, 3001, 0o700)
    assert (installed.disk / "home/ada/.profile").stat().st_uid == 2001


def test_keys_are_as_sshd_wants_them(installed, paths):
    private = installed.disk / "etc/ssh/ssh_host_ed25519_key"
    assert private.read_bytes() == paths.host_key("gpu01").read_bytes()
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    authorized = installed.disk / "home/ansible/.ssh/authorized_keys"
    assert authorized.read_text() == paths.user_key.with_suffix(".pub").read_text()
    assert (authorized.stat().st_uid, authorized.parent.stat().st_uid) == (1000, 1000)
    assert stat.S_IMODE(authorized.parent.stat().st_mode) == 0o700


def test_passwords_are_for_root_to_read(installed):
    shadow = (installed.disk / "etc/shadow").stat()
    assert (stat.S_IMODE(shadow.st_mode), shadow.st_gid) == (0o640, 42)


def test_hosts_names_everything_including_spares_and_switches(installed, room_site):
    text = (installed.disk / "etc/hosts").read_text()
    assert all(f"{ip} {name}\n" in text for name, ip in room_site.addresses().items())


def test_the_emulators_state_is_open_to_every_user_of_the_host(installed, paths):
    binds = {bind.target: bind for bind in installed.binds}
    assert binds["/var/lib/lab"].writable
    assert stat.S_IMODE(binds["/var/lib/lab"].source.stat().st_mode) == 0o777
    assert not binds["/srv/lab/apt"].writable
    assert not binds["/opt/lab"].writable
