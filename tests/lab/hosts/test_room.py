# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The order of things, on a back end that only remembers what it was asked."""

import json
from pathlib import Path

import pytest

from lab.errors import LabError
from lab.hosts import keys, provision, wait
from lab.hosts.room import Room
from lab.image.build import Image


class Remembers:
    """A Backend whose hosts come up at once."""

    def __init__(self):
        self.calls = []
        self.opened = False
        self.up = set()

    def alive(self):
        return self.opened

    def open(self):
        self.opened = True

    def controllers(self):
        return frozenset()

    def boot(self, host, tree, binds):
        self.calls.append(("boot", host.name, str(tree)))
        self.up.add(host.name)

    def cut(self, host):
        self.calls.append(("cut", host.name))
        self.up.discard(host.name)

    def running(self, host):
        return host.name in self.up

    def systemd_state(self, host, wait=False):
        return "running"

    def serve(self, switch, command):
        self.up.add(switch.name)

    def serving(self, switch):
        return switch.name in self.up

    def unplug(self, switch):
        self.up.discard(switch.name)

    def close(self):
        self.calls.append(("close",))
        self.opened = False


@pytest.fixture
def backend():
    return Remembers()


@pytest.fixture
def room(room_site, paths, backend, monkeypatch):
    monkeypatch.setattr(provision, "prepare", lambda site, paths: None)
    monkeypatch.setattr(provision, "install", lambda context: context.write("/etc/installed", "yes"))
    monkeypatch.setattr(wait, "banner", lambda *_: True)
    return Room(room_site, paths, backend, lambda line: None)


@pytest.fixture
def image(tmp_path):
    return Image(tmp_path / "image")


def boots(backend):
    return [call[1] for call in backend.calls if call[0] == "boot"]


def test_what_runs_is_left_alone(room, backend, image):
    chosen = room.site.select(["ctl"])
    assert room.up(chosen, lambda: image)
    assert room.up(chosen, lambda: image)
    assert boots(backend) == ["ctl"]


def test_what_already_boots_is_waited_for(room, backend, image, monkeypatch):
    """The command that started it may have been killed."""
    chosen = room.site.select(["ctl", "leaf1"])
    room.up(chosen, lambda: image)
    waited = []
    monkeypatch.setattr(wait, "banner", lambda address, *_: waited.append(address) or True)
    room.up(chosen, lambda: image)
    assert waited == ["10.77.7.11", "10.77.7.41"]


def test_a_disk_survives_a_power_cut_and_a_reset_replaces_it(room, backend, image, paths):
    chosen = room.site.select(["ctl"])
    room.up(chosen, lambda: image)
    mine = paths.host("ctl").disk / "mine"
    mine.write_text("kept")
    room.cut(chosen)
    room.up(chosen, lambda: image)
    assert mine.exists()
    room.reset(chosen, lambda: image)
    assert not mine.exists()
    assert boots(backend) == ["ctl"] * 3


def test_who_loses_its_power_loses_its_connections(room, backend, image, monkeypatch):
    chosen = room.site.select(["ctl", "leaf1"])
    room.up(chosen, lambda: image)
    ended = []
    monkeypatch.setattr(keys, "hang_up", lambda paths, *names: ended.append((*names, *sorted(backend.up))))
    room.cut(chosen)
    room.up(chosen, lambda: image)
    room.reset(chosen, lambda: image)
    assert ended == [("ctl", "10.77.7.11", "leaf1")] * 2, "a new one must find nobody"
    room.down()
    assert ended[-1][0] == "*"


def test_a_disk_that_was_written_half_is_written_again(room, image, paths):
    half = paths.host("ctl").disk / "half"
    half.parent.mkdir(parents=True)
    half.write_text("")
    room.up(room.site.select(["ctl"]), lambda: image)
    assert not half.exists()
    assert (paths.host("ctl").disk / "etc/installed").exists()


def test_a_host_keeps_the_image_that_it_was_installed_on(room, image, paths, backend):
    chosen = room.site.select(["ctl"])
    room.up(chosen, lambda: image)
    room.cut(chosen)
    room.up(chosen, lambda: Image(Path("/newer")))
    assert {call[2] for call in backend.calls if call[0] == "boot"} == {str(image.tree)}
    assert json.loads(paths.host("ctl").installed.read_text())["tree"] == str(image.tree)


def test_a_new_lab_that_cannot_start_is_removed(room, backend, paths):
    def broken():
        paths.state.mkdir(parents=True)
        raise LabError("no mirror answers")

    with pytest.raises(LabError, match="no mirror"):
        room.up(room.site.select(["ctl"]), broken)
    assert backend.calls[-1] == ("close",)
    assert not paths.state.exists()


def test_a_running_lab_survives_a_host_that_cannot_start(room, backend, image, monkeypatch):
    room.up(room.site.select(["ctl"]), lambda: image)

    def broken(context):
        raise LabError("no space")

    monkeypatch.setattr(provision, "install", broken)
    with pytest.raises(LabError, match="no space"):
        room.up(room.site.select(["nsd1"]), lambda: image)
    assert backend.alive()


@pytest.mark.parametrize("verb", ["cut", "reset"])
def test_a_lab_that_is_not_there_cannot_be_changed(room, image, verb):
    with pytest.raises(LabError, match="run lab up first"):
        getattr(room, verb)(room.site.select(["ctl"]), *([lambda: image] if verb == "reset" else []))


def test_a_host_that_does_not_answer_is_told(room, image, monkeypatch):
    monkeypatch.setattr(wait, "banner", lambda address, *_: not address.endswith(".13"))
    assert not room.up(room.site.select(["login1", "nsd1"]), lambda: image)
