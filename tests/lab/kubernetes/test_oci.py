# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""An image's archive, checked against the OCI image layout."""

import hashlib
import io
import json
import tarfile

from lab.kubernetes import oci


def test_every_blob_is_named_by_its_digest_and_size():
    content = b"layer"
    with tarfile.open(fileobj=io.BytesIO(oci.archive("docker.io/lab/tool:7", ("tool",), content))) as tar:
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
    config = json.loads(follow(manifest["config"]))
    assert config["config"]["Cmd"] == ["tool"]
    assert config["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(content).hexdigest()}"]
