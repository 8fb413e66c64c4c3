"""What agents record is read exactly, within bounds, and only from their own folders."""

from __future__ import annotations

import hashlib
import json
import os
import time
from pathlib import Path

import pytest
from tests.support.made_sessions import AGENTS, START, Writer, made_session
from tests.support.session_desk import Desk

from vault_agent.memory.transcripts.read import (
    MAX_BYTES,
    MAX_LINE,
    open_transcript,
    past_sessions,
    read_transcript,
    take_over_sessions,
    transcript_lines,
    transcript_of,
)
from vault_agent.memory.transcripts.recorder import Transcript
from vault_agent.text.redaction import redact

PLACES = {
    "claude-code": ".claude/projects/-work-shop/{}.jsonl",
    "codex": ".codex/sessions/2026/11/22/rollout-{}.jsonl",
    "gemini": ".gemini/tmp/abc/chats/session-{}.json",
}


def clean(text: str) -> str:
    return redact(text).text


def place_of(home: Path, agent: str) -> Path:
    path = home / PLACES[agent].format("s1")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def read(home: Path, agent: str, data: bytes):
    path = place_of(home, agent)
    path.write_bytes(data)
    return read_transcript(agent, str(path), clean, home=home)


def words(found: Transcript) -> list[str]:
    return [each.words for each in found.exchanges]


@pytest.mark.parametrize("agent", AGENTS)
def test_a_session_is_read_as_it_was(tmp_path: Path, agent: str):
    for seed in range(5):
        made = made_session(agent, "/work/shop", seed)
        found = read(tmp_path, agent, made.data())
        assert {Path(path).name for path in found.edited} == {Path(p).name for p in made.edited}
        assert words(found) == made.prompts
        assert (found.tokens_in, found.tokens_out) == made.tokens
        assert found.models == ("m-1",)
        assert found.last == made.last_message
        assert [tuple(each) for each in found.todos] == made.todos
        assert found.ended_at == made.ended_at


def test_what_nobody_wrote_is_no_prompt(tmp_path: Path):
    writer = Writer("claude-code", "/work/shop")
    writer.prompt("Fix the parser")
    made = writer.made.lines
    for text, more in (
        ("<command-name>/clear</command-name>", {}),
        ("Caveat: the messages below", {}),
        ("[Request interrupted by user]", {}),
        ("Injected by a hook", {"isMeta": True}),
        ("Do this part", {"isSidechain": True}),
        ("This session is being continued from a previous conversation that ran out", {}),
    ):
        made.append({"type": "user", "message": {"role": "user", "content": text}, **more})
    made += [
        {"type": "custom-title", "customTitle": "My title"},
        {"type": "summary", "summary": "Another"},
        {"type": "brand-new", "x": 1},
    ]
    found = read(tmp_path, "claude-code", writer.end().data() + b"{not json\n[1]\n")
    assert words(found) == ["Fix the parser"]
    assert found.title == "My title"


def test_edits_of_subagents_count_and_those_without_a_result_do_not(tmp_path: Path):
    writer = Writer("claude-code", "/work/shop")
    writer.edit("src/side.py")
    for line in writer.made.lines:
        line["isSidechain"] = True
    writer.edit("src/cut.py")
    writer.made.lines.pop()
    found = read(tmp_path, "claude-code", writer.end().data())
    assert found.edited == ("/work/shop/src/side.py",)


def test_a_newer_gemini_file_with_a_message_a_line_and_changes_of_it(tmp_path: Path):
    made = made_session("gemini", "/work/shop", 3)
    lines = [{"sessionId": "s", "startTime": "2026-02-02T02:00:00Z"}]
    for message in made.lines:  # written again when its calls change
        lines += [{**message, "toolCalls": []}, message, {"$set": {"lastUpdated": "x"}}]
    lines.append({"$rewindTo": "id-1"})
    found = read(tmp_path, "gemini", b"\n".join(json.dumps(each).encode() for each in lines))
    assert (found.tokens_in, found.tokens_out) == made.tokens
    assert words(found) == made.prompts
    assert {Path(path).name for path in found.edited} == {Path(p).name for p in made.edited}


