# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The process of a lab that mounts filesets: `python -m lab.emulators.storage.gpfs.disk_server SHARED_FOLDER`."""

from __future__ import annotations

import contextlib
import json
import socket
import sys
from pathlib import Path

from .disks import SOCKET, Trouble, carry_out


def serve(shared: Path) -> None:
    """Carry out orders of root's commands until killed."""
    path = shared / SOCKET
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        path.chmod(0o600)
        server.listen()
        while True:
            client, _ = server.accept()
            with client, client.makefile("rw") as stream, contextlib.suppress(OSError, ValueError):
                trouble = ""
                try:
                    carry_out(shared, json.loads(stream.readline()), mounting=True)
                except (Trouble, OSError) as error:
                    trouble = str(error)
                stream.write(json.dumps(trouble) + "\n")


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
