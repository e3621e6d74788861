# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A node's files below a folder, and passports that a real ssh-keygen signs."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof import (
    passport_deliver_io as node_passport,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.depends import Asked
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.depends_io import depends
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.passport import Passport, text
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.passport_io import make_key, sign

ASKED = Asked("gpu01", "4f2a", most_days=30)
NONE = "it has no passport"


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("controller") / "key"
    make_key(str(path))
    return path


class Node:
    """A node, and the controller that signs for it."""

    def __init__(self, root: Path, key: Path) -> None:
        self.root, self._key = root, key
        self.passport, self.key = root / node_passport.PASSPORT, root / node_passport.KEY
        self.asks(ASKED)
        self.kernel("6.12.48")

    def asks(self, asked: Asked) -> None:
        self.write("etc/drawbridge/passport.json", asked.text())

    def kernel(self, release: str) -> None:
        self.write("proc/sys/kernel/osrelease", f"{release}\n")

    def write(self, path: str, content: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(content)

    def proof(self, key: Path | None = None, **change: Any) -> dict[str, str]:
        """What the controller delivers after a proof."""
        proved = (datetime.now(timezone.utc) - timedelta(seconds=5)).isoformat(timespec="seconds")
        passport = Passport("gpu01", proved, "0.1.0", ("rails",), depends(str(self.root)))
        line = text(Passport(**{**passport.__dict__, **change}))
        signer = key or self._key
        public = signer.with_suffix(".pub").read_text()
        return {"text": line, "signature": sign(line, str(signer)), "public_key": public}

    def deliver(self, proof: dict[str, str] | None = None) -> str:
        """Why it is refused."""
        try:
            node_passport.deliver(**(proof or self.proof()), root=str(self.root))
        except DeviceError as err:
            return str(err)
        return ""

    @property
    def lacks(self) -> str:
        return node_passport.lacks(str(self.root))


@pytest.fixture
def node(tmp_path: Path, key: Path) -> Node:
    return Node(tmp_path, key)


def test_a_node_has_the_passport_that_it_got(node: Node) -> None:
    assert node.lacks == NONE
    assert (node.deliver(), node.lacks) == ("", "")
    assert [path.stat().st_mode & 0o777 for path in (node.passport, node.key)] == [0o644, 0o644]
    assert node.deliver() == "", "also the next one"
    node.key.unlink()
    assert node.lacks == NONE


def test_a_changed_value_makes_it_worthless(node: Node) -> None:
    node.deliver()
    node.kernel("6.12.49")
    assert node.lacks == "its passport is stale: kernel was 6.12.48, and is 6.12.49 now"
    node.asks(Asked("gpu01", "4f2b"))
    assert node.lacks.count("; ") == 1


def test_a_sentence_has_three_reasons_at_most(node: Node) -> None:
    proof = node.proof(depends={**dict.fromkeys("abcd", "1"), **depends(str(node.root))})
    assert node.deliver(proof).endswith("c was 1, and can't be read now; and 1 more")


def test_it_is_worthless_after_the_days_of_the_intent(node: Node) -> None:
    old = node.proof(proved=(datetime.now(timezone.utc) - timedelta(days=31)).isoformat())
    assert "older than the 30 days" in node.deliver(old)
    node.asks(Asked("gpu01", "4f2a"))
    assert node.deliver(old) == ""
    node.asks(ASKED)
    assert "older than the 30 days" in node.lacks


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"text": "{}\n"}, "is not signed"),
        ({"signature": ""}, "is not signed"),
        ({"public_key": "ssh-ed25519 AAAA\nssh-ed25519 BBBB"}, "more than one line"),
    ],
    ids=["text", "signature", "key"],
)
def test_an_unsigned_text_is_not_written(change: dict[str, str], said: str, node: Node) -> None:
    assert said in node.deliver(node.proof() | change)
    assert not (node.passport.exists() or node.key.exists())


@pytest.mark.parametrize("line", ["{}\n", "no JSON\n"])
def test_a_signed_text_that_is_no_passport_is_not_written(line: str, node: Node, key: Path) -> None:
    why = node.deliver(node.proof() | {"text": line, "signature": sign(line, str(key))})
    assert why.startswith("its passport can't be read: ")
    assert not node.passport.exists()


def test_the_passport_of_another_node_is_refused(node: Node) -> None:
    assert node.deliver(node.proof(node="gpu02")) == "its passport is stale: it is that of gpu02"
    assert not node.passport.exists()


def test_another_key_is_refused_and_the_older_passport_stays(node: Node, tmp_path: Path) -> None:
    node.deliver()
    before = node.passport.read_text()
    make_key(str(tmp_path / "own"))
    assert "has another public key than" in node.deliver(node.proof(tmp_path / "own"))
    assert (node.passport.read_text(), node.lacks) == (before, "")


@pytest.mark.parametrize("which", ["passport", "key"])
def test_a_file_that_others_may_write_is_no_passport(which: str, node: Node) -> None:
    node.deliver()
    getattr(node, which).chmod(0o664)
    assert "users other than root may write" in node.lacks


def test_a_link_is_no_passport(node: Node) -> None:
    node.deliver()
    node.passport.rename(node.root / "elsewhere")
    node.passport.symlink_to(node.root / "elsewhere")
    assert "can't be read" in node.lacks


def test_changed_letters_are_seen(node: Node) -> None:
    node.deliver()
    node.passport.write_text(node.passport.read_text().replace("6.12.48", "6.12.49"))
    node.kernel("6.12.49")
    assert node.lacks == "its passport is not signed by the controller"


def test_a_full_disk_is_a_sentence(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_words: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(node_passport, "write_bytes", full)
    assert "No space left on device" in node.deliver()
