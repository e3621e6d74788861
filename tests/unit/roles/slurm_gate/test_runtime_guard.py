# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What an image may not do to root: its links, and what runc and NVIDIA's hooks do with them.

Mounts, devices and hooks are those of config.json as containerd writes it for a pod of a job.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from roles.slurm_gate.files import runtime_guard
from roles.slurm_gate.files.runtime_guard import Image, Refused, judge, main, of_job

Json = dict[str, Any]
HOOKS = [
    ["nvidia-cdi-hook", "create-symlinks", "--link", "libcuda.so.1::/usr/lib/x86_64-linux-gnu/libcuda.so"],
    ["nvidia-cdi-hook", "update-ldcache", "--folder", "/usr/lib/x86_64-linux-gnu"],
    ["nvidia-cdi-hook", "disable-device-node-modification"],
]
VICTIM = "/gpfs/fs1/home/victim"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An image as distributions make them."""
    made = tmp_path / "bundle/rootfs"
    for name in ("dev", "etc/ld.so.conf.d", "usr/lib/x86_64-linux-gnu", "usr/sbin", "run", "var", "proc", "sys"):
        (made / name).mkdir(parents=True)
    for name, target in (("lib", "usr/lib"), ("sbin", "usr/sbin"), ("var/run", "/run"), ("dev/fd", "/proc/self/fd")):
        (made / name).symlink_to(target)
    (made / "etc/ld.so.conf").write_text("include /etc/ld.so.conf.d/*.conf\n")
    (made / "etc/ld.so.conf.d/x86_64-linux-gnu.conf").write_text("# multiarch\n/usr/lib/x86_64-linux-gnu\n")
    return made


@pytest.fixture
def volume(tmp_path: Path) -> str:
    """A directory of the host."""
    (tmp_path / "host").mkdir()
    return str(tmp_path / "host")


def mount(destination: str, source: str = "", kind: str = "bind") -> Json:
    return {"destination": destination, "type": kind, "source": source or kind, "options": []}


def config(*mounts: Json, hooks: Any = (), **more: Any) -> Json:
    """A container of a job, whose first mounts are the runtime's own."""
    own = [mount("/proc", kind="proc"), mount("/dev", kind="tmpfs"), mount("/dev/pts", kind="devpts")]
    own += [mount("/sys", kind="sysfs"), mount("/sys/fs/cgroup", kind="cgroup"), mount("/dev/mqueue", kind="mqueue")]
    own += [mount("/etc/hosts", "/var/lib/kubelet/pods/1/etc-hosts"), mount("/etc/resolv.conf", "/r")]
    linux = {"devices": [{"path": "/dev/nvidia0"}], "maskedPaths": ["/proc/kcore"], "readonlyPaths": ["/proc/sys"]}
    called = {"createContainer": [{"path": "/usr/bin/nvidia-cdi-hook", "args": words} for words in hooks]}
    found = {"root": {"path": "rootfs"}, "mounts": [*own, *mounts], "process": {"cwd": "/"}, "linux": linux}
    return {**found, **({"hooks": called} if hooks else {}), **more}


def linked(root: Path, name: str, target: str) -> None:
    """A link in place of what the image has."""
    place = root / name
    if place.is_symlink() or place.is_file():
        place.unlink()
    elif place.is_dir():
        place.rename(root / "moved")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)


def refusal(root: Path, given: Json) -> str:
    """Why the container does not start; empty if it does."""
    try:
        judge(given, Image(root))
    except Refused as refused:
        return str(refused)
    return ""


def test_an_image_of_a_distribution_is_fine(root: Path, volume: str) -> None:
    token = "/var/lib/kubelet/pods/1/volumes/kubernetes.io~projected/token"
    given = [mount("/gpfs/fs1", volume), mount("/home", volume), mount("/dev/shm", volume)]
    given += [mount("/var/run/secrets/kubernetes.io/serviceaccount", token)]
    assert refusal(root, config(*given, hooks=HOOKS)) == ""


