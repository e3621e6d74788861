# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import hashlib
import io
import json
import tarfile
from pathlib import Path

from lab.kubernetes import oci

NAME, COMMAND, LAYER = "docker.io/lab/it:2", ("python3",), b"the layer" * 5000


def files(archive: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        return {entry.name: file.read() for entry in tar if (file := tar.extractfile(entry))}


def test_each_blob_is_addressed_by_its_digest_up_to_the_layer() -> None:
    made = files(oci.archive(NAME, COMMAND, LAYER, "/home/ada"))

    def blob(described: dict[str, str]) -> bytes:
        content = made[f"blobs/{described['digest'].replace(':', '/')}"]
        assert described["digest"] == "sha256:" + hashlib.sha256(content).hexdigest()
        assert described["size"] == len(content)
        return content

    (entry,) = json.loads(made["index.json"])["manifests"]
    assert entry["annotations"] == {"io.containerd.image.name": NAME, "org.opencontainers.image.ref.name": "2"}
    manifest = json.loads(blob(entry))
    config = json.loads(blob(manifest["config"]))
    assert (config["config"]["Cmd"], config["config"]["WorkingDir"]) == ([*COMMAND], "/home/ada")
    assert config["rootfs"]["diff_ids"] == [manifest["layers"][0]["digest"]]
    assert blob(manifest["layers"][0]) == LAYER
    assert len(made) == 5


def test_a_layer_in_a_file_makes_the_same_image(tmp_path: Path) -> None:
    layer, archive = tmp_path / "layer.tar", tmp_path / "archive.tar"
    layer.write_bytes(LAYER)
    oci.write(archive, NAME, COMMAND, layer)
    assert files(archive.read_bytes()) == files(oci.archive(NAME, COMMAND, LAYER))
