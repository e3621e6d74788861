# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The site is built once, as a site builds its own."""

from __future__ import annotations

import pytest

from tests.isolation.node import build, here

NFS_SERVER = """set -e
mkdir -p /srv/nfs
mountpoint --quiet /srv/nfs || mount -t tmpfs nfs /srv/nfs
mkdir -p /srv/nfs/data
mountpoint --quiet /srv/nfs/data || mount -t tmpfs -o mode=1777 data /srv/nfs/data
cat > /etc/exports <<'END'
/srv/nfs *(rw,fsid=0,no_subtree_check)
/srv/nfs/data *(rw,fsid=1,no_subtree_check)
END
mkdir -p /etc/nfs.conf.d
printf '[nfsd]\\ngrace-time=10\\nlease-time=10\\n' > /etc/nfs.conf.d/lab.conf
systemctl start nfs-server.service
"""
"""The kernel's own, on the node: nfsd can't export the root file system, which is an overlay."""


CRON = "printf '@include common-account\\n@include common-session-noninteractive\\n' > /etc/pam.d/cron"
"""PAM's file of Debian's cron, which asks it before it runs a user's commands; the lines that matter here."""


@pytest.fixture(scope="session", autouse=True)
def built() -> None:
    """Hosts that lab up has booted, as they are or built before, and the site's NFS server."""
    here(NFS_SERVER)
    here(CRON)
    done = build()
    assert done.code == 0, done.output