def test_codex_reports_files_in_several_ways_and_messages_without_events(tmp_path: Path):
    change = {"type": "FileChange", "status": "completed", "changes": {"/work/shop/a.py": {}}}
    heredoc = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: b.py\n+x\n*** End Patch\nEOF"
    lines = [
        ("response_item", {"type": "message", "role": "user", "content": [
            {"type": "input_text", "text": "<environment_context>x</environment_context>"}]}),
        ("response_item", {"type": "message", "role": "user", "content": [
            {"type": "input_text", "text": "Fix it"}]}),
        ("event_msg", {"type": "item_completed", "item": change}),
        ("event_msg", {"type": "patch_apply_end", "success": False, "changes": {"no.py": {}}}),
        ("event_msg", {"type": "patch_apply_end", "success": True, "changes": {"c.py": {}}}),
        ("response_item", {"type": "function_call", "name": "shell", "call_id": "1",
                           "arguments": json.dumps({"command": ["bash", "-lc", heredoc]})}),
        ("response_item", {"type": "function_call_output", "call_id": "1",
                           "output": "Exit code: 0\nOutput:\nSuccess."}),
        ("world_state", {}),
    ]  # fmt: skip
    data = b"\n".join(json.dumps({"type": k, "payload": p}).encode() for k, p in lines)
    found = read(tmp_path, "codex", data)
    assert found.edited == ("/work/shop/a.py", "c.py", "b.py")
    assert words(found) == ["Fix it"]


# --- bounds -----------------------------------------------------------------------------------


def test_long_lines_and_deep_objects_are_passed_over(tmp_path: Path):
    made = made_session("claude-code", "/work/shop", 1)
    deep = b'{"type":' * 100_000 + b"1" + b"}" * 100_000
    long = b'{"type":"user","message":"' + b"x" * (2 * MAX_LINE) + b'"}'
    found = read(tmp_path, "claude-code", b"\n".join((deep, long, made.data())))
    assert len(found.edited) == len(made.edited)


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "transcript: 5 GB, a line of 16 MiB, JSON 100,000 deep, FIFO, link, path outside, "
    "cut or replaced while read",
    "bounded time and memory; refused by its place; the journal comes from hooks and git",
)
def test_of_a_large_file_the_start_and_the_end_are_read(tmp_path: Path):
    first = Writer("claude-code", "/work/shop")
    first.prompt("The first prompt")
    last = Writer("claude-code", "/work/shop")
    last.edit("src/last.py")
    path = place_of(tmp_path, "claude-code")
    with path.open("wb") as file:
        file.write(first.end().data())
        file.seek(5 << 30)  # a hole: 5 GB that take no room
        file.write(b"\n" + last.end().data())
    started = time.process_time()
    found = read_transcript("claude-code", str(path), clean, home=tmp_path)
    assert time.process_time() - started < 5
    assert words(found) == ["The first prompt"]
    assert found.edited == ("/work/shop/src/last.py",)
    assert MAX_BYTES == 64 << 20


def test_a_file_that_is_cut_or_replaced_while_it_is_read_gives_what_there_was(tmp_path: Path):
    made = made_session("claude-code", "/work/shop", 2)
    path = place_of(tmp_path, "claude-code")
    path.write_bytes(made.data() * 400)
    file = open_transcript("claude-code", str(path), home=tmp_path)
    with file:
        lines = transcript_lines(file)
        first = [next(lines), next(lines)]
        path.with_suffix(".new").write_bytes(b"{}\n")
        path.with_suffix(".new").replace(path)
        rest = list(lines)
    assert len(first) + len(rest) == 400 * len(made.lines)
    path.write_bytes(made.data() * 400)
    file = open_transcript("claude-code", str(path), home=tmp_path)
    with file:
        lines = transcript_lines(file)
        next(lines)
        os.truncate(path, 10)
        assert len(list(lines)) < 400 * len(made.lines)


