# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Filesets: create, link, unlink, change and delete.

Seen in public transcripts; tests/transcripts/storage/gpfs has them:

Call `mmcrfileset Dev F --inode-space new --inode-limit N[:M]`: `Fileset F created with id 1 root inode 131075.`.

Call `mmlinkfileset Dev F -J PATH`: `Fileset F linked at PATH`.

Call `mmchfileset Dev F --iam-mode M`: `Fileset F changed.`.

Call `mmunlinkfileset Dev F`: `Fileset F unlinked.`.

Call `mmdelfileset Dev F -f`: `Checking fileset ...` to `Fileset F deleted.`.

A dependent fileset linked elsewhere: `Fileset F can only be linked within its own inode space.`.

A fileset that doesn't exist: `Fileset named F does not exist.`, exit code 22.

IBM's pages have the rules of names, junctions, `-f`, `--inode-limit`, and `-J` of mmcrfileset from 6.0.1 on. The texts
of all other refusals, their exit code 1, and the line on inodes of mmchfileset are our own. No reader may depend on
them. The node that makes a junction must have the file system mounted.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...common import DIE, DRIFT
from .filesystems import STEP, date, disks, enforce, fileset, find, known, number, ordered, rounded, used
from .model import Bare, Failed

if TYPE_CHECKING:
    from .model import Cluster

DEFAULT_INODES = (100352, 100352)
FORBIDDEN = re.compile(r"[/?$&*()`#|\[\]\\\s]")
CREATE = ("inode-space=", "inode-limit=", "allow-permission-change=", "allow-permission-inherit=")
CHANGE = ("inode-limit=", "allow-permission-change=", "allow-permission-inherit=", "iam-mode=")
CHANGE_MODES = ("chmodOnly", "setAclOnly", "chmodAndSetAcl", "chmodAndUpdateAcl")
INHERIT_MODES = ("inheritAclOnly", "inheritAclAndAddMode")
SOMEBODY = "changed by another administrator"


def mmcrfileset(cluster: Cluster, given: dict[str, str], rest: list[str]) -> None:
    """Create an unlinked fileset with an empty root directory of root:root 0700; it depends on root by default.

    When it dies half-way, the fileset is there without its comment, inode limit and junction.
    """
    device, name = _words(rest, 2)
    device, record = find(cluster, device)
    if "-J" in given and cluster.state["version"] != "6.0":
        raise Failed("Incorrect option: -J")
    _new_name(record, name)
    space, inodes = _space(record, given)
    dies = cluster.effect == DIE
    made = fileset(record["next_fileset"], space, cluster.now(), "" if dies else given.get("-t", ""), inodes)
    if not dies:
        made.update(_modes(given))
    elif made["owner"]:
        made.update(max=DEFAULT_INODES[0], alloc=DEFAULT_INODES[1])
    ordered(disks(cluster, device), "make", made["id"])
    record["filesets"][name] = made
    record["next_fileset"] += 1
    enforce(cluster, device, record, name)
    print(f"Fileset {name} created with id {made['id']} root inode {made['root_inode']}.")
    if "-J" in given and not dies:
        _link(cluster, device, name, given["-J"])
    if cluster.effect == DRIFT:
        made["comment"] = SOMEBODY


def _new_name(record: dict[str, Any], name: str) -> None:
    if name in ("root", "new") or not 0 < len(name) < 256 or name.startswith("-") or FORBIDDEN.search(name):
        raise Failed(f"Incorrect fileset name: {name}")
    if name in record["filesets"]:
        raise Bare(f"Fileset {name} already exists.")


def _space(record: dict[str, Any], given: dict[str, str]) -> tuple[int, tuple[int, int]]:
    """Return the number of the inode space, and maximum and allocated inodes of a new one; (0, 0) in another's."""
    wanted = given.get("--inode-space", "root")
    if wanted == "new":
        spaces = [it["space"] for it in record["filesets"].values()]
        limits = _inodes(given["--inode-limit"]) if "--inode-limit" in given else DEFAULT_INODES
        return max(spaces) + 1, limits
    if "--inode-limit" in given:
        raise Failed("--inode-limit is valid only with --inode-space new.")
    owner = known(record, wanted)
    if not owner["owner"]:
        raise Failed(f"Fileset {wanted} is not an independent fileset.")
    return owner["space"], (0, 0)


