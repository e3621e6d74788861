# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Write an OCI image layout (image-spec 1.0) with one layer as a single tar."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Sequence
from pathlib import Path

KIND = "application/vnd.oci.image"


def archive(name: str, command: Sequence[str], layer: bytes, start: str = "") -> bytes:
    """Return the archive of an image: its layer, configuration and manifest, each addressed by digest.

    `name` is the full name with a tag, `layer` a tar of the file system. `command` runs by default, and `start` is the
    directory that it starts in (WORKDIR).
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        _add(tar, _documents(name, command, _digest(layer), len(layer), start) | {_place(_digest(layer)): layer})
    return buffer.getvalue()


def write(file: Path, name: str, command: Sequence[str], layer: Path) -> None:
    """Write the same archive to a file. The layer is a file as well, and is never in memory as a whole."""
    with layer.open("rb") as opened:
        digest = f"sha256:{hashlib.file_digest(opened, 'sha256').hexdigest()}"
    with tarfile.open(file, "w") as tar:
        _add(tar, _documents(name, command, digest, layer.stat().st_size))
        tar.add(layer, _place(digest))


def _documents(name: str, command: Sequence[str], digest: str, size: int, start: str = "") -> dict[str, bytes]:
    """Return all files of the layout but the layer, which has this digest and size."""
    config = _json(
        {
            "architecture": "amd64",
            "os": "linux",
            "config": {"Cmd": command, "Env": ["PATH=/usr/bin:/bin"], **({"WorkingDir": start} if start else {})},
            "rootfs": {"type": "layers", "diff_ids": [digest]},
            "history": [{"created_by": "drawbridge lab"}],
        }
    )
    manifest = _json(
        {
            "schemaVersion": 2,
            "mediaType": f"{KIND}.manifest.v1+json",
            "config": _descriptor("config.v1+json", _digest(config), len(config)),
            "layers": [_descriptor("layer.v1.tar", digest, size)],
        }
    )
    named = {"io.containerd.image.name": name, "org.opencontainers.image.ref.name": name.rpartition(":")[2]}
    described = _descriptor("manifest.v1+json", _digest(manifest), len(manifest))
    index = _json({"schemaVersion": 2, "manifests": [described | {"annotations": named}]})
    blobs = {_place(_digest(blob)): blob for blob in (config, manifest)}
    return {"oci-layout": b'{"imageLayoutVersion":"1.0.0"}', "index.json": index} | blobs


def _add(tar: tarfile.TarFile, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        entry = tarfile.TarInfo(name)
        entry.size = len(data)
        tar.addfile(entry, io.BytesIO(data))


def _place(digest: str) -> str:
    return f"blobs/{digest.replace(':', '/')}"


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


def _digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def _descriptor(media_type: str, digest: str, size: int) -> dict[str, object]:
    return {"mediaType": f"{KIND}.{media_type}", "digest": digest, "size": size}