def test_a_file_that_is_not_understood_is_none(tmp_path: Path):
    for agent in AGENTS:
        for data in (b"", b"hello\n", b'{"x": 1}\n', b"\xff\xfe\x00", b"[]", b"{\n  \n}"):
            assert read(tmp_path, agent, data) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
def test_only_regular_files_in_the_folders_of_the_agent_are_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    good = place_of(tmp_path, "claude-code")
    good.write_text("{}\n")
    secret = tmp_path / "secret.txt"
    secret.write_text("x")
    (good.parent / "link.jsonl").symlink_to(secret)
    os.mkfifo(good.parent / "pipe.jsonl")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.jsonl").write_text("{}\n")
    (good.parent / "folder").symlink_to(outside)

    def opens(path: object, agent: str = "claude-code"):
        file = open_transcript(agent, str(path), home=tmp_path)
        if file is not None:
            file.close()
        return file is not None

    assert opens(good)
    assert not opens(good, "codex")
    for bad in ("link.jsonl", "pipe.jsonl", "folder/a.jsonl", "../../../secret.txt", ".", "no", ""):
        assert not opens(good.parent / bad), bad
    assert not opens("/etc/passwd")
    assert not opens(good.relative_to(tmp_path))
    assert not opens(f"{good}\0")
    # A home folder of dotfiles may itself be a link.
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / ".claude").symlink_to(tmp_path / ".claude")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "other" / ".claude"))
    assert opens(good)


# --- secrets ----------------------------------------------------------------------------------

KEY = "sk-ant-" + "a1B2c3D4e5F6g7H8i9J0"


@pytest.mark.parametrize("agent", AGENTS)
def test_no_secret_is_left_in_what_is_read(agent: str):
    writer = Writer(agent, "/work/shop")
    writer.prompt(f"Use the key {KEY} <private>my\nname</private>")
    writer.run(f"curl -H 'x-api-key: {KEY}' localhost", f"error: {KEY} is wrong", fails=True)
    writer.run("cat .env", "PLAIN_ENV_VALUE_1")
    writer.run("grep -r A .", "config/.env:FOO=PLAIN_ENV_VALUE_2\nsrc/a.py: fine line")
    writer.todos([(f"Rotate {KEY}", False)])
    writer.say(f"I chose {KEY} because it works. {'word ' * 3996}{KEY}")
    found = transcript_of(agent, writer.end().data().splitlines(), clean)
    shown = repr(found)
    assert KEY[:12] not in shown
    assert "my\\nname" not in shown
    assert "PLAIN_ENV_VALUE" not in shown
    assert "[redacted: anthropic]" in shown


# --- what a person said -----------------------------------------------------------------------


def test_words_that_are_no_prompts_are_the_persons_too(tmp_path: Path):
    writer = Writer("claude-code", "/work/shop")
    writer.prompt("Report slow jobs.")
    writer.say("I read the events table.")
    writer.type_meanwhile("never query events")
    writer.refuse("psql -c 'delete'", "use tools/purge.py")
    writer.answer("For which accounts?", "service only")
    found = read(tmp_path, "claude-code", writer.end().data())
    assert words(found) == [
        "Report slow jobs.",
        "never query events",
        "use tools/purge.py",
        "service only",
    ]
    assert found.exchanges[1].before == "I read the events table."
    assert found.exchanges[2].before.endswith("(wanted: psql -c 'delete')")
    assert found.exchanges[3].before.endswith("For which accounts?")
    assert found.unanswered


@pytest.mark.parametrize("agent", AGENTS)
def test_hashes_of_commits_and_the_last_tests_are_read(tmp_path: Path, agent: str):
    writer = Writer(agent, "/work/shop")
    writer.prompt("Commit it.")
    writer.run("pytest -q", "3 failed in 0.1s", fails=True)
    writer.run("pytest -q", "x\n4 passed in 0.1s")
    writer.run("git add . && git commit -m x", "[main 3a4b5c6] Limit retries\n 1 file changed")
    found = read(tmp_path, agent, writer.made.data())
    assert (found.commits, found.commits_unseen) == (("3a4b5c6",), False)
    assert found.tests == "4 passed in 0.1s"
    writer.run("git commit -qm y", "")
    found = read(tmp_path, agent, writer.end().data())
    assert found.commits_unseen


