# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.software import text

DEBS = ["gpfs.base_5.2.3-0_amd64.deb", "gpfs.base_5.1.9-0_amd64.deb", "gpfs.gskit_8.0.55-19_amd64.deb"]


def test_files_are_those_of_the_version_and_of_any_where_none_is_named() -> None:
    assert text.package_files(["gpfs.base=5.2.3-0", "gpfs.gskit"], DEBS, "apt", "/srv") == [
        "/srv/gpfs.base_5.2.3-0_amd64.deb",
        "/srv/gpfs.gskit_8.0.55-19_amd64.deb",
    ]
    assert text.package_files(["gpfs.base=5.2.3-0"], ["gpfs.base-5.2.3-0.x86_64.rpm"], "dnf", "/srv") == [
        "/srv/gpfs.base-5.2.3-0.x86_64.rpm"
    ]


def test_a_missing_file_is_named() -> None:
    with pytest.raises(DeviceError, match=r"/srv has no file gpfs\.base_5\.2\.4-0_\*\.deb"):
        text.package_files(["gpfs.base=5.2.4-0"], DEBS, "apt", "/srv")


def test_the_clusters_id_is_the_long_number_of_the_first_line() -> None:
    line = "%%9999%%:00_VERSION_LINE::1427:3:12::lc:nsd1::0:/usr/bin/ssh:/usr/bin/scp:2936932203756487754:lc2:"
    assert text.cluster_id(f"{line}\n%%home%%:10_NODESET_HDR::111111111111111111:\n") == "2936932203756487754"
    assert text.cluster_id("") == ""
