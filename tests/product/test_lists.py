"""Lists as the terminal prints them, and the requests for lists that the server refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from tests.support.program import Program

from vault_agent.api.cursors import encode_cursor
from vault_agent.model.lists import ListQuery, Sort, TaskQuery


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """Return a program that serves a small vault."""
    with Program(tmp_path_factory.mktemp("lists")) as made:
        made.write(
            "Garden/Late frost.md",
            "---\ntags: [garden, cold]\nstatus: open\ndate: 2025-04-28\n---\n# Late frost\n\n"
            "Fleece keeps two degrees.\n\n- [ ] Buy fleece 📅 2025-05-01 #shop\n"
            "- [x] Dig ✅ 2025-04-02\n",
        )
        made.write("Garden/Beds.md", "---\ntags: [garden]\n---\n# Beds\n\nSee [[Late frost]].\n")
        made.write("Kitchen/Bread.md", "# Bread\n\nFleece is no flour: \x1b[31mred\n\n- [ ] Bake\n")
        made.start()
        made.index()
        yield made


def posted(served: Program, path: str, **body: Any) -> Any:
    reply = served.call("POST", path, body)
    assert reply.status == 200, reply.body
    return reply.data


def at_terminal(served: Program, *arguments: str) -> str:
    """Return what a command prints at a terminal."""
    code, shown = served.at_a_terminal(*arguments, TERM="xterm", NO_COLOR="")
    assert code == 0, shown
    return shown.replace("\r\n", "\n")


def test_wrong_requests_are_refused(served: Program):
    long = "e" * 10_000
    requests: list[tuple[str, dict[str, Any] | None, str]] = [
        ("grep", {"pattern": ""}, "INVALID_REQUEST"),
        ("grep", {"pattern": "x" * 1_001}, "INVALID_REQUEST"),
        ("grep", {"pattern": "x", "limit": 201}, "INVALID_LIMIT"),
        ("grep", {"pattern": "x", "limit": 0}, "INVALID_LIMIT"),
        ("grep", {"pattern": "x", "context": 4}, "INVALID_REQUEST"),
        ("grep", {"pattern": "x", "cursor": long}, "INVALID_CURSOR"),
        ("grep", {"pattern": "(?=x)"}, "REGEX_INVALID"),
        ("notes?limit=0", None, "INVALID_LIMIT"),
        ("notes?limit=201", None, "INVALID_LIMIT"),
        ("notes?limit=1&limit=2", None, "INVALID_REQUEST"),
        ("notes?sort=size", None, "INVALID_REQUEST"),
        ("notes?property=status", None, "INVALID_REQUEST"),
        ("notes?linked=maybe", None, "INVALID_REQUEST"),
        ("notes?tasks=done", None, "INVALID_REQUEST"),
        ("notes?after=today", None, "INVALID_REQUEST"),
        ("notes?state=open", None, "INVALID_REQUEST"),
        (f"notes?cursor={long}", None, "INVALID_CURSOR"),
        ("tasks?limit=201", None, "INVALID_LIMIT"),
        ("tasks?status=doing", None, "INVALID_REQUEST"),
        ("tasks?dueAfter=today", None, "INVALID_REQUEST"),
        ("tasks?cursor=AAAA", None, "INVALID_CURSOR"),
        ("context", {"queries": []}, "INVALID_REQUEST"),
        ("context", {"queries": [{"query": "a"}] * 21}, "INVALID_REQUEST"),
        ("context", {"queries": [{"query": "a", "limit": 21}]}, "INVALID_REQUEST"),
        ("context", {"queries": [{"query": "a", "file": "x"}]}, "INVALID_REQUEST"),
        ("context", {"queries": [{"query": "a"}], "maxTokens": 199}, "INVALID_REQUEST"),
        ("context", {"queries": [{"kind": "read", "query": "../../x"}]}, "PATH_OUTSIDE_VAULT"),
        ("resolve", None, "INVALID_REQUEST"),
    ]
    vault = served.call("GET", "/health").data["vault"]["id"]
    for number in (-1, 2**63, 2**64 - 1):  # forged
        tasks = encode_cursor(TaskQuery(), ("Garden/Beds.md", number), vault=vault)
        by_connections = ListQuery(sort=Sort.CONNECTIONS)
        notes = encode_cursor(by_connections, (number, "Garden/Beds.md"), vault=vault)
        requests += [
            (f"tasks?cursor={tasks}", None, "INVALID_CURSOR"),
            (f"notes?sort=connections&cursor={notes}", None, "INVALID_CURSOR"),
        ]
    wrong = []
    for path, body, code in requests:
        reply = served.call("GET" if body is None else "POST", f"/{path}", body)
        status = 403 if code == "PATH_OUTSIDE_VAULT" else 400
        if (reply.status, reply.code) != (status, code):
            wrong.append((path[:80], body, reply.status, reply.code))
    assert wrong == []


def test_grep_prints_lines_that_editors_can_open(served: Program):
    ended = served.run("grep", "^Fleece", "-C", "1")
    assert ended.stdout.splitlines() == [
        "Garden/Late frost.md-7-",
        "Garden/Late frost.md:8:Fleece keeps two degrees.",
        "Garden/Late frost.md-9-",
        "Kitchen/Bread.md-2-",
        "Kitchen/Bread.md:3:Fleece is no flour: \\x1b[31mred",
        "Kitchen/Bread.md-4-",
    ]
    merged = served.run("grep", "fleece|degrees|Dig", "--path", "Garden", "-C", "1").stdout
    assert [line.partition("frost.md")[2][:3] for line in merged.splitlines()] == [
        *("-7-", ":8:", "-9-", ":10", ":11"),
    ]
    nothing = served.run("grep", "no such line")
    assert (nothing.returncode, nothing.stdout) == (1, "")
    assert nothing.stderr == (
        "No lines found. Properties are not searched."
        " A search finds similar words too: vault-agent search WORDS\n"
    )
    counts = served.run("grep", "-c", "-i", "fleece").stdout.splitlines()
    assert all(re.fullmatch(r".+\.md:[1-9]", line) for line in counts), counts
    paths = served.run("grep", "-l", "-i", "fleece").stdout.splitlines()
    assert served.run("grep", "-l", "-c", "-i", "fleece").stdout.splitlines() == paths
    assert paths == [line.rpartition(":")[0] for line in counts]
    assert served.run("grep", "-w", "-i", "fleec").returncode == 1
    assert served.run("grep", "-F", "(?i)fleece").returncode == 1
    assert served.run("grep", "-F", "#shop").returncode == 0
    page = served.run("grep", "(?i)fleece", "-n", "1")
    assert page.stderr == "There are more lines: --limit 50\n"
    reply = json.loads(served.run("grep", "(?i)fleece", "-n", "1", "--json").stdout)["data"]
    more = served.run("grep", "(?i)fleece", "--limit", "1", "--cursor", reply["nextCursor"])
    assert more.stdout.startswith("Garden/Late frost.md:10:")
    assert json.loads(served.run("--json", "grep", "Bake").stdout)["data"]["lines"]
    refused = served.run("grep", "(")
    assert (refused.returncode, refused.stderr.split(":")[0]) == (2, "REGEX_INVALID")


def test_grep_groups_lines_by_note_at_a_terminal(served: Program):
    text = at_terminal(served, "grep", "^Fleece", "--tag", "#garden")
    assert text == (
        "\x1b[1mGarden/Late frost.md\x1b[0m\n"
        "\x1b[2m8:\x1b[0m\x1b[33m\x1b[1mFleece\x1b[0m keeps two degrees.\n"
    )
    apart = at_terminal(served, "grep", "^# Late|Dig", "-C", "1", "--path", "Garden")
    assert [re.sub(r"\x1b\[\d*m", "", line)[:3] for line in apart.splitlines()[1:]] == [
        *("6:#", "7-", "--", "10-", "11:"),
    ]


def test_list_and_tasks_print_what_scripts_can_use(served: Program):
    assert served.run("list", "Garden", "--tag", "#garden").stdout.splitlines() == [
        "Garden/Beds.md",
        "Garden/Late frost.md",
    ]
    assert served.run("list", "--orphans").stdout == "Kitchen/Bread.md\n"
    assert served.run("list", "Kitchen", "--orphans").stdout == "Kitchen/Bread.md\n"
    page = served.run("list", "-n", "1")
    assert (page.stdout, page.stderr) == ("Garden/Beds.md\n", "2 more: --limit 3\n")
    unknown = served.run("list", "Gardn")
    assert unknown.stderr == (
        "FOLDER_NOT_FOUND: No folder or note of the index has this path. Similar folders: Garden."
        " All folders: `vault-agent list --folders`."
        " Paths of notes: `vault-agent search -l WORDS`.\n"
    )
    assert "Similar" not in served.run("list", "Gate").stderr
    verb = served.run("tasks", "undo").stderr
    assert verb.endswith("add, done, toggle, cancel. To take back a change: vault-agent undo\n")
    assert "No results" not in served.run("search", "fleece", "--path", "Gardn").stderr
    for words in (
        *(("list", "Gardn"), ("tasks", "Gardn"), ("list", "Gardn", "--json")),
        *(("search", "fleece", "--path", "Gardn"), ("grep", "fleece", "--path", "Gardn")),
    ):
        assert served.run(*words).returncode == 4, words
    assert served.run("tasks", "--status", "all").stdout.splitlines() == [
        "Garden/Late frost.md:10:[ ] Buy fleece #shop  (due 2025-05-01)",
        "Garden/Late frost.md:11:[x] Dig  (done 2025-04-02)",
        "Kitchen/Bread.md:5:[ ] Bake",
    ]
    assert at_terminal(served, "list", "--property", "status=OPEN").endswith(
        "  Garden/Late frost.md  \x1b[2m#garden #cold #shop\x1b[0m\n"
    )


def test_a_list_without_rows_says_why_and_what_to_type(served: Program):
    assert served.run("list", "--type", "recipe").stderr == "No notes.\n"
    narrow = served.run("list", "Kitchen", "--tag", "garden", "--open-tasks")
    assert narrow.stderr == "No notes (all tags: vault-agent tags).\n"
    none = served.run("tasks", "--due-before", "2000-01-01")
    assert none.stderr == "No such tasks. All: vault-agent tasks --status all\n"
    tags = served.run("tags", "Bread")
    assert tags.stderr == 'No note has the tag "Bread". Kitchen/Bread.md has no tags.\n'


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """Return a program that serves 450 notes, one with 450 lines to find."""
    with Program(tmp_path_factory.mktemp("large")) as made:
        for number in range(449):
            made.write(f"n/{number:03}.md", f"- [ ] Task {number}\n\nRye.\n")
        made.write("n/449.md", "".join(f"Rye {number}\n\n" for number in range(450)))
        made.start()
        made.index()
        yield made


def test_a_pipe_gets_everything_and_a_terminal_a_screenful(large: Program):
    assert len(large.run("list").stdout.splitlines()) == 450
    assert len(large.run("tasks").stdout.splitlines()) == 449
    lines = large.run("grep", "^Rye").stdout.splitlines()
    assert len(lines) == len(set(lines)) == 449 + 450
    around = large.run("grep", "^Rye", "-C", "1").stdout.splitlines()
    assert len(around) == len(set(around))
    *shown, more = at_terminal(large, "list").splitlines()
    assert (len(shown), more) == (50, "400 more: --limit 450")
    assert len(large.run("list", "-n", "300").stdout.splitlines()) == 300
    assert large.run("list", "-n", "300").stderr == "150 more: --limit 450\n"
    assert len(large.run("grep", "^Rye", "--limit", "460").stdout.splitlines()) == 460
    data = json.loads(large.run("list", "--json").stdout)["data"]
    assert (len(data["notes"]), data["total"], data["hasMore"]) == (50, 450, True)
    many = json.loads(large.run("list", "--json", "-n", "400").stdout)["data"]
    assert (len(many["notes"]), many["total"], many["hasMore"]) == (200, 450, True)
    rest = large.run("list", "--cursor", many["nextCursor"]).stdout.splitlines()
    assert rest[0] == "n/200.md"
    assert len(rest) == 250


def test_an_unknown_word_is_named(served: Program):
    typo = served.run("search", "fleecy degreees")
    assert 'No note has "degreees": searched for degrees.' in typo.stderr
    assert 'No note has "fleecy": searched for fleece.' in typo.stderr
    assert 'No note has "zzzz".' in served.run("search", "zzzz").stderr
    assert served.run("search", "degr").stderr == ""  # the beginning of a word
    reply = posted(served, "/search", query="-zebra Hunter2xyz degreees")
    assert reply["unknown"] == [
        {"position": 2, "instead": []},
        {"position": 3, "instead": ["degrees"]},
    ]
    assert "unter2xyz" not in json.dumps(reply).lower()
    assert "unknown" not in posted(served, "/search", query="degrees")


def test_context_prints_excerpts_for_a_prompt(served: Program):
    tasks = served.home / "tasks.toml"
    tasks.write_text(
        '[[tasks]]\nname = "a"\nprompt = "Do it."\nowner = "x"\n'
        'vault_context = [{kind = "read", query = "beds"}, {query = "degrees", limit = 1}]\n'
        '[[tasks]]\nname = "b"\nprompt = "None."\n'
        'vault_context = [{kind = "read", query = "Lost note"}]\n'
    )
    file = ("context", "--task-file", str(tasks))
    ended = served.run(*file, "--task", "a", "--format", "prompt")
    assert ended.stdout.startswith("Do it.\n\n## Project Knowledge Base\n")
    assert "### Garden/Beds.md\n" in ended.stdout
    assert "### Garden/Late frost.md > Late frost  (lines 6-11)\n" in ended.stdout
    data = json.loads(served.run(*file, "--json").stdout)["data"]
    assert [task["context"]["tokens"] > 0 for task in data["tasks"]] == [True, False]
    assert data["tasks"][0]["owner"] == "x"
    missing = served.run(*file, "--task", "b")
    assert (missing.returncode, missing.stdout) == (0, "")
    assert missing.stderr.startswith("CONTEXT_NOTE_NOT_FOUND: Query 1: there is no note of")
    strict = served.run(*file, "--task", "b", "--strict")
    assert (strict.returncode, strict.stdout) == (4, "")
    assert served.run(*file).returncode == 2  # which task?
    assert served.run("context").returncode == 2
    both = served.run("context", "--read", "beds", "--search", "degrees")
    assert both.stdout.count("### ") == 2
