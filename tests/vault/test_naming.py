"""Names that may be created."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_agent.errors import InvalidRequest, VaultAgentError
from vault_agent.text.names import slug
from vault_agent.vault.paths import MAX_NAME_BYTES, check_new, new_path, note_path


@pytest.mark.parametrize(
    ("path", "created"),
    [
        ("Plan", "Plan.md"),
        ("Plan.md", "Plan.md"),
        ("Plan.MD", "Plan.MD"),
        ("a/b c/Plan", "a/b c/Plan.md"),
        ("v1.2", "v1.2.md"),
        ("Dr. Smith", "Dr. Smith.md"),
        ("e\u0301te\u0301", "été.md"),
        ("日本語", "日本語.md"),
        ("console", "console.md"),
        ("com10", "com10.md"),
        ("a'b & c, (d) + e=f!", "a'b & c, (d) + e=f!.md"),
        ("n" * 237, "n" * 237 + ".md"),
        ("/".join(["d"] * 20) + "/n", "/".join(["d"] * 20) + "/n.md"),
        ("a .md/n", "a .md/n.md"),  # a folder has no extension
    ],
)
def test_a_portable_name_is_kept(path: str, created: str):
    assert new_path(path) == created


@pytest.mark.fault(
    "Names, tasks, templates",
    'a new name with a control character, `< > : " | ? * \\`, `# ^ [ ]`, a direction '
    "mark, a surrogate, a dot or space at an end, a device of Windows, over 240 "
    "bytes; a path over 1,000 bytes or 20 folders",
    "refused by the rule, with a name that would do; nothing is made, no folder stays",
)
@pytest.mark.parametrize(
    ("path", "rule", "suggestion"),
    [
        ("a\tb", "control", "a b.md"),
        ("a\u2028b", "control", "a b.md"),
        ("What?", "systems refuse", "What-.md"),
        ("12:30", "systems refuse", "12-30.md"),
        ("a\\b", "systems refuse", "a-b.md"),
        ("C# notes", "wikilink", "C- notes.md"),
        ("x/[a]/n", "wikilink", "x/-a-/n.md"),
        ("con.md", "device", "con_.md"),
        ("LPT1", "device", "LPT1_.md"),
        ("COM².tar", "must end in .md", "COM²_.tar.md"),
        ("a/Aux/n.md", "device", "a/Aux_/n.md"),
        ("Plan.", "ends with", "Plan.md"),
        ("Plan ", "ends with", "Plan.md"),
        ("Plan .md", "ends with", "Plan.md"),
        ("a./n", "ends with", "a/n.md"),
        (".hidden", "begins with", "hidden.md"),
        (" a", "begins with", "a.md"),
        (".obsidian/app", "begins with", "obsidian/app.md"),
        (".trash/x", "begins with", "trash/x.md"),
        (".md", "begins with", "Untitled.md"),
        ("x.txt", "must end in .md", "x.txt.md"),
        ("Node.js", "must end in .md", "Node.js.md"),
        ("x.markdown", "must end in .md", "x.markdown.md"),
        ("a\u202eb", "direction", "ab.md"),
        ("a\ud800b", "surrogate", "ab.md"),
        ("n" * 238, "240 bytes", "n" * 237 + ".md"),
        ("é" * 150, "240 bytes", "é" * 118 + ".md"),
        ("n" * 300, "240 bytes", "n" * 237 + ".md"),
        ("/".join(["d"] * 21) + "/n", "20 folders", "/".join(["d"] * 20) + "/n.md"),
        ("/".join(["d" * 200] * 5) + "/n", "1000 bytes", "/".join(["d" * 200] * 4) + "/n.md"),
    ],
)
def test_a_refusal_names_the_rule_and_a_name_that_would_do(path, rule, suggestion):
    with pytest.raises(InvalidRequest) as refused:
        new_path(path)
    assert refused.value.code == "INVALID_NOTE_NAME"
    assert rule in refused.value.message
    assert refused.value.details["suggestion"] == suggestion
    assert f"Use {refused.value.details['name']} instead." in refused.value.message
    assert new_path(suggestion) == suggestion


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("", "INVALID_PATH"),
        ("a.md/", "INVALID_PATH"),
        ("a//b", "INVALID_PATH"),
        ("a/./b", "INVALID_PATH"),
        ("a/../b", "INVALID_PATH"),
        ("..%2fb", "PATH_OUTSIDE_VAULT"),
        ("../x", "PATH_OUTSIDE_VAULT"),
        ("/etc/x", "PATH_OUTSIDE_VAULT"),
        ("C:/x", "PATH_OUTSIDE_VAULT"),
        ("C:\\x", "PATH_OUTSIDE_VAULT"),
        ("C:../x", "PATH_OUTSIDE_VAULT"),
        ("C:x", "INVALID_NOTE_NAME"),
        ("C:x/y", "INVALID_NOTE_NAME"),
    ],
)
def test_a_path_that_is_no_path_is_refused_as_such(path: str, code: str):
    with pytest.raises(VaultAgentError) as refused:
        new_path(path)
    assert refused.value.code == code


def test_folders_that_exist_are_not_checked():
    assert new_path("C# notes/n", existing=1) == "C# notes/n.md"
    decomposed = unicodedata.normalize("NFD", "Été")
    assert new_path(f"{decomposed}/{decomposed}", existing=1) == f"{decomposed}/Été.md"
    with pytest.raises(InvalidRequest) as refused:
        new_path("C# notes/a#b/n", existing=1)
    assert refused.value.details["suggestion"] == "C# notes/a-b/n.md"


def test_names_that_exist_are_not_checked():
    assert note_path("C# notes/What?") == "C# notes/What?.md"
    check_new("C# notes/new.md", existing=1)
    check_new("/".join(["d"] * 20) + "/file", existing=0)
    for path, existing in {"C# notes/new.md": 0, "a/What?.md": 1, "con": 0}.items():
        with pytest.raises(InvalidRequest):
            check_new(path, existing)
    with pytest.raises(InvalidRequest) as refused:
        note_path("C# notes/a.txt")
    assert refused.value.details["suggestion"] == "C# notes/a.txt.md"


def test_a_file_keeps_its_extension():
    assert new_path("img/new", ".png") == "img/new.png"
    assert new_path("img/new.PNG", ".png") == "img/new.PNG"
    with pytest.raises(InvalidRequest) as refused:
        new_path("new.md", ".png")
    assert refused.value.details["suggestion"] == "new.md.png"


def test_a_folder_has_no_extension():
    assert new_path("a/v1.2.md", "", is_folder=True) == "a/v1.2.md"
    with pytest.raises(InvalidRequest):
        new_path("a/b?", "", is_folder=True)
    with pytest.raises(InvalidRequest):
        new_path("/".join(["d"] * 21), "", is_folder=True)


_LETTERS = st.text(
    st.one_of(st.sampled_from('aÉ.. /\\?*#[]^|"<>\x00\n\u202e\ud800\u0301:'), st.characters()),
    max_size=300,
)


@given(_LETTERS)
def test_whatever_is_suggested_is_accepted(path: str):
    try:
        new = new_path(path)
    except VaultAgentError as refused:
        if refused.code != "INVALID_NOTE_NAME":
            return
        new = refused.details["suggestion"]
    assert new_path(new) == new
    assert unicodedata.is_normalized("NFC", new)
    assert all(len(name.encode()) <= MAX_NAME_BYTES for name in new.split("/"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Use PostgreSQL, not MySQL!", "use-postgresql-not-mysql"),
        ("  Größe: e\u0301té ", "größe-été"),
        ("日本語 メモ", "日本語-メモ"),
        ("हिन्दी", "हिन्दी"),
        ("../../etc", "etc"),
        ("?!", ""),
        ("\u0301", ""),
        ("a" * 79 + " b", "a" * 79),
    ],
)
def test_a_slug_has_letters_digits_and_dashes(text: str, expected: str):
    assert slug(text) == expected
