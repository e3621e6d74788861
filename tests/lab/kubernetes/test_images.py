# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Pod images, made from the packages of a Debian tree."""

import io
import tarfile

import pytest

from lab.errors import LabError
from lab.kubernetes import images


@pytest.fixture
def tree(tmp_path):
    """A Debian tree with one package: a program, a link, a directory and documentation."""
    root = tmp_path / "tree"
    for path, text in {
        "usr/bin/tool": "#!/bin/sh\n",
        "usr/share/doc/tool": "long",
        "var/lib/dpkg/status": "Package: tool\n",
        "var/lib/dpkg/info/tool:amd64.list": "/.\n/usr/bin\n/usr/bin/tool\n/usr/bin/alias\n/usr/share/doc/tool\n/x\n",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (root / "usr/bin/alias").symlink_to("tool")
    return root


IMAGE = images.Image("docker.io/lab/tool:7", ("tool",), (("usr/bin/sh", "tool"),), ("tool",))


def test_a_layer_belongs_to_root_whoever_wrote_the_tree(tree, monkeypatch):
    def somebodys(self, name, arcname):
        entry = tarfile.TarInfo(arcname)
        entry.uid, entry.gid, entry.uname = 1000, 1000, "somebody"
        return entry

    monkeypatch.setattr(tarfile.TarFile, "gettarinfo", somebodys)
    with tarfile.open(fileobj=io.BytesIO(images.layer(IMAGE, tree))) as tar:
        assert {(member.uid, member.gid, member.uname) for member in tar} == {(0, 0, "")}


def test_a_layer_holds_programs_and_links_but_no_documentation(tree):
    with tarfile.open(fileobj=io.BytesIO(images.layer(IMAGE, tree))) as tar:
        members = {member.name: member for member in tar}
    assert members["usr/bin/tool"].isreg()
    assert members["usr/bin/alias"].linkname == members["usr/bin/sh"].linkname == "tool"
    assert members["bin"].linkname == "usr/bin"
    assert not {"usr/share/doc/tool", "x"} & set(members)


def test_a_package_that_the_image_lacks_is_named(tree):
    with pytest.raises(LabError, match="the hosts' image lacks too, which a pod image is made of"):
        images.layer(images.Image("docker.io/lab/too:1", ("too",), (), ()), tree)


def test_written_once(tree, tmp_path, monkeypatch):
    monkeypatch.setattr(images, "IMAGES", (IMAGE,))
    first = images.ensure(tmp_path, tree)
    assert [path.name for path in first.iterdir()] == ["tool-7.tar"]
    assert images.ensure(tmp_path, tree) == first
    assert [path.name for path in first.parent.iterdir()] == [first.name]