@pytest.mark.parametrize(
    ("name", "target", "said"),
    [
        ("dev", f"{VICTIM}/closed", "on the way to /dev, where the runtime mounts its own"),
        # runc would make devices' links in the host's own directory
        ("dev", "/root", "on the way to /dev, where the runtime mounts its own"),
        ("proc", "/var", "on the way to /proc, where the runtime mounts its own"),
        ("etc", f"{VICTIM}/closed", "leads /etc/hosts there"),
        ("etc/hosts", f"{VICTIM}/new", "leads /etc/hosts there"),
        ("etc/resolv.conf", f"../..{VICTIM}/new", "leads /etc/resolv.conf there"),
        ("etc/hosts", "other", "leads /etc/hosts there"),
        # in steps, upwards, and past a directory that isn't there
        ("etc", "/var/a", "leads /etc/hosts there"),
        ("etc", "../../../gpfs/fs1/x", "leads /etc/hosts there"),
        ("etc", "/nowhere/../gpfs/fs1/x", "leads /etc/hosts there"),
        # into a volume and out of it again: a job may have put a link there by then
        ("etc", "/gpfs/fs1/x/../../../var", "leads /etc/hosts there"),
        # below file systems that come later, the image's own links count for nothing
        ("etc", "/dev/a/../../gpfs/fs1/x", "leads /etc/hosts there"),
        ("etc", f"/proc/self/root{VICTIM}", "the kernel's own links go on"),
        ("etc", f"/proc/1/cwd{VICTIM}", "the kernel's own links go on"),
    ],
)
def test_a_link_that_leads_root_into_a_volume_is_refused(
    root: Path, volume: str, name: str, target: str, said: str
) -> None:
    linked(root, name, target)
    (root / "var/a").symlink_to(f"{VICTIM}/closed")
    if not (root / "etc").is_symlink():
        (root / "etc/other").symlink_to(f"{VICTIM}/new")
    assert said in refusal(root, config(mount("/gpfs/fs1", volume)))


@pytest.mark.parametrize("where", ["/gpfs/fs1/projects/atlas", "/claims/scratch"])
def test_a_projects_directory_is_a_volume_below_a_mount_point_and_as_a_claim(
    root: Path, volume: str, where: str
) -> None:
    """The kubelet binds the node's directory itself for both; a driver's is below its own directory."""
    assert refusal(root, config(mount(where, volume), mount("/dev/shm", volume), hooks=HOOKS)) == ""
    linked(root, where.strip("/"), "/etc")
    assert f"a link on the way to {where}, where a volume" in refusal(root, config(mount(where, volume)))


@pytest.mark.parametrize("where", ["/gpfs/fs1/projects/atlas", "/claims/scratch"])
def test_no_link_of_an_image_leads_root_into_a_projects_directory(root: Path, volume: str, where: str) -> None:
    linked(root, "etc", f"{where}/closed")
    assert f"root would come into the volume {where}" in refusal(root, config(mount(where, volume)))


@pytest.mark.parametrize(("name", "target"), [("gpfs", "/dev"), ("gpfs/fs1", "/etc"), ("gpfs", "var")])
def test_a_volume_is_mounted_where_its_destination_says(root: Path, volume: str, name: str, target: str) -> None:
    linked(root, name, target)
    assert "a link on the way to /gpfs/fs1, where a volume" in refusal(root, config(mount("/gpfs/fs1", volume)))


def test_nothing_is_mounted_below_a_volume_in_which_others_may_put_a_link(root: Path, volume: str) -> None:
    given = config(mount("/data", volume), mount("/data/conf", volume))
    assert refusal(root, given) == "root would come into the volume /data: /data/conf lies in it"
    assert "/data/x lies in it" in refusal(root, config(mount("/data", volume), process={"cwd": "/data/x"}))


