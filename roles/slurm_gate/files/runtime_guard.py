# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Stands before the OCI runtime of a gated node: refuses a job's container whose image leads root into a volume.

The runtime makes mount points, devices and links as root, in the image's file system, with the pod's volumes mounted.
Hooks of devices (CDI) write there, too. A link in the image, such as one in place of /dev, would lead them into a
directory that its owner has closed. Here the image is mounted, no volume is, and no process changes the image. So
each path that root will touch is followed once, and none may end in a volume.
"""

from __future__ import annotations

import errno
import json
import os
import posixpath
import stat
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

CONFIG, NEXT = Path("/etc/drawbridge/gate/config.json"), Path("/etc/drawbridge/gate/runtime")
NAMESPACE = "io.kubernetes.cri.sandbox-namespace"
KERNELS = ("proc", "sysfs", "cgroup", "cgroup2")
KUBELETS = ("configmap", "downward-api", "projected", "secret")
"""Kinds of volumes that the kubelet alone writes."""
DEVICES = (
    *("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/console", "/dev/ptmx"),
    *("/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/core"),
)
"""What runc makes in every container."""
LINKER, LINKER_FILES = "/etc/ld.so.conf", "/etc/ld.so.conf.d"
HOOKS_WRITE = (LINKER, f"{LINKER_FILES}/x", "/etc/ld.so.cache", "/etc/ld.so.cache~", "/sbin/ldconfig")
"""What hooks that tell the linker of libraries write or run."""
INCLUDE = (f"{LINKER_FILES}/*.conf", "ld.so.conf.d/*.conf")
LINKS, LINKER_BYTES = 40, 1 << 16
REFUSAL = 1

Json = Mapping[str, Any]


class Refused(Exception):
    """Why a container does not start, in words."""


class Mounts(NamedTuple):
    """A container's mounts, by the places where they end up."""

    volumes: tuple[str, ...] = ()
    """Directories that others than the kubelet may write."""
    new: tuple[str, ...] = ()
    """File systems that are new and empty, or the kernel's: the image's links are not there."""
    kernels: tuple[str, ...] = ()
    """Those of the kernel, with links of its own."""


NOTHING = Mounts()


class Image:
    """An image's root file system, as it is before anything is mounted in it."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def follow(self, path: str, mounts: Mounts = NOTHING) -> str:
        """Where a path ends, if root follows it in the container. Raises Refused if its way goes through a volume."""
        todo, here, links = _parts(path)[::-1], "/", 0
        while todo:
            step = posixpath.normpath(posixpath.join(here, todo.pop()))
            target = None if _in_one(step, mounts.new) else self._link(step)
            if target is None:
                here = step
                _pass(path, here, links, mounts)
                continue
            links += 1
            if links > LINKS:
                raise Refused(f"the image has a chain of links at {path}")
            here = "/" if target.startswith("/") else here
            todo += _parts(target)[::-1]
        return here

    def _at(self, path: str) -> Path:
        return Path(f"{self._root}{path}")

    def _link(self, path: str) -> str | None:
        """The target of a link; None for all else. No part of the path before its last is a link."""
        try:
            return str(self._at(path).readlink())
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as err:
            if err.errno == errno.EINVAL:  # it exists, and is no link
                return None
            raise

    def text(self, path: str) -> str:
        """A file's beginning; empty for all other kinds."""
        try:
            handle = os.open(self._at(self.follow(path)), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return ""
        try:
            regular = stat.S_ISREG(os.fstat(handle).st_mode)
            return os.read(handle, LINKER_BYTES + 1).decode(errors="replace") if regular else ""
        finally:
            os.close(handle)

    def names(self, path: str) -> list[str]:
        """Names in a directory."""
        try:
            return sorted(entry.name for entry in self._at(self.follow(path)).iterdir())
        except OSError:
            return []


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]


def below(path: str, top: str) -> bool:
    """Whether a path lies in a directory; the directory itself does not."""
    return path != top and (top == "/" or path.startswith(f"{top}/"))


def _in_one(path: str, tops: Iterable[str]) -> bool:
    return any(below(path, top) for top in tops)


def _pass(path: str, here: str, links: int, mounts: Mounts) -> None:
    """Raise Refused where links go on that are not the image's: users make those of a volume at any time."""
    for top in mounts.volumes:
        if below(here, top):
            way = f"a link of the image leads {path} there" if links else f"{path} lies in it"
            raise Refused(f"root would come into the volume {top}: {way}")
    if links and _in_one(here, mounts.kernels) and not _in_one(path, mounts.kernels):
        raise Refused(f"a link of the image leads {path} to {here}, where the kernel's own links go on")