def _inodes(text: str, allocated: int = 0) -> tuple[int, int]:
    """Return maximum and allocated inodes, rounded up, of `Max[:Alloc]`."""
    first, _, second = text.partition(":")
    most = rounded(number(first, "--inode-limit"), STEP)
    alloc = rounded(number(second, "--inode-limit"), STEP) if second else max(allocated, min(most, DEFAULT_INODES[1]))
    if alloc > most:
        raise Failed("The number of inodes to preallocate cannot be greater than the maximum number of inodes.")
    return most, alloc


def _modes(given: dict[str, str]) -> dict[str, str]:
    """Return permission modes that a call sets; listings have `chmodAndSetacl` for chmodAndSetAcl."""
    modes = {}
    for key, option, allowed in (
        ("change", "--allow-permission-change", CHANGE_MODES),
        ("inherit", "--allow-permission-inherit", INHERIT_MODES),
    ):
        if option in given:
            if given[option] not in allowed:
                raise Failed(f"Incorrect value for {option}: {given[option]}")
            modes[key] = given[option].replace("chmodAndSetAcl", "chmodAndSetacl")
    return modes


def mmlinkfileset(cluster: Cluster, given: dict[str, str], rest: list[str]) -> None:
    """Make the junction of a fileset; without -J it gets the fileset's name, in the current directory."""
    device, name = _words(rest, 2)
    device, _ = find(cluster, device)
    _link(cluster, device, name, given.get("-J", str(Path.cwd() / name)))


def _link(cluster: Cluster, device: str, name: str, path: str) -> None:
    record = find(cluster, device)[1]
    found = known(record, name)
    if found["junction"] is not None:
        raise Bare(f"Fileset {name} is already linked.")
    mounted = cluster.state["mounts"][device].get(cluster.me)
    if not mounted:
        raise Failed(f"File system {device} is not mounted on this node.")
    junction = _below(path, mounted["path"], device)
    parent = parent_of(record, junction)
    if not found["owner"] and record["filesets"][parent]["space"] != found["space"]:
        raise Bare(f"Fileset {name} can only be linked within its own inode space.")
    place = disks(cluster, device).root / junction
    if not place.parent.is_dir():
        raise Bare(f"{path}: No such file or directory")
    if place.exists() or place.is_symlink():
        raise Bare(f"{path}: File exists")
    ordered(disks(cluster, device), "link", found["id"], junction=junction)
    found["junction"] = junction
    print(f"Fileset {name} linked at {path}")
    if cluster.effect == DRIFT:
        _unlink(cluster, device, name, force=True)


def _below(path: str, mount_point: str, device: str) -> str:
    """Return a path relative to the mount point."""
    relative = path.rstrip("/")[len(mount_point) + 1 :]
    if not path.startswith(f"{mount_point}/") or not relative or ".." in relative.split("/"):
        raise Bare(f"{path} is not in file system {device}.")
    return relative


def parent_of(record: dict[str, Any], junction: str) -> str:
    """Return the name of the fileset that a junction lies in."""
    above = [
        (len(it["junction"]), name)
        for name, it in record["filesets"].items()
        if it["junction"] is not None and (not it["junction"] or junction.startswith(f"{it['junction']}/"))
    ]
    return max(above)[1]


def mmunlinkfileset(cluster: Cluster, given: dict[str, str], rest: list[str]) -> None:
    """Remove the junction; without -f not while files are open. With -f the kernel lets users keep what they opened."""
    device, record = find(cluster, _words(rest, 1 if "-J" in given else 2)[0])
    if "-J" in given:
        junction = _below(given["-J"], record["mount_point"], device)
        name = next((name for name, it in record["filesets"].items() if it["junction"] == junction), None)
        if name is None:
            raise Bare(f"{given['-J']} is not a junction.", rc=22)
    else:
        name = rest[1]
    _unlink(cluster, device, name, force="-f" in given)
    print(f"Fileset {name} unlinked.")


