# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""On demand, on the hosts of this scenario: rolling.yml installs packages of the site, and boots the node."""

from __future__ import annotations

import json
import time

from .long_kills import in_service
from .test_rolling import Lab, lab, rolling

__all__ = ["lab"]

NODE = "cpu01"
PUBLISH = """set -e
mkdir -p /srv/site/tree/DEBIAN
cd /srv/site
printf 'Package: site-driver\\nVersion: {0}\\nArchitecture: all\\n' > tree/DEBIAN/control
printf 'Maintainer: site <root@localhost>\\nDescription: of the site\\n' >> tree/DEBIAN/control
dpkg-deb --build tree site-driver_{0}.deb >/dev/null
dpkg-deb --field site-driver_{0}.deb > Packages
echo "Filename: ./site-driver_{0}.deb" >> Packages
echo "Size: $(stat -c %s site-driver_{0}.deb)" >> Packages
echo "SHA256: $(sha256sum site-driver_{0}.deb | cut -d' ' -f1)" >> Packages
echo 'deb [trusted=yes] file:/srv/site ./' > /etc/apt/sources.list.d/site.list
"""


def state(lab: Lab) -> tuple[str, str]:
    """The version of the package, and the boot."""
    version = lab.ssh(NODE, "dpkg-query -W -f '${Version}' site-driver", check=False)
    return version, lab.ssh(NODE, "cat /proc/sys/kernel/random/boot_id")


def maintain(lab: Lab, package: str, *more: str) -> None:
    given = json.dumps({"rolling_packages": [package]})
    name = f"packages-{time.time():.0f}"
    in_service(lab)
    run = rolling(lab, name, "-e", "rolling_what=packages", "-e", given, *more, nodes=NODE)
    assert run.code == 0, run.output
    in_service(lab)


def test_a_package_is_installed_in_its_version_and_the_node_boots(lab: Lab) -> None:
    lab.ssh(NODE, PUBLISH.format("1.0"))
    _, boot = state(lab)
    maintain(lab, "site-driver=1.0")
    version, after = state(lab)
    assert version == "1.0"
    assert after != boot


def test_the_newest_is_installed_without_a_boot(lab: Lab) -> None:
    lab.ssh(NODE, PUBLISH.format("1.1"))
    _, boot = state(lab)
    maintain(lab, "site-driver", "-e", "rolling_boot=false")
    assert state(lab) == ("1.1", boot)


def test_a_text_instead_of_a_list_is_refused(lab: Lab) -> None:
    run = rolling(lab, "text", "-e", "rolling_what=packages", "-e", "rolling_packages=site-driver", nodes=NODE)
    assert run.code == 2
    assert "but rolling_what=packages needs a list" in str(run.results())