def mounts_of(config: Json, image: Image) -> Mounts:
    """Read them. Raises Refused if one would not be mounted where its destination says.

    That holds for the runtime's own mounts, too. Before 1.3.6, 1.4.3 and 1.5.0 runc follows a link at /dev out of the
    image, into the host's own directories (CVE-2026-41579).
    """
    every, new, volumes = config.get("mounts") or (), [], []
    for mount in every:
        if not _bound(mount):
            new.append(_straight(image, mount, Mounts(new=tuple(new)), "the runtime mounts its own"))
    known = Mounts(new=tuple(new))
    for mount in every:
        if _bound(mount) and _is_volume(mount["source"]):
            volumes.append(_straight(image, mount, known, "a volume is mounted"))
    kernels = tuple(posixpath.normpath(mount["destination"]) for mount in every if mount.get("type") in KERNELS)
    return Mounts(tuple(volumes), known.new, kernels)


def _straight(image: Image, mount: Json, known: Mounts, what: str) -> str:
    destination = posixpath.normpath(mount["destination"])
    if image.follow(destination, known) != destination:
        raise Refused(f"the image has a link on the way to {destination}, where {what}")
    return destination


def _bound(mount: Json) -> bool:
    return mount.get("type") == "bind" or bool({"bind", "rbind"} & set(mount.get("options") or ()))


def _is_volume(source: str) -> bool:
    kind = source.partition("/volumes/kubernetes.io~")[2].partition("/")[0]
    return kind not in KUBELETS and Path(source).is_dir()


def touched(config: Json, image: Image) -> Iterator[str]:
    """Paths that root makes, mounts over or writes, as the container names them."""
    linux = config.get("linux") or {}
    yield from (mount["destination"] for mount in config.get("mounts") or ())
    yield from DEVICES
    yield from (device["path"] for device in linux.get("devices") or ())
    yield from linux.get("maskedPaths") or ()
    yield from linux.get("readonlyPaths") or ()
    yield (config.get("process") or {}).get("cwd") or "/"
    hooks = [hook for some in (config.get("hooks") or {}).values() for hook in some or ()]
    if hooks:
        yield from HOOKS_WRITE
        yield from libraries(image)
    for hook in hooks:
        for word in (hook.get("args") or ())[1:]:
            yield from (part for part in word.replace("::", " ").replace("=", " ").split() if part.startswith("/"))


def libraries(image: Image) -> Iterator[str]:
    """Directories in which the linker makes links, by the image's own configuration."""
    files = [LINKER, *(f"{LINKER_FILES}/{name}" for name in image.names(LINKER_FILES) if name.endswith(".conf"))]
    for file in files:
        text = image.text(file)
        if len(text) > LINKER_BYTES:
            raise Refused(f"{file} of the image is too long")
        for line in (line.partition("#")[0].split() for line in text.splitlines()):
            if line[:1] == ["include"]:
                if not set(line[1:]) <= set(INCLUDE):
                    raise Refused(f"{file} of the image includes {' '.join(line[1:])}")
            elif line[:1] != ["hwcap"]:
                yield from (part for word in line for part in word.split(",") if part.startswith("/"))


def judge(config: Json, image: Image) -> None:
    """Raise Refused if root would come into a volume."""
    mounts = mounts_of(config, image)
    for path in touched(config, image):
        image.follow(path, mounts)


def of_job(config: Json, gate: Path = CONFIG) -> bool:
    """Whether a container belongs to a job. Without the gate's list of namespaces each one is judged."""
    namespace = (config.get("annotations") or {}).get(NAMESPACE)
    try:
        known = json.loads(gate.read_text())
    except (OSError, ValueError):
        return True
    return namespace not in known["infra_namespaces"]


def option(words: list[str], *names: str) -> str:
    """The value of an option of the runtime; empty without it."""
    for at, word in enumerate(words):
        name, sign, value = word.partition("=")
        if name in names:
            return value if sign else next(iter(words[at + 1 :]), "")
    return ""


def say(log: str, why: str) -> None:
    """Tell containerd, which reads the last error of the runtime's log into the pod's event."""
    line = {"level": "error", "msg": why, "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
    if log:
        with Path(log).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
    print(why, file=sys.stderr)


def main(words: list[str]) -> int:
    """Judge the container, then become the runtime."""
    bundle = Path(option(words, "--bundle", "-b") or ".")
    try:
        config = json.loads((bundle / "config.json").read_text())
        if of_job(config):
            judge(config, Image(bundle / config["root"]["path"]))
    except (Refused, OSError, ValueError, KeyError, TypeError, AttributeError) as err:
        say(option(words, "--log"), f"drawbridge: {err}" if isinstance(err, Refused) else f"drawbridge: {err!r}")
        return REFUSAL
    runtime = NEXT.read_text().strip()
    os.execv(runtime, [runtime, *words])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
