# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The first provider: what an installer leaves on any host (names, keys, users) and what every host sees of the lab."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from lab.hosts import keys
from lab.hosts.paths import REPOSITORY, Paths
from lab.hosts.provision import Bind, Context
from lab.hosts.site import Site


def prepare(site: Site, paths: Paths) -> None:
    """Make the lab's keys and the directories that hosts share."""
    keys.prepare(site, paths)
    _open_to_all(paths.shared)


def provision(context: Context) -> None:
    """Names, keys, users and binds of one host."""
    context.write("/etc/hostname", f"{context.host.name}\n")
    context.write("/etc/hosts", hosts_file(context.site))
    context.write("/etc/resolv.conf", "# The lab has no DNS: /etc/hosts names everything.\n")
    _write_keys(context)
    _write_users(context)
    _open_to_all(context.paths.host(context.host.name).emulators)
    context.binds.extend(binds(context))


def _open_to_all(directory: Path) -> None:
    """Emulated tools answer any user of a host, and keep their state and journal here."""
    directory.mkdir(parents=True, exist_ok=True)
    directory.chmod(0o777)


def binds(context: Context) -> list[Bind]:
    """What every host sees of the machine."""
    return [
        Bind(context.image.parent / "apt", "/srv/lab/apt"),
        Bind(REPOSITORY / "lab" / "emulators", "/opt/lab"),
        Bind(context.paths.host(context.host.name).emulators, "/var/lib/lab", writable=True),
        Bind(context.paths.shared, "/var/lib/lab-shared", writable=True),
    ]


def hosts_file(site: Site) -> str:
    """hosts(5) with every host, spare and switch."""
    return "127.0.0.1 localhost\n" + "".join(f"{ip} {name}\n" for name, ip in site.addresses().items())


def _write_keys(context: Context) -> None:
    private = context.paths.host_key(context.host.name)
    context.write("/etc/ssh/ssh_host_ed25519_key", private.read_bytes(), 0o600)
    context.write("/etc/ssh/ssh_host_ed25519_key.pub", private.with_name(f"{private.name}.pub").read_bytes())
    public = context.paths.user_key.with_suffix(".pub").read_text()
    ansible = (context.image / "home/ansible").stat()
    for home, uid, gid in (("/root", 0, 0), ("/home/ansible", ansible.st_uid, ansible.st_gid)):
        _own_home(context, home, uid, gid)
        authorized = context.write(f"{home}/.ssh/authorized_keys", public, 0o600)
        authorized.parent.chmod(0o700)
        for path in (authorized.parent, authorized):
            os.chown(path, uid, gid)


def _own_home(context: Context, home: str, uid: int, gid: int) -> Path:
    path = context.disk / home.lstrip("/")
    path.mkdir(parents=True, exist_ok=True)
    path.chmod(0o700)
    os.chown(path, uid, gid)
    return path


def _write_users(context: Context) -> None:
    """The site's people, as its directory service would give them: the same numbers on every host."""
    site, image = context.site, context.image
    context.write("/etc/group", group_file((image / "etc/group").read_text(), site))
    passwd = (image / "etc/passwd").read_text()
    numbers = group_numbers((context.disk / "etc/group").read_text())
    context.write("/etc/passwd", passwd_file(passwd, site, numbers))
    shadow = context.write("/etc/shadow", shadow_file((image / "etc/shadow").read_text(), site), 0o640)
    os.chown(shadow, 0, numbers["shadow"])
    for user in site.users.values():
        home = _own_home(context, f"/home/{user.name}", user.uid, numbers[user.group])
        for skeleton in (image / "etc/skel").iterdir():
            shutil.copyfile(skeleton, home / skeleton.name)
            os.chown(home / skeleton.name, user.uid, numbers[user.group])


def group_file(image: str, site: Site) -> str:
    """group(5): the image's groups and the site's."""
    return image + "".join(f"{name}:x:{gid}:\n" for name, gid in site.groups.items())


def group_numbers(group: str) -> dict[str, int]:
    """Name to gid, from the text of a group(5) file."""
    return {fields[0]: int(fields[2]) for fields in (line.split(":") for line in group.splitlines())}


def passwd_file(image: str, site: Site, numbers: dict[str, int]) -> str:
    """passwd(5): the image's users and the site's."""
    lines = [f"{u.name}:x:{u.uid}:{numbers[u.group]}::/home/{u.name}:/bin/bash\n" for u in site.users.values()]
    return image + "".join(lines)


def shadow_file(image: str, site: Site) -> str:
    """shadow(5): people log in by key or not at all, but their accounts aren't locked."""
    return image + "".join(f"{name}:*:20000:0:99999:7:::\n" for name in site.users)