@pytest.mark.parametrize("agent", AGENTS)
def test_a_proposal_is_told_from_a_report_by_what_was_changed_before_it(tmp_path: Path, agent: str):
    writer = Writer(agent, "/work/shop")
    writer.prompt("The departures page is slow.")
    writer.say("I move all vessels into a cache.")
    writer.prompt("no cache, one query")
    writer.edit("web/departures.py")
    writer.say("One query loads all vessels.")
    writer.prompt("measure it")
    writer.run("make bench", "0.4 s")
    writer.say("It takes 0.4 seconds.")
    writer.prompt("good")
    found = read(tmp_path, agent, writer.end().data())
    assert [exchange.manner for exchange in found.exchanges[1:]] == ["proposed", "reported", "said"]


def test_a_word_that_is_typed_meanwhile_ends_no_turn(tmp_path: Path):
    writer = Writer("claude-code", "/work/shop")
    writer.prompt("Sort the ports.")
    writer.edit("ports.ts")
    writer.type_meanwhile("islands last")
    writer.say("The ports are sorted, islands last.")
    writer.prompt("ship it")
    found = read(tmp_path, "claude-code", writer.end().data())
    assert found.exchanges[-1].manner == "reported"


# --- past sessions ------------------------------------------------------------------------------


def left(home: Path, agent: str, project: Path, number: int, *, age: float = 10_000.0) -> None:
    """Leave the transcript of a session as its agent does."""
    writer = Writer(agent, str(project), session_id=f"{agent}-{number}", began=START + number)
    writer.prompt(f"Limit the retries of queue number {number} in src/queue.py.")
    writer.say("Shall I give up after 5 tries?")
    writer.prompt("no, after 3, support asked for that")
    writer.edit("src/queue.py")
    writer.say("The queue gives up after 3 tries.")
    data = writer.end().data()
    named = "".join(each if each.isalnum() else "-" for each in str(project))
    digest = hashlib.sha256(str(project).encode()).hexdigest()
    place = {
        "claude-code": home / ".claude" / "projects" / named / f"{agent}-{number}.jsonl",
        "codex": home / ".codex" / "sessions" / "2026" / f"rollout-{number}.jsonl",
        "gemini": home / ".gemini" / "tmp" / digest / "chats" / f"session-{number}.json",
    }[agent]
    if agent == "codex":
        place = place.with_name(f"rollout-{digest[:8]}-{number}.jsonl")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)
    changed = place.stat().st_mtime - age
    os.utime(place, (changed, changed))


def test_only_sessions_of_this_project_that_have_ended_are_found(tmp_path: Path):
    home, shop, other = (tmp_path / name for name in ("home", "shop", "shop-two"))
    for project in (home, shop, other):
        project.mkdir()
    for agent in AGENTS:
        left(home, agent, shop, 1)
        left(home, agent, other, 2)
        left(home, agent, shop, 3, age=0)
    found = past_sessions(shop, home=home)
    assert sorted(each.agent for each in found) == sorted(AGENTS)
    data = tmp_path / "data"
    made = take_over_sessions(data, "v" * 32, shop, found, home=home)
    assert sorted(made) == sorted(f"{agent}-1" for agent in AGENTS)
    assert take_over_sessions(data, "v" * 32, shop, found, home=home) == []
    (home / ".claude" / "projects" / "broken").mkdir()
    assert past_sessions(tmp_path / "none", home=home) == []


@pytest.mark.parametrize("agent", AGENTS)
async def test_they_become_journals_of_their_own_day(desk: Desk, agent: str):
    left(desk.home, agent, desk.project, 1)
    async with desk.app() as app:
        found = past_sessions(desk.project, home=desk.home)
        made = take_over_sessions(desk.world.data, desk.vault, desk.project, found, home=desk.home)
        assert made == [f"{agent}-1"]
        await app.journals.write_due()
    text = desk.note()
    assert "no, after 3, support asked for that" in text
    assert "/2026-02-02-" in str(desk.notes()[0])
    assert json.dumps(text)
