# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Packages of Kubernetes, taken apart again; test_live.py has what apt and dpkg make of them."""

import hashlib
import io
import tarfile
from dataclasses import replace

import pytest
import yaml

from lab.hosts.paths import REPOSITORY
from lab.kubernetes import debs

PACKAGE = debs.Package("tool", "1.2-1", ("tool",), "[Service]\nExecStart=/usr/bin/tool\n", "runc", "a tool")


def members(deb):
    """Return the members of an ar archive by name."""
    assert deb.startswith(b"!<arch>\n")
    found, at = {}, 8
    while at < len(deb):
        name, size = deb[at : at + 16].decode().strip(), int(deb[at + 48 : at + 58])
        assert deb[at + 58 : at + 60] == b"`\n"
        found[name] = deb[at + 60 : at + 60 + size]
        at += 60 + size + size % 2
    return found


@pytest.mark.parametrize("size", [4, 5])
def test_a_package_is_what_dpkg_expects(size):
    found = members(debs.archive(PACKAGE, {"tool": b"x" * size}))
    assert list(found) == ["debian-binary", "control.tar.gz", "data.tar"]
    data, control = unpacked(found["data.tar"]), unpacked(found["control.tar.gz"])
    assert data["./usr/bin/tool"] == (b"x" * size, 0o755)
    assert "./usr/lib/systemd/system/tool.service" in data
    assert b"Version: 1.2-1\n" in control["./control"][0]


def unpacked(archive):
    """Return content and mode of the files of a tar."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        files = [(member, tar.extractfile(member)) for member in tar if member.isfile()]
        return {member.name: (file.read(), member.mode) for member, file in files if file}


def test_the_repository_tells_of_its_files(tmp_path, monkeypatch):
    monkeypatch.setattr(debs, "PACKAGES", (PACKAGE, replace(PACKAGE, name="other")))
    (tmp_path / "tool").write_bytes(b"program")
    directory = debs.ensure(tmp_path, {"tool": tmp_path / "tool"})
    listed = (directory / "Packages").read_text()
    content = (directory / "other_1.2-1_amd64.deb").read_bytes()
    assert f"Filename: ./other_1.2-1_amd64.deb\nSize: {len(content)}\n" in listed
    assert hashlib.sha256(content).hexdigest() in listed
    assert hashlib.sha256(listed.encode()).hexdigest() in (directory / "Release").read_text()
    assert debs.ensure(tmp_path, {"tool": tmp_path / "tool"}) == directory


def test_the_labs_site_pins_what_is_there():
    file = REPOSITORY / "inventories/lab/group_vars/all/kube.yml"
    pinned = yaml.safe_load(file.read_text())["drawbridge_kube"]["packages"]
    assert {it["name"]: it["version"] for it in pinned} == {it.name: it.version for it in debs.PACKAGES}
