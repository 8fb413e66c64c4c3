"""The vendored files: each is listed with its hash and licence, within its budget."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.support.node import node

from vault_agent.web.assets import FOLDER, FRAME, SCRIPTS, Assets

ROOT = Path(__file__).parents[2]
VENDOR = ROOT / "src" / "vault_agent" / "web" / "vendor"
LOCK = json.loads((VENDOR / "vendor.lock.json").read_text("utf-8"))
BUDGETS = {  # bytes of gzip
    "preact.js": 11_000,
    "d3-force.js": 6_500,
    "codemirror.js": 125_000,
    "search.js": 9_000,
    "merge.js": 12_000,
    "diff.js": 1_500,
    "code.js": 54_000,
    "temml.js": 61_000,
    "mermaid.js": 700_000,
}
NAMESPACES = {"http://www.w3.org/1998/Math/MathML", "http://www.w3.org/1999/xhtml"} | {
    "http://www.w3.org/2000/svg"
}
# Named in warnings of highlight.js.
NAMESPACES |= {
    "https://github.com/highlightjs/highlight.js/issues/2277",
    "https://github.com/highlightjs/highlight.js/wiki/security",
}
FORBIDDEN = re.compile(r"\beval\s*\(|\bnew Function\b|importScripts|sourceMappingURL")


def test_each_file_has_the_hash_that_is_listed():
    found = {file.name: file for file in VENDOR.glob("*.js")}
    assert set(found) == set(LOCK["files"])
    for name, file in found.items():
        listed = LOCK["files"][name]
        body = file.read_bytes()
        assert hashlib.sha256(body).hexdigest() == listed["sha256"], name
        assert len(body) == listed["bytes"], name


def test_each_package_has_its_version_and_its_licence_in_full():
    texts = (VENDOR / "THIRD_PARTY_LICENSES.txt").read_text("utf-8")
    pinned = json.loads((ROOT / "web" / "package-lock.json").read_text("utf-8"))["packages"]
    for name, package in LOCK["packages"].items():
        assert f"{name} {package['version']} ({package['license']})" in texts
        assert pinned[f"node_modules/{name}"]["integrity"] == package["integrity"]
    used = {name for file in LOCK["files"].values() for name in file["packages"]}
    assert used == set(LOCK["packages"])


def test_each_file_is_within_its_budget():
    for name, budget in BUDGETS.items():
        assert len(gzip.compress((VENDOR / name).read_bytes(), 9)) <= budget, name
    assert set(BUDGETS) == set(LOCK["files"])


def test_no_file_can_evaluate_text_or_fetch_from_elsewhere():
    for file in VENDOR.glob("*.js"):
        if f"vendor/{file.name}" in SCRIPTS:
            continue
        text = file.read_text("utf-8")
        assert not FORBIDDEN.search(text), file.name
        assert set(re.findall(r"https?://[\w./-]+", text)) <= NAMESPACES, file.name


def test_what_could_is_no_file_of_the_page_and_its_frame_refuses_it():
    """Mermaid makes a function of text in a part of D3. The policy of its frame allows that nowhere.

    `test_diagrams` tries it in a browser.
    """
    assets = Assets()
    assert assets.get(assets.version, "vendor/mermaid.js") is None
    frame = assets.get(assets.version, FRAME)
    rules = dict(rule.partition(" ")[::2] for rule in (frame.policy or "").split("; "))
    assert rules["sandbox"] == "allow-scripts"
    assert rules["default-src"] == "'none'"
    assert re.fullmatch(r"'sha256-[\w+/]{43}='( 'sha256-[\w+/]{43}=')", rules["script-src"])
    assert set(rules) == {"sandbox", "default-src", "script-src", "style-src", "form-action",
                          "base-uri", "frame-ancestors"}  # fmt: skip
    for name in SCRIPTS:  # what would end a script, or hide its end, in a document
        assert not re.search(r"</?script", (FOLDER / name).read_text("utf-8"), re.IGNORECASE), name


@pytest.mark.long
def test_the_build_gives_the_same_bytes(tmp_path: Path):
    for name in ("package.json", "package-lock.json", "build.mjs"):
        shutil.copy(ROOT / "web" / name, tmp_path)
    for command in (
        [node("npm"), "ci", "--ignore-scripts"],
        [node(), "build.mjs", str(tmp_path / "out")],
    ):
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=120)
    for file in VENDOR.iterdir():
        assert (tmp_path / "out" / file.name).read_bytes() == file.read_bytes(), file.name
