# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.nfs import text
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.nfs.model import Export

TABLE = (
    "/data from filer:/export/data\n Flags:\trw,relatime,vers=4.2,hard,proto=tcp,nconnect=8,addr=10.0.0.5\n"
    "\n/home from nas:/home\n Flags:\tro,vers=3,soft,proto=tcp6,addr=::1\n\n"
)
"""In the format of nfs-utils' nfsstat.c."""


def test_the_table_gives_sources_and_owned_options() -> None:
    found = text.table(TABLE)
    assert {path: source for path, (source, _) in found.items()} == {
        "/data": "filer:/export/data",
        "/home": "nas:/home",
    }
    assert text.owned(found["/data"][1]) == {
        **{"mode": "rw", "loss": "hard"},
        **{"vers": "4.2", "proto": "tcp", "nconnect": "8"},
    }
    assert text.owned(found["/home"][1]) == {
        **{"mode": "ro", "loss": "soft"},
        **{"vers": "3", "proto": "tcp", "nconnect": "1"},
    }


def test_wanted_options_are_the_compared_options() -> None:
    export = Export("filer", "/x", "/x", version="4.1", nconnect=4, read_only=True, options=("noatime",))
    assert text.options(export) == "ro,vers=4.1,proto=tcp,nconnect=4,hard,noatime"
    assert text.owned(text.options(export))["nconnect"] == "4"


UNITS = {
    "/data": "data.mount",
    "/nfs/my-data": "nfs-my\\x2ddata.mount",
    "/a_b/c.d": "a_b-c.d.mount",
    "/.x/y": "\\x2ex-y.mount",
    "/nfs/data/": "nfs-data.mount",
}
"""As `systemd-escape --path --suffix=mount` of systemd 252 prints them."""


@pytest.mark.parametrize(("path", "name"), UNITS.items())
def test_units_have_systemds_names(path: str, name: str) -> None:
    assert text.unit_name(path) == name


def test_only_own_units_have_a_place() -> None:
    unit = text.mount_unit(Export("filer", "/x", "/data"), 60)
    assert text.place_of(unit) == "/data"
    assert text.place_of(unit.replace("Managed by Drawbridge", "the site's")) == ""


def test_a_service_without_mounts_does_nothing() -> None:
    assert "ExecStart=/usr/bin/true\n" in text.service([], 60)
    two = text.service(["/data", "/home"], 60)
    assert "ExecStart=/usr/bin/systemctl start /data /home\n" in two
    assert "After=network-online.target data.mount home.mount\n" in two


def test_the_cause_is_mount_nfss_own() -> None:
    journal = "Mounting data.mount...\nmount.nfs: access denied by server while mounting filer:/x\ndata.mount: Failed\n"
    assert text.cause(journal) == "access denied by server while mounting filer:/x"
    assert text.cause("data.mount: Mounting timed out. Terminating.\n") == "the server gave no answer in time"
    assert text.cause("data.mount: Mount process finished, but there is no mount.\n").endswith("but there is no mount")
    assert text.cause("Mounting data.mount...\n") == ""
