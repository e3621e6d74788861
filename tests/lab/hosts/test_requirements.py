# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from lab.hosts import requirements


def test_a_package_is_missing_when_what_it_brings_is(tmp_path, monkeypatch):
    file = tmp_path / "machine-packages.yml"
    file.write_text(f"run: {{sh: dash, nosuch: nosuch-pkg, {tmp_path}/no: file-pkg}}\nimage: {{alsono: image-pkg}}\n")
    monkeypatch.setattr(requirements, "FILE", file)
    assert requirements.missing(build_image=False) == ("file-pkg", "nosuch-pkg")
    assert requirements.missing(build_image=True) == ("file-pkg", "image-pkg", "nosuch-pkg")


def test_the_limit_is_only_ever_raised(tmp_path):
    limit = tmp_path / "max_user_instances"
    limit.write_text("128\n")
    assert requirements.raise_inotify(2048, limit)
    assert not requirements.raise_inotify(1024, limit)
    assert limit.read_text() == "2048"


def test_the_line_that_is_shown_is_the_line_that_is_run():
    assert requirements.apt_line(["a", "b"]) == "apt-get install --yes --no-install-recommends a b"
