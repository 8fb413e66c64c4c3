"""The fixtures are indexed as documented. Broken files cause warnings and fail no run."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from tests.support.index_runs import Vault

FIXTURES = Path(__file__).parent.parent / "fixtures"


def indexed(name: str, folder: Path) -> Vault:
    vault = Vault(folder)
    shutil.copytree(FIXTURES / name, vault.root, dirs_exist_ok=True)
    return vault


def promised() -> dict[str, str]:
    """Return the warning that fixtures/broken/README.md promises for each file, or ''."""
    text = (FIXTURES / "broken" / "README.md").read_text("utf-8")
    rows = re.findall(r"^\| `(.+?)` \| .+? \| (.+?) \|$", text, re.MULTILINE)
    return {name: "" if said.startswith("none") else said.strip("`") for name, said in rows}


def test_every_broken_file_is_explained():
    folder = FIXTURES / "broken"
    files = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    assert set(promised()) == files - {"README.md"}


async def test_broken_fixtures_produce_the_documented_warnings(tmp_path: Path):
    vault = indexed("broken", tmp_path)
    await vault.index()
    warned = {warning.details["path"]: warning.code for warning in vault.heard.warnings}
    expected = {path: code for path, code in promised().items() if code}
    # A warning about a folder names the folder.
    expected["build"] = expected.pop("build/shadowed.md")
    assert warned == expected


async def test_readable_parts_of_broken_files_are_indexed(tmp_path: Path):
    vault = indexed("broken", tmp_path)
    await vault.index()
    held = await vault.dump()
    for path in promised():
        file = FIXTURES / "broken" / path
        # As bytes, since not all of them are UTF-8.
        if b"must be found" in file.read_bytes().replace(b"\0", b""):
            assert any("must be found" in str(chunk) for chunk in held[path][2]), path
    assert "empty.md" in held
    assert "binary.md" not in held
    assert "build/shadowed.md" not in held


async def test_the_demo_vault_is_indexed_without_a_warning(tmp_path: Path):
    vault = indexed("vault", tmp_path)
    summary = await vault.index()
    assert vault.heard.warnings == []
    assert summary.added >= 40
    assert summary.unresolved_links == 1  # the missing note
    assert summary.chunks > 3 * summary.added
