# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A registry of one image, for a test's mirror: `registry.py ARCHIVE CERTIFICATE ADDRESS PORT`."""

import json
import ssl
import sys
import tarfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

archive, certificate, address, port = sys.argv[1:]
with tarfile.open(archive) as tar:
    content = {member.name: file.read() for member in tar if (file := tar.extractfile(member))}
manifest = json.loads(content["index.json"])["manifests"][0]


class Registry(BaseHTTPRequestHandler):
    """The part of the distribution API that a pull needs."""

    def do_GET(self) -> None:
        """Send a manifest by any name, a blob by its digest."""
        wanted = self.path.partition("?")[0].rpartition("/")[2]
        if "/manifests/" in self.path:
            wanted = manifest["digest"]
        body = content.get(f"blobs/{wanted.replace(':', '/')}", b"{}" if self.path.startswith("/v2/") else b"")
        self.send_response(200)
        self.send_header("Content-Type", manifest["mediaType"] if "/manifests/" in self.path else "application/json")
        self.send_header("Docker-Content-Digest", wanted)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    do_HEAD = do_GET


server = ThreadingHTTPServer((address, int(port)), Registry)
context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
context.load_cert_chain(certificate)
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