def test_a_loop_of_links_ends(root: Path) -> None:
    linked(root, "etc", "/etc")
    assert refusal(root, config()) == "the image has a chain of links at /etc/hosts"


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("usr/lib/x86_64-linux-gnu", f"{VICTIM}/lib"),
        ("usr/lib/x86_64-linux-gnu/libcuda.so", f"{VICTIM}/libcuda.so"),
        ("etc/ld.so.cache", f"{VICTIM}/cache"),
        ("etc/ld.so.conf", f"{VICTIM}/conf"),
        ("etc/ld.so.conf.d", f"{VICTIM}/conf.d"),
        ("sbin", f"{VICTIM}/bin"),
    ],
)
def test_what_hooks_write_is_followed_too(root: Path, volume: str, name: str, target: str) -> None:
    linked(root, name, target)
    given = mount("/gpfs/fs1", volume)
    assert "root would come into the volume /gpfs/fs1" in refusal(root, config(given, hooks=HOOKS))
    assert refusal(root, config(given)) == ""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (f"{VICTIM}/closed", "/gpfs/fs1/home/victim/closed lies in it"),
        (f"/opt/other,{VICTIM}/closed # mine", "/gpfs/fs1/home/victim/closed lies in it"),
        ("/opt/lib", "a link of the image leads /opt/lib there"),
        (f"include {VICTIM}/*.conf", "ld.so.conf.d/own.conf of the image includes"),
        ("#" * (1 << 16), "is too long"),
    ],
)
def test_the_linker_makes_links_in_no_volume(root: Path, volume: str, line: str, said: str) -> None:
    """ldconfig makes them, as root, in each directory that the image's configuration names."""
    linked(root, "opt/lib", f"{VICTIM}/closed")
    (root / "etc/ld.so.conf.d/own.conf").write_text(line + "\n")
    assert said in refusal(root, config(mount("/gpfs/fs1", volume), hooks=HOOKS))


@pytest.mark.parametrize("kind", ["fifo", "missing", "directory"])
def test_the_linkers_files_may_be_anything(root: Path, kind: str) -> None:
    file = root / "etc/ld.so.conf"
    file.unlink()
    {"fifo": lambda: os.mkfifo(file), "missing": lambda: None, "directory": file.mkdir}[kind]()
    assert refusal(root, config(hooks=HOOKS)) == ""


def test_containers_of_infrastructure_are_left_alone(tmp_path: Path) -> None:
    gate = tmp_path / "config.json"
    gate.write_text(json.dumps({"infra_namespaces": ["kube-system"]}))
    of = {name: {"annotations": {runtime_guard.NAMESPACE: name}} for name in ("vision", "kube-system")}
    assert of_job(of["vision"], gate) and not of_job(of["kube-system"], gate)
    assert of_job({}, gate) and of_job(of["kube-system"], tmp_path / "none")


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """Calls of the runtime itself."""
    found: list[list[str]] = []
    (tmp_path / "runtime").write_text("/usr/bin/runc\n")
    monkeypatch.setattr(runtime_guard, "NEXT", tmp_path / "runtime")
    monkeypatch.setattr(os, "execv", lambda _program, words: found.append(words))
    return found


def words(root: Path, log: Path) -> list[str]:
    return ["--root", "/run/x", "--log", str(log), "create", "--bundle", str(root.parent), "--pid-file", "p", "abc"]


def test_a_container_is_made_by_the_runtime_with_the_same_words(root: Path, tmp_path: Path, called: Any) -> None:
    (root.parent / "config.json").write_text(json.dumps(config()))
    given = words(root, tmp_path / "log.json")
    main(given)
    assert called == [["/usr/bin/runc", *given]]


def test_a_refusal_is_the_last_line_of_the_runtimes_log(root: Path, volume: str, tmp_path: Path, called: Any) -> None:
    linked(root, "dev", VICTIM)
    (root.parent / "config.json").write_text(json.dumps(config(mount("/gpfs/fs1", volume))))
    assert main(words(root, tmp_path / "log.json")) == 1 and called == []
    line = json.loads((tmp_path / "log.json").read_text().splitlines()[-1])
    assert line["level"] == "error" and line["msg"].startswith("drawbridge: the image has a link on the way to /dev")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"root": {}}'])
def test_what_can_not_be_read_does_not_start(root: Path, tmp_path: Path, called: Any, text: str) -> None:
    (root.parent / "config.json").write_text(text)
    assert main(words(root, tmp_path / "log.json")) == 1 and called == []
