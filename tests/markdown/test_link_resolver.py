"""Links resolve as in Obsidian. Ties are broken deterministically and marked."""

from __future__ import annotations

from itertools import permutations

import pytest
from tests.support.clocks import assert_linear

from vault_agent.model.link_resolver import LinkResolver, Resolution, names_of, target_key
from vault_agent.model.notes import LinkKind

NOTES = {
    "Note.md": [],
    "src/Source.md": ["Origin"],
    "src/Local.md": [],
    "a/Local.md": [],
    "a/Dup.md": [],
    "b/Dup.md": [],
    "a/deep/Far.md": [],
    "zzzzzzzz/Far.md": [],
    "x/Short.md": [],
    "x/y/Short.md": [],
    "folder/sub/Page.md": ["The page", "Odd/Alias"],
    "other/sub/Page.md": [],
    "Release 1.2.md": [],
    "Q&A (2024), é.md": [],
    "日本/メモ 🔥.md": [],
    "Old.markdown": [],
    "twice.md.md": [],
    "src/x/Inner.md": [],
    "Case.md": [],
    "case.md": [],
    "n/Named.md": ["Note", "shared"],
    "n/Other.md": ["shared"],
    "pic.md": [],
    "one/paper.pdf.md": [],
    "Old book.md": [],
    "src/Old book.markdown": [],
    "src/below/Part.md": [],
    "z/Part.md": [],
    "a/Maße.md": [],
    "zzzzzz/Masse.md": [],
    "n/Άσπρος.md": [],
    "n/ΟΔΟΣ.md": [],
    "n/Iğdır.md": [],
    "01 Areas/Health.md": [],
    "e\u0301e\u0301e\u0301/Form.md": [],
    "abcd/Form.md": [],
    "🔥🔥/Unit.md": [],
    "abc/Unit.md": [],
}
ATTACHMENTS = [
    "assets/pic.png",
    "src/pic.png",
    "files/a/Doc.PDF",
    "LICENSE",
    "one/i.svg",
    "two/i.svg",
    "far/away/paper.pdf",
    "plan.canvas",
    "all/List.base",
]


@pytest.fixture(scope="module")
def resolver():
    return LinkResolver(NOTES.items(), ATTACHMENTS)


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("", "src/Source.md"),
        ("Note", "Note.md"),
        ("Note.md", "Note.md"),
        ("nOTE.MD", "Note.md"),
        ("/Note", "Note.md"),
        ("Local", "src/Local.md"),
        ("a/Local", "a/Local.md"),
        ("A/local.md", "a/Local.md"),
        ("x/Inner", "src/x/Inner.md"),
        ("deep/Far", "a/deep/Far.md"),
        ("folder/sub/Page", "folder/sub/Page.md"),
        ("folder\\sub\\Page", "folder/sub/Page.md"),
        ("Short", "x/Short.md"),
        ("y/Short", "x/y/Short.md"),
        ("Release 1.2", "Release 1.2.md"),
        ("Release 1.2.md", "Release 1.2.md"),
        ("Q&A (2024), e\u0301", "Q&A (2024), é.md"),
        ("メモ 🔥", "日本/メモ 🔥.md"),
        ("Old", "Old.markdown"),
        ("Old.markdown", "Old.markdown"),
        ("twice.md", "twice.md.md"),
        ("./Local", "src/Local.md"),
        ("../Note", "Note.md"),
        ("../a/./deep/../Dup.md", "a/Dup.md"),
        ("case", "case.md"),
        ("Case.md", "Case.md"),
        ("The page", "folder/sub/Page.md"),
        ("odd/alias", "folder/sub/Page.md"),
        ("Origin", "src/Source.md"),
        ("pic.png", "src/pic.png"),
        ("/assets/pic.png", "assets/pic.png"),
        ("../assets/PIC.png", "assets/pic.png"),
        ("doc.pdf", "files/a/Doc.PDF"),
        ("LICENSE", "LICENSE"),
        ("paper.pdf", "far/away/paper.pdf"),  # not the note, although its path is shorter
        ("paper.pdf.md", "one/paper.pdf.md"),
        ("PLAN.canvas", "plan.canvas"),
        ("List.base", "all/List.base"),
        ("Old book", "Old book.md"),  # a ".markdown" file is not a note in Obsidian
        ("Old book.markdown", "src/Old book.markdown"),
        ("Part", "src/below/Part.md"),  # below the link's own folder, with a shorter path elsewhere
        ("Masse", "zzzzzz/Masse.md"),
        ("MASSE", "zzzzzz/Masse.md"),
        ("maße", "a/Maße.md"),
        ("ΆΣΠΡΟΣ", "n/Άσπρος.md"),
        ("οδος", "n/ΟΔΟΣ.md"),
        ("ΟΔΟΣ.md", "n/ΟΔΟΣ.md"),
        ("IĞDıR", "n/Iğdır.md"),
        ("../../Note", "Note.md"),  # nothing is above the vault
        ("../../../assets/pic.png", "assets/pic.png"),
        ("./below/Part", "src/below/Part.md"),
        ("../x/Inner", "src/x/Inner.md"),  # no such path, but one with this end
        ("Areas/Health", "01 Areas/Health.md"),  # the folder was renamed outside Obsidian
    ],
)
def test_resolves_without_ambiguity(resolver, target, path):
    resolution = resolver.resolve("src/Source.md", target, LinkKind.WIKILINK)
    assert resolution == Resolution(
        path, path.lower().endswith(("md", "markdown")), ambiguous=False
    )


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("Dup", "a/Dup.md"),
        ("Far", "a/deep/Far.md"),  # the shortest path, as Obsidian counts, not the fewest folders
        ("i.svg", "one/i.svg"),
        ("sub/Page", "other/sub/Page.md"),
        ("CASE", "Case.md"),
        ("shared", "n/Named.md"),
        ("Form", "e\u0301e\u0301e\u0301/Form.md"),  # "é" is one character in both normal forms
        ("Unit", "abc/Unit.md"),  # an emoji is two
    ],
)
def test_a_tie_is_broken_and_marked_as_ambiguous(resolver, target, path):
    resolution = resolver.resolve("src/Source.md", target, LinkKind.WIKILINK)
    assert (resolution.path, resolution.ambiguous) == (path, True)


