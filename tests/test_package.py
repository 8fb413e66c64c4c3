"""What is published: the wheel, its metadata, the file for Claude Desktop, the container."""

from __future__ import annotations

import email
import importlib.util
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from vault_agent import __version__
from vault_agent.config.setting_names import SETTINGS

ROOT = Path(__file__).parent.parent
REPOSITORY = "somebody/vault-agent"
KINDS = {"py", "typed", "json", "sql", "js", "css", "html", "svg", "txt", "toml", "md"}
"""The kinds of files that the program needs. The sample vault of the demo has others."""
MOST_BYTES = 2_750_000
"""Of a wheel. Mermaid is a quarter of it."""

# The fields of an MCPB manifest, version 0.4, with those that must be there.
FIELDS = {
    "": (
        {"name", "version", "description", "author", "server"},
        {"manifest_version", "display_name", "long_description", "repository", "homepage",
         "documentation", "support", "icon", "icons", "screenshots", "localization", "tools",
         "tools_generated", "prompts", "prompts_generated", "keywords", "license",
         "privacy_policies", "compatibility", "user_config", "_meta"},
    ),
    "author": ({"name"}, {"email", "url"}),
    "server": ({"type", "entry_point"}, {"mcp_config"}),
    "server.mcp_config": ({"command"}, {"args", "env", "platform_overrides"}),
    "compatibility": (set(), {"claude_desktop", "platforms", "runtimes"}),
    "compatibility.runtimes": (set(), {"python", "node"}),
    "user_config.*": (
        {"type", "title", "description"},
        {"required", "default", "multiple", "sensitive", "min", "max"},
    ),
    "tools.*": ({"name"}, {"description"}),
}  # fmt: skip
SERVERS = {"python", "node", "binary", "uv"}
INPUTS = {"string", "number", "boolean", "directory", "file"}


