# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
import hashlib

from lab.image import repository


def test_a_stanza_is_the_control_fields_and_where_the_file_is():
    text = repository.stanza("Package: munge\nVersion: 0.5\n", "munge_0.5_amd64.deb", b"content")
    assert text.splitlines() == [
        "Package: munge",
        "Version: 0.5",
        "Filename: ./munge_0.5_amd64.deb",
        "Size: 7",
        f"SHA256: {hashlib.sha256(b'content').hexdigest()}",
    ]


def test_the_release_file_vouches_for_the_index():
    lines = repository.release(b"index", 0).splitlines()
    assert "Date: Thu, 01 Jan 1970 00:00:00 UTC" in lines
    assert lines[-1] == f" {hashlib.sha256(b'index').hexdigest()} 5 Packages"