@pytest.mark.parametrize(
    "target",
    [
        *("Missing", "b/Note", "Local/Note", "./Note", "/Local", "./Missing"),
        *("..", ".", "/", "./", "a", "a/", "Note.png", "pic.jpg", "ote", "Note.md.txt", ".md"),
        *("./Inner", "Inner/", "Strase", "IGDIR", "Reas/Healthy"),
    ],
)
def test_does_not_resolve(resolver, target):
    assert resolver.resolve("src/Source.md", target, LinkKind.WIKILINK) == Resolution()


def test_a_markdown_link_does_not_resolve_to_an_alias(resolver):
    assert resolver.resolve("a/Dup.md", "The page", LinkKind.MARKDOWN).path is None
    assert resolver.resolve("a/Dup.md", "../src/Local.md", LinkKind.MARKDOWN).path == "src/Local.md"
    assert resolver.resolve("a/Dup.md", "pic.png", LinkKind.IMAGE).path == "src/pic.png"


def test_a_note_in_the_links_own_folder_wins(resolver):
    assert resolver.resolve("b/Other.md", "Dup", LinkKind.EMBED) == Resolution("b/Dup.md", True)


def test_resolution_does_not_depend_on_file_order():
    notes = [("b/N.md", ["x"]), ("a/N.md", ["x"]), ("c/d/N.md", [])]
    answers = {
        (
            resolver.resolve("s.md", "N", LinkKind.WIKILINK),
            resolver.resolve("s.md", "x", LinkKind.WIKILINK),
        )
        for resolver in map(LinkResolver, permutations(notes))
    }
    assert answers == {(Resolution("a/N.md", True, True), Resolution("a/N.md", True, True))}


@pytest.mark.parametrize(
    ("path", "aliases", "targets"),
    [
        ("a/Note.md", [], ["Note", "note.md", "a/Note", "../a/NOTE", "/a/note", "a\\Note"]),
        ("Café.md", ["Kaffee", "A/B"], ["Cafe\u0301", "kaffee", "A/B"]),
        ("x/pic.PNG", [], ["pic.png", "x/pic.png"]),
        ("twice.md.md", [], ["twice.md", "twice.md.md"]),
        ("Old.markdown", [], ["old", "Old.markdown"]),
    ],
)
def test_every_resolving_target_has_a_key_of_its_file(path, aliases, targets):
    is_note = not path.endswith("PNG")
    resolver = LinkResolver([(path, aliases)] if is_note else [], [] if is_note else [path])
    for target in targets:
        assert resolver.resolve("s/s.md", target, LinkKind.WIKILINK).path == path
        assert target_key(target) in names_of(path, aliases)


def test_many_files_with_one_name_resolve_as_fast():
    def resolve_all(paths: list[str]) -> None:
        resolver = LinkResolver((path, ()) for path in paths)
        for number, path in enumerate(paths):
            for target in ("index", "../index", f"c{number}/index", f"x{number}/index"):
                resolver.resolve(path, target, LinkKind.WIKILINK)

    assert_linear(
        lambda n: [f"a{i % 50}/b{i // 50 % 40}/c{i}/index.md" for i in range(1000 * n)],
        resolve_all,
    )


@pytest.mark.fault(
    "Note contents",
    "thousands of notes share one alias, or differ by letter case only",
    "links resolve in linear time",
)
def test_many_notes_with_one_alias_resolve_as_fast():
    def resolve_all(count: int) -> None:
        resolver = LinkResolver((f"n{number}/{number}.md", ["shared"]) for number in range(count))
        for number in range(count):
            resolver.resolve(f"n{number}/{number}.md", "shared", LinkKind.WIKILINK)

    assert_linear(lambda n: 500 * n, resolve_all)


def test_many_spellings_of_one_name_resolve_as_fast():
    def spellings(n: int) -> list[str]:
        return [
            "".join(
                letter.upper() if number >> bit & 1 else letter
                for bit, letter in enumerate("abcdefghijk")
            )
            for number in range(512 * n)
        ]

    def resolve_all(paths: list[str]) -> None:
        resolver = LinkResolver((f"{path}.md", ()) for path in paths)
        for _ in paths:
            resolver.resolve("source.md", "ABcdefghijk", LinkKind.WIKILINK)

    assert_linear(spellings, resolve_all)
