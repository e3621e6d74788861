# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Write an OCI image layout (image-spec 1.0) with one layer as a single tar.  Pure."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Sequence

KIND = "application/vnd.oci.image"


def archive(name: str, command: Sequence[str], layer: bytes, start: str = "") -> bytes:
    """Return the archive of an image: its layer, configuration and manifest, each addressed by digest.

    `name` is the full name with a tag, `layer` a tar of the file system. `command` runs by default, and `start` is the
    directory that it starts in (WORKDIR).
    """
    config = _json(
        {
            "architecture": "amd64",
            "os": "linux",
            "config": {"Cmd": command, "Env": ["PATH=/usr/bin:/bin"], **({"WorkingDir": start} if start else {})},
            "rootfs": {"type": "layers", "diff_ids": [_digest(layer)]},
            "history": [{"created_by": "drawbridge lab"}],
        }
    )
    manifest = _json(
        {
            "schemaVersion": 2,
            "mediaType": f"{KIND}.manifest.v1+json",
            "config": _descriptor("config.v1+json", config),
            "layers": [_descriptor("layer.v1.tar", layer)],
        }
    )
    named = {"io.containerd.image.name": name, "org.opencontainers.image.ref.name": name.rpartition(":")[2]}
    index = {"schemaVersion": 2, "manifests": [_descriptor("manifest.v1+json", manifest) | {"annotations": named}]}
    files = {"oci-layout": b'{"imageLayoutVersion":"1.0.0"}', "index.json": _json(index)}
    return _tar(files | {f"blobs/{_digest(blob).replace(':', '/')}": blob for blob in (layer, config, manifest)})


def _tar(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


def _digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def _descriptor(media_type: str, data: bytes) -> dict[str, object]:
    return {"mediaType": f"{KIND}.{media_type}", "digest": _digest(data), "size": len(data)}