def script(name: str) -> ModuleType:
    """Return a module of `packaging`, which is no package."""
    spec = importlib.util.spec_from_file_location(
        f"packaging_{name}", ROOT / f"packaging/{name}.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel as a release does."""
    folder = tmp_path_factory.mktemp("dist")
    build = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", build, str(folder)],
        cwd=ROOT,
        env={**os.environ, "GITHUB_REPOSITORY": REPOSITORY},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder / done.stdout.splitlines()[-1]


def metadata_of(wheel: Path) -> email.message.Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(archive.read(name))


def test_the_wheel_has_the_program_the_sample_vault_and_nothing_else(wheel: Path):
    info = f"vault_agent-{__version__}.dist-info"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    own = [
        each for each in names if not each.startswith((f"{info}/", "vault_agent/cli/demo_vault"))
    ]
    assert {each.partition("/")[0] for each in own} == {"vault_agent"}
    assert {each.rpartition(".")[2] for each in own} == KINDS
    assert not [
        each for each in names if re.search(r"(^|/)(tests?|node_modules|__pycache__)/", each)
    ]
    assert {f"{info}/licenses/LICENSE", f"{info}/entry_points.txt"} <= set(names)
    sources = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert set(own) == sources
    assert wheel.stat().st_size < MOST_BYTES


def test_the_metadata_leads_to_the_repository_that_builds_it(wheel: Path):
    metadata = metadata_of(wheel)
    urls = dict(each.split(", ", 1) for each in metadata.get_all("Project-URL", []))
    assert urls["Source"] == f"https://github.com/{REPOSITORY}"
    assert set(urls) == {"Homepage", "Documentation", "Changelog", "Issues", "Source"}
    assert metadata["Author"] == "The vault-agent authors"
    assert metadata["Description-Content-Type"] == "text/markdown"
    text = metadata.get_payload()
    links = re.findall(r"!?\[[^\]\n]*\]\(([^)\s]+)\)", text)
    assert len(links) > 10
    assert not [link for link in links if not link.startswith(("https://", "#"))]
    pictures = re.findall(r"!\[[^\]\n]*\]\(([^)\s]+)\)", text)
    for picture in pictures:
        start = f"https://raw.githubusercontent.com/{REPOSITORY}/v{__version__}/"
        assert picture.startswith(start)
        assert (ROOT / picture.removeprefix(start)).is_file()


def test_a_build_from_a_clone_names_no_repository():
    readme = (ROOT / "README.md").read_text("utf-8")
    found: dict[str, Any] = {"version": "1"}
    hook = script("metadata").AddressesHook(str(ROOT), {})
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("GITHUB_REPOSITORY", raising=False)
        hook.update(found)
    assert found == {
        "version": "1",
        "readme": {"content-type": "text/markdown", "text": readme},
    }


def checked(place: str, value: dict[str, Any]) -> None:
    needed, optional = FIELDS[place]
    assert needed <= set(value) <= needed | optional, place


def test_the_file_for_claude_desktop_follows_the_specification(wheel: Path, tmp_path: Path):
    made = script("mcpb").build(wheel, tmp_path)
    assert made.name == f"vault-agent-{__version__}.mcpb"
    with zipfile.ZipFile(made) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(files["manifest.json"])
    checked("", manifest)
    for place in ("author", "server", "compatibility"):
        checked(place, manifest[place])
    checked("server.mcp_config", manifest["server"]["mcp_config"])
    checked("compatibility.runtimes", manifest["compatibility"]["runtimes"])
    for option in manifest["user_config"].values():
        checked("user_config.*", option)
        assert option["type"] in INPUTS
    for tool in manifest["tools"]:
        checked("tools.*", tool)
    assert (manifest["manifest_version"], manifest["version"]) == ("0.4", __version__)
    assert manifest["server"]["type"] in SERVERS
    assert manifest["server"]["entry_point"] in files
    assert set(manifest["compatibility"]["platforms"]) <= {"darwin", "win32", "linux"}
    assert "vault_search" in {tool["name"] for tool in manifest["tools"]}
    variables = manifest["server"]["mcp_config"]["env"]
    assert set(variables) <= {setting.environment for setting in SETTINGS.values()}
    named = re.findall(r"\$\{user_config\.(\w+)\}", " ".join(variables.values()))
    assert set(named) == set(manifest["user_config"])
    assert wheel.name in files["pyproject.toml"].decode()
    assert files[wheel.name] == wheel.read_bytes()
    compile(files["server.py"], "server.py", "exec")
    assert made.read_bytes() == script("mcpb").build(wheel, tmp_path).read_bytes()


def test_the_container_is_set_up_by_settings_that_exist():
    text = (ROOT / "packaging/Containerfile").read_text("utf-8")
    compose = yaml.safe_load((ROOT / "packaging/compose.yaml").read_text("utf-8"))
    (service,) = compose["services"].values()
    known = {setting.environment for setting in SETTINGS.values()}
    assert set(re.findall(r"\bVAULT_AGENT_[A-Z_]+", text)) <= known
    assert set(service["environment"]) <= known
    port = re.search(r"VAULT_AGENT_SERVER_PORT=(\d+)", text)
    assert service["ports"] == [f"127.0.0.1:{port[1]}:{port[1]}"]
    copied = (ROOT / "packaging/Containerfile.dockerignore").read_text("utf-8")
    for line in re.findall(r"^!(.+)$", copied, re.MULTILINE):
        assert (ROOT / line).exists(), line


def test_a_release_is_refused_unless_tag_version_and_changelog_agree():
    problems = script("released").problems
    text = f"# Changelog\n\n## [{__version__}] - 2026-01-02\n"
    assert problems(f"v{__version__}", text) == []
    assert len(problems("v99.0.0", text)) == 1
    assert len(problems(f"v{__version__}", text.replace("2026-01-02", "unreleased"))) == 1


def test_only_the_readme_says_how_to_install_the_program():
    """The name is not ours on the package index yet: a release changes one place."""
    by_name = re.compile(r"(pipx|pip|uv tool) install[^\n`]* (\.(?=[\s`])|vault-agent\b)")
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
    for page in pages:
        assert not by_name.search(page.read_text("utf-8")), page
    assert by_name.search((ROOT / "README.md").read_text("utf-8"))
