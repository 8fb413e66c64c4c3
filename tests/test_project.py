"""Version, changelog, settings, commands and codes agree with their pages."""

from __future__ import annotations

import ast
import pkgutil
import re
import runpy
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from vault_agent import __version__
from vault_agent.codes import CODES
from vault_agent.config.setting_names import SETTINGS

ROOT = Path(__file__).parent.parent
REFERENCE = ROOT / "docs" / "reference"
PROGRAM = Path(sys.executable).with_name("vault-agent")
# Not codes: environment variables, flags of os.open, placeholders of commands.
NO_CODES = re.compile(
    r"^(VAULT_AGENT_|O_|NO_COLOR|COMP_|XDG_|TERM_)"
    r"|^(GIT_|LC_ALL$|CLAUDE_CONFIG_DIR$|CODEX_HOME$)"
    r"|^(NOTE|CHUNK|JOB)_ID$|_NUM_THREADS$|^ORT_"
)


def page(name: str) -> str:
    return (REFERENCE / f"{name}.md").read_text("utf-8")


def codes_in_source() -> set[str]:
    """Return every string constant of the package that has the form of a code."""
    found = set()
    for module in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(module.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found |= set(re.findall(r"^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$", node.value))
    return {code for code in found if not NO_CODES.search(code)} | {"UNAUTHORIZED"}


def test_the_newest_changelog_entry_is_this_version():
    newest = re.search(r"^## \[(\S+)\]", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert newest
    assert newest[1] == __version__


def test_the_example_configuration_has_every_key_once():
    text = (ROOT / "config.example.toml").read_text("utf-8")
    # Everything is commented out. Without the marks it must be a complete, valid file.
    uncommented = re.sub(r"^# ?(?=[a-z_]+ = )", "", text, flags=re.MULTILINE)
    sections = tomllib.loads(uncommented)
    assert {f"{s}.{key}" for s, keys in sections.items() for key in keys} == set(SETTINGS)


def test_every_code_is_documented_and_every_documented_code_exists():
    documented = set(re.findall(r"^\| `([A-Z0-9_]+)` \|", page("codes"), re.MULTILINE))
    assert codes_in_source() | set(CODES) == documented


def test_every_code_is_raised_somewhere():
    package = ROOT / "src" / "vault_agent"
    modules = (path.read_text("utf-8") for path in package.rglob("*.py"))
    assert set(CODES) - set(re.findall(r"\w+", " ".join(modules))) == set()


LOCKS = sorted((ROOT / "requirements").glob("*.txt"))


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_locked_requirements_have_hashes_and_name_no_index(lock: Path):
    text = lock.read_text("utf-8")
    pinned = re.findall(r"^[a-z0-9._-]+==\S+", text, re.MULTILINE)
    assert pinned
    assert text.count(" \\\n    --hash=sha256:") >= len(pinned)
    assert not re.search(r"https?://|file:|--(extra-)?index-url|--find-links", text)


def test_each_group_of_dependencies_has_a_lock_that_agrees_with_the_others():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    groups = {"runtime": project["project"]["dependencies"], **project["dependency-groups"]}
    assert set(groups) == {lock.stem for lock in LOCKS}
    versions: dict[str, set[str]] = {}
    for lock in LOCKS:
        pins = re.findall(r"^([a-z0-9._-]+)==(\S+)", lock.read_text("utf-8"), re.MULTILINE)
        needed = [re.match(r"[A-Za-z0-9._-]+", each)[0].lower() for each in groups[lock.stem]]
        assert set(needed) <= {name for name, _ in pins}, lock.stem
        for name in {name for name, _ in pins}:
            own = {version for other, version in pins if other == name}
            assert versions.setdefault(name, own) == own, name


def test_the_extra_is_what_is_locked_and_tested():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    for name, packages in project["project"]["optional-dependencies"].items():
        assert project["dependency-groups"][name] == packages
    assert "make meaning" in (ROOT / ".ci/run").read_text("utf-8")
    assert ".ci/run" in (ROOT / ".github/workflows/test.yml").read_text("utf-8")


def workflow(name: str) -> Any:
    return yaml.safe_load((ROOT / ".github/workflows" / f"{name}.yml").read_text("utf-8"))


@pytest.mark.parametrize("name", ["test", "nightly"])
def test_workflows_call_only_make_ci_and_pinned_actions_and_may_only_read(name: str):
    read = workflow(name)
    assert read["permissions"] == {"contents": "read"}
    for job in read["jobs"].values():
        assert job["timeout-minutes"] <= 90
        assert "permissions" not in job
        for step in job["steps"]:
            if "uses" in step:
                assert re.fullmatch(r"actions/(checkout|setup-python)@[0-9a-f]{40}", step["uses"])
            elif step["run"] != ".ci/run":
                targets = step["run"].removeprefix("make ").split()
                known = (ROOT / "Makefile").read_text("utf-8")
                assert re.search(rf"^{targets[0]}:", known, re.MULTILINE), step["run"]


def test_the_site_is_published_by_one_job_that_runs_nothing_of_ours():
    """The right to publish is not where the code of dependencies runs."""
    read = workflow("site")
    assert read["permissions"] == {"contents": "read"}
    assert [name for name, job in read["jobs"].items() if "permissions" in job] == ["publish"]
    assert all("run" not in step for step in read["jobs"]["publish"]["steps"])
    for step in (step for job in read["jobs"].values() for step in job["steps"]):
        if "uses" in step:
            assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", step["uses"])
        else:
            assert step["run"] == "make site PYTHON=python"


def test_windows_can_import_the_tests():
    """Modules that only POSIX has are imported inside functions."""
    missing = {"fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"}
    for file in (ROOT / "tests").rglob("*.py"):
        if file.name != "sitecustomize.py":  # it is loaded on Linux only
            for line in ast.parse(file.read_text("utf-8")).body:
                if isinstance(line, ast.Import):
                    assert not missing & {name.name for name in line.names}, file
                elif isinstance(line, ast.ImportFrom):
                    assert line.module not in missing, file


def test_a_page_is_waited_for_by_a_function():
    """Its policy refuses an expression that is not true at once and is evaluated again."""
    for file in (ROOT / "tests/web").glob("*.py"):
        text = file.read_text("utf-8")
        assert not re.search(r'wait_for_function\((\s*#.*)?\s*"(?!\()', text), file


def test_what_tests_replace_in_the_program_exists():
    for file in (ROOT / "tests").rglob("*.py"):
        for name in re.findall(r'"(vault_agent(?:\.\w+){2,})"', file.read_text("utf-8")):
            assert pkgutil.resolve_name(name), file


def test_every_script_of_packaging_can_be_imported():
    for script in (ROOT / "packaging").glob("*.py"):
        assert runpy.run_path(str(script))["__doc__"], script
