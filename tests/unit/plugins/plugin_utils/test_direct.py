# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What is read from a template's tree is what Ansible's own templating makes of it, or it is left to Ansible."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.direct import Direct
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.direct_filters import Unknown, plain
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.releases import TRUSTED, evaluated, templar_of

ROOT = Path(__file__).parents[4]
LOADER = DataLoader()
KNOWN: dict[str, Any] = {
    "site": {"name": "lab", "items": [1], "port": 6443, "on": True, "tree": {"a": {"b": [1, 2]}}},
    "names": ["a", "b"],
    "rows": [{"mount": "/a"}, {"mount": "/b"}],
    "text": "{{ not_evaluated }}",
    "number": 4,
    "nothing": None,
    "words": {"a": "1", "b": "2"},
}
SAME = (
    "plain text",
    "{{ site.name }}",
    "{{ site['port'] }}",
    "{{ site.tree.a.b }}",
    "https://{{ site.name }}:{{ site.name }}/\n",
    "{{ site.absent | default('x') }}",
    "{{ absent | default(none) }}",
    "{{ nothing | default('x') }}",
    "{{ rows | map(attribute='mount') | list }}",
    "{{ 'one' if site.name == 'lab' else 'two' }}",
    "{{ site.on and number > 3 }}",
    "{{ 'a' in names or absent is defined }}",
    "{{ names + ['c'] }}",
    "{{ 'pre-' ~ site.name }}",
    "{{ {'a': site.port} | combine(site.tree, recursive=true) }}",
    "{{ site.tree | to_nice_json }}\n",
    "{{ site.tree | dict2items }}",
    "{{ names | length > 0 }}",
    "{{ text }}",
    "{{ site.tree.items() | list | length }}",
    "{{ words.items() | map('join', '=') | join('\n') }}\n",
    "{{ ['b', 'C', 'a'] | sort }}",
    "{{ ['/x/b.py', 'c'] | map('basename') | list }}",
    "{{ dict(names | map('regex_replace', '^', 'the ') | zip([1, 2])) }}",
    "{{ site.on | bool }}",
)
A, B = "a.py\n\n", "b.py\n\n"
LOOKED_UP = {
    "{{ lookup('ansible.builtin.env', 'DRAWBRIDGE_ABSENT', default='x') }}": "x",
    "{{ lookup('ansible.builtin.file', 'b.py', rstrip=false) }}": B,
    "{{ query('ansible.builtin.file', 'b.py', 'a.py', rstrip=false) }}": [B, A],
    "{{ query('ansible.builtin.file', *found, rstrip=false) }}": [B, A],
    "{{ query('ansible.builtin.fileglob', here ~ '/*.py') | sort | map('basename') | list }}": ["a.py", "b.py"],
    "{{ dict(found | map('basename') | zip(query('ansible.builtin.file', *found, rstrip=false))) }}": {
        "b.py": B,
        "a.py": A,
    },
}
"""Values by template. both_ways compares those of roles with Ansible's."""
LEFT = (
    "{{ absent }}",
    "{{ site.absent }}",
    "{{ site.items }}",
    "{{ text | upper }}",
    "{{ names | first }}",
    "{{ number + 1 }}",
    "{{ 'port ' ~ site.port }}",
    "port {{ site.port }}",
    "{{ number < site.name }}",
    "{{ lookup('ansible.builtin.env', 'HOME') }}",
    "{{ lookup('ansible.builtin.pipe', 'true') }}",
    "{{ lookup('ansible.builtin.file', 'b.py') }}",
    "{{ query('ansible.builtin.fileglob', '*.py') }}",
    "{{ query('ansible.builtin.fileglob', '/absent/*.py') }}",
    "{{ site.tree.keys() }}",
    "{{ names | map('upper') }}",
    "{{ rows | join }}",
    "{{ [1] | sort }}",
    "{{ 'yes' | bool }}",
    "{{ dict(names) }}",
    "{% if site.on %}yes{% endif %}",
    "{{ site.name",
)


@pytest.fixture
def trust(tmp_path: Path) -> Any:
    """Make a text one of the site's own files."""

    def made(text: str) -> Any:
        file = tmp_path / str(len(list(tmp_path.iterdir())))
        file.write_text(json.dumps([text]))
        return LOADER.load_from_file(str(file), **TRUSTED)[0]

    return made


@pytest.mark.parametrize("template", SAME)
def test_simple_templates_have_the_value_that_ansible_finds(trust: Any, template: str) -> None:
    raw = trust(template)
    direct = Direct(LOADER, KNOWN, KNOWN).value(raw)
    found = plain(evaluated(templar_of(LOADER, KNOWN), raw))
    assert direct == found
    assert isinstance(found, type(direct))


@pytest.mark.parametrize("template", LOOKED_UP)
def test_lookups_find_what_ansibles_plugins_do(trust: Any, tmp_path: Path, template: str) -> None:
    here = tmp_path / "role/files"
    (here / "folder.py").mkdir(parents=True)
    for name in ("b.py", "a.py", ".hidden.py", "c.txt"):
        (here / name).write_text(f"{name}\n\n")
    known = {"here": str(here), "found": [str(here / name) for name in ("b.py", "a.py")]}
    variables = {**known, "ansible_search_path": [str(here.parent)]}
    assert Direct(LOADER, known, variables).value(trust(template)) == LOOKED_UP[template]


@pytest.mark.parametrize("template", LEFT)
def test_all_others_are_left_to_ansible(trust: Any, template: str) -> None:
    with pytest.raises(Unknown):
        Direct(LOADER, KNOWN, KNOWN).value(trust(template))


def test_a_text_that_is_not_the_sites_own_is_no_template() -> None:
    with pytest.raises(Unknown):
        Direct(LOADER, KNOWN, KNOWN).value("{{ site.name }}")


@pytest.mark.parametrize(
    ("condition", "value"), [("site.on", True), ("not site.on", False), ("absent is defined", False)]
)
def test_a_condition_is_true_or_false(trust: Any, condition: str, value: bool) -> None:
    assert Direct(LOADER, KNOWN, KNOWN).holds(trust(condition)) is value


@pytest.mark.parametrize("condition", ["names", "site.name", "absent"])
def test_a_condition_that_is_neither_is_left_to_ansible(trust: Any, condition: str) -> None:
    with pytest.raises(Unknown):
        Direct(LOADER, KNOWN, KNOWN).holds(trust(condition))


def test_parts_that_need_ansible_do_not_cost_the_others(trust: Any) -> None:
    asked: list[Any] = []
    raw = [trust("{{ site.name }}"), {"a": trust("{{ names | first }}")}]
    assert Direct(LOADER, KNOWN, KNOWN).value(raw, lambda part: asked.append(part) or "a") == ["lab", {"a": "a"}]
    assert asked == ["{{ names | first }}"]


def test_what_roles_say_has_the_value_that_ansible_finds() -> None:
    """In a process of its own, where Ansible finds the filters of the collection."""
    argv = [sys.executable, "-m", "tests.unit.plugins.plugin_utils.both_ways"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["differ"] == []
    assert found["read"] > 200, "most of what roles say is read directly"
