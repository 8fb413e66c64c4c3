"""Many equal warnings of one folder are shown as one."""

from __future__ import annotations

from tests.cli.fake import FakeServer, Run, job

from vault_agent.cli.jobs import grouped
from vault_agent.model.warning import Warning as Notice


def of(code: str, *paths: str) -> list[Notice]:
    return [Notice(code, f"About {path}.", {"path": path}) for path in paths]


def test_many_warnings_of_one_code_in_one_folder_become_one():
    templates = of("FRONTMATTER_PARSE_FAILED", *(f"Templates/{n}.md" for n in range(28)))
    few = of("FRONTMATTER_PARSE_FAILED", "Notes/a.md", "Notes/b.md")
    other = of("FILE_NOT_UTF8", "Templates/9.md")
    alone = [Notice("NOTES_EXCLUDED", "Some.", {"folder": "build"})] * 5
    shown = grouped([*templates[:20], *few, *other, *alone, *templates[20:]])
    assert [each.message for each in shown] == [
        "28 files in Templates, such as 0.md: About Templates/0.md.",
        *(each.message for each in (*few, *other, *alone)),
    ]
    (root,) = grouped(of("FILE_BINARY", *"abcd"))
    assert root.message == "4 files in the vault, such as a: About a."


async def test_a_job_says_where_all_its_warnings_are(run: Run, server: FakeServer):
    warnings = tuple(
        {"code": "FILE_BINARY", "message": "It is binary.", "details": {"path": f"a/{n}.md"}}
        for n in range(9)
    )
    server.history = [job(warnings=warnings, warning_count=9)]
    ended = await run("index")
    assert ended.err.endswith(
        "FILE_BINARY: 9 files in a, such as 0.md: It is binary.\n"
        "All warnings, one by one: vault-agent jobs job-1\n"
    )
    shown = (await run("jobs", "job-1")).err
    assert shown.splitlines() == [f"FILE_BINARY: a/{n}.md: It is binary." for n in range(9)]
    cancelled = await run("jobs", "cancel", "job-1")
    assert "warnings" not in cancelled.out