def _unlink(cluster: Cluster, device: str, name: str, *, force: bool) -> None:
    record = find(cluster, device)[1]
    found = known(record, name)
    junction = found["junction"]
    if not found["id"]:
        raise Bare("The root fileset cannot be unlinked.")
    if junction is None:
        raise Bare(f"Fileset {name} is not linked.")
    if any((it["junction"] or "").startswith(f"{junction}/") for it in record["filesets"].values()):
        raise Bare(f"Fileset {name} has filesets linked in it.")
    ordered(disks(cluster, device), "unlink", found["id"], junction=junction, force=force)
    found["junction"] = None
    if cluster.effect == DRIFT and cluster.command == "mmunlinkfileset":
        ordered(disks(cluster, device), "link", found["id"], junction=junction)
        found["junction"] = junction


def mmdelfileset(cluster: Cluster, given: dict[str, str], rest: list[str]) -> None:
    """Delete a fileset that isn't linked; one with files only with -f. When it dies half-way, only its files go."""
    device, name = _words(rest, 2)
    device, record = find(cluster, device)
    found = known(record, name)
    if not found["id"]:
        raise Bare("The root fileset cannot be deleted.")
    if found["junction"] is not None:
        raise Bare(f"Fileset {name} must be unlinked before it can be deleted.")
    if found["owner"] and any(it["space"] == found["space"] and it is not found for it in record["filesets"].values()):
        raise Bare(f"Fileset {name} has dependent filesets.")
    kib, files = used(cluster, device, record, name)
    if files > 1 and "-f" not in given:
        raise Bare(f"Fileset {name} contains user files; use -f to delete it.")
    print("Checking fileset ...\nChecking fileset complete.\nDeleting user files ...")
    share = f"({found['alloc'] or files:>10} inodes with total {kib >> 10:>10} MB data processed)"
    print(f" 100.00 % complete on {date(cluster.now())}  {share}")
    if cluster.effect == DIE:
        ordered(disks(cluster, device), "empty", found["id"])
        return
    print("Deleting fileset ...")
    ordered(disks(cluster, device), "drop", found["id"])
    del record["filesets"][name]
    record["quotas"]["FILESET"].pop(name, None)
    print(f"Fileset {name} deleted.")
    if cluster.effect == DRIFT:
        again = {**found, "id": record["next_fileset"], "created": int(cluster.now()), "comment": SOMEBODY}
        ordered(disks(cluster, device), "make", again["id"])
        record["filesets"][name] = again
        record["next_fileset"] += 1


def mmchfileset(cluster: Cluster, given: dict[str, str], rest: list[str]) -> None:
    """Change name, comment, modes and inode limits; allocated inodes only grow. Dying half-way leaves the limits."""
    device, name = _words(rest, 2)
    device, record = find(cluster, device)
    found = known(record, name)
    if not given:
        raise Failed("Missing arguments.")
    modes = _modes(given)
    limits = _grown(found, given["--inode-limit"]) if "--inode-limit" in given else None
    if "-j" in given:
        _new_name(record, given["-j"])
    found.update(modes, comment=given.get("-t", found["comment"]))
    if cluster.effect == DIE:
        return
    if limits:
        found.update(max=limits[0], alloc=limits[1])
        print(f"Set maxInodes for inode space {found['space']} to {found['max']}")
    if "-j" in given:
        record["filesets"] = {given["-j"] if key == name else key: it for key, it in record["filesets"].items()}
        if name in record["quotas"]["FILESET"]:
            record["quotas"]["FILESET"][given["-j"]] = record["quotas"]["FILESET"].pop(name)
    enforce(cluster, device, record, given.get("-j", name))
    print(f"Fileset {name} changed.")
    if cluster.effect == DRIFT:
        found["comment"] = SOMEBODY


def _grown(found: dict[str, Any], text: str) -> tuple[int, int]:
    if not found["owner"]:
        raise Failed("--inode-limit is valid only for independent filesets.")
    most, alloc = _inodes(text, found["alloc"])
    if alloc < found["alloc"]:
        raise Failed(f"The number of allocated inodes cannot be lowered below {found['alloc']}.")
    return most, alloc


def _words(rest: list[str], count: int) -> list[str]:
    if len(rest) != count:
        raise Failed("Missing arguments." if len(rest) < count else f"Incorrect extra argument: {rest[-1]}")
    return rest
