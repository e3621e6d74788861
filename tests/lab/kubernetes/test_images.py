# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Pod images, checked against the OCI image layout."""

import hashlib
import io
import json
import tarfile

import pytest

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


def test_a_layer_holds_programs_and_links_but_no_documentation(tree):
    with tarfile.open(fileobj=io.BytesIO(images.layer(IMAGE, tree))) as tar:
        members = {member.name: member for member in tar}
    assert members["usr/bin/tool"].isreg()
    assert members["usr/bin/alias"].linkname == members["usr/bin/sh"].linkname == "tool"
    assert members["bin"].linkname == "usr/bin"
    assert not {"usr/share/doc/tool", "x"} & set(members)
    assert {(member.uid, member.gid) for member in members.values()} == {(0, 0)}


def test_every_blob_is_named_by_its_digest_and_size():
    content = b"layer"
    with tarfile.open(fileobj=io.BytesIO(images.archive(IMAGE, content))) as tar:
        files = {member.name: tar.extractfile(member) for member in tar}
        blobs = {name: file.read() for name, file in files.items() if file}
    for name, data in blobs.items():
        if name.startswith("blobs/"):
            assert name == f"blobs/sha256/{hashlib.sha256(data).hexdigest()}"

    def follow(descriptor):
        data = blobs[f"blobs/{descriptor['digest'].replace(':', '/')}"]
        assert descriptor["size"] == len(data)
        return data

    entry = json.loads(blobs["index.json"])["manifests"][0]
    assert entry["annotations"]["io.containerd.image.name"] == "docker.io/lab/tool:7"
    manifest = json.loads(follow(entry))
    assert follow(manifest["layers"][0]) == content
    assert json.loads(follow(manifest["config"]))["config"]["Cmd"] == ["tool"]


def test_written_once(tree, tmp_path, monkeypatch):
    monkeypatch.setattr(images, "IMAGES", (IMAGE,))
    first = images.ensure(tmp_path, tree)
    assert [path.name for path in first.iterdir()] == ["tool-7.tar"]
    assert images.ensure(tmp_path, tree) == first
    assert [path.name for path in first.parent.iterdir()] == [first.name]
