# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
import pytest

from lab.hosts import provision
from lab.hosts.provision import Context


@pytest.fixture
def context(room_site, paths, tmp_path):
    return Context(room_site, room_site.hosts["ctl"], paths, tmp_path / "disk", tmp_path / "image", frozenset())


def test_writing_makes_directories_and_sets_the_mode(context):
    path = context.write("/etc/deep/key", b"secret", 0o600)
    assert path == context.disk / "etc/deep/key"
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"secret", 0o600)


def test_enabling_is_the_link_that_systemctl_would_make(context):
    context.enable("lab.service")
    context.enable("lab.service")
    link = context.disk / "etc/systemd/system/multi-user.target.wants/lab.service"
    assert str(link.readlink()) == "/etc/systemd/system/lab.service"


def test_every_provider_exists_and_writes():
    modules = list(provision.providers())
    assert [module.__name__ for module in modules] == list(provision.PROVIDERS)
    assert all(callable(module.provision) for module in modules)
