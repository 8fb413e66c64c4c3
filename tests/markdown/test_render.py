"""What a note looks like as HTML."""

from __future__ import annotations

import re

import pytest
from tests.markdown.rendering import Read, html_of

from vault_agent.markdown import sanitise
from vault_agent.model.identifiers import identify

OTHER = identify("Other.md")


def body(text: str, **notes: str) -> str:
    return html_of(text, **notes).html


def test_ends_of_lines_can_be_shown_or_joined():
    assert body("one\ntwo  \nthree\n").count('<br class="soft">\n') == 1
    assert 'class="soft"' not in body("| a |\n|---|\n| b |\n\none\n\n- two\n- three\n")


def test_headings_have_anchors_and_lines():
    found = html_of("# One *two*\n\n## A/b: c\n\ntext\n\n## A/b: c\n", path="Here.md")
    assert [(each.level, each.text, each.id, each.line) for each in found.outline] == [
        (1, "One two", "n-h-one-two", 1),
        (2, "A/b: c", "n-h-a-b-c", 3),
        (2, "A/b: c", "n-h-a-b-c--2", 7),
    ]
    assert '<h1 id="n-h-one-two" dir="auto" data-line="1">One <em>two</em></h1>' in found.html
    assert '<p dir="auto" data-line="5">text</p>' in found.html


def test_blocks_of_a_right_to_left_script_begin_at_their_own_side():
    html = body(
        "> اقتباس\n\n> [!note] عنوان\n> نص\n\n- بند\n\n  فقرة\n- item\n- [ ] مهمة\n\n"
        "| أ | b |\n|---|---|\n| 1 | 2 |\n\nحاشية[^1]\n\n[^1]: `code` في\n"
    )
    for start in (
        "blockquote",
        'div class="callout" data-callout="note"',
        "li",
        "table",
        'li class="task"',
    ):
        assert re.search(rf'<{start} dir="rtl"', html), start
    assert '<li id="n-fn-1" dir="rtl">' in html
    assert '<li dir="auto" data-line="9">' in html
    assert 'dir="rtl"' not in body("> 1. quote كلمة\n\n| a | أ |\n|---|---|\n| ب | 2 |\n")


def test_a_wikilink_shows_its_text_and_leads_to_its_note():
    html = body("[[Other#Part|see this]] and [[Other]], [[None]]", Other="# Part")
    assert (
        f'<a class="internal" href="#/notes/{OTHER}" data-note="{OTHER}" data-path="Other.md"'
        ' data-anchor="n-h-part" rel="noopener noreferrer nofollow">'
        "see this</a>"
    ) in html
    assert '<a class="unresolved" data-target="None"' in html


def test_a_markdown_link_leads_to_its_note():
    html = body('[text](Other.md#part "tip")', Other="x")
    assert f'data-note="{OTHER}"' in html
    assert 'title="tip"' in html


def test_an_external_link_opens_in_a_new_tab_and_names_its_host():
    html = body("[text](https://user@Docs.example:8/a?b=1&c) and https://www.x.example/y_(z). End")
    assert (
        '<a class="external" href="https://user@Docs.example:8/a?b=1&amp;c" target="_blank"'
        ' data-host="docs.example" rel="noopener noreferrer nofollow">text</a>'
    ) in html
    assert ">https://www.x.example/y_(z)</a>. End" in html


@pytest.mark.parametrize(
    "address",
    ["javascript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd", "obsidian://x"],
)
def test_other_schemes_are_no_links(address: str):
    html = body(f"[text](<{address}>) <a href='{address}'>raw</a> <{address}>")
    assert "href" not in html
    assert "text" in html


def test_embedded_notes_open_in_place():
    html = body(
        "see ![[Other#B]] here", Other="# A\n\nno\n\n# B\n\nyes[^1]\n\n## C\n\nc\n\n[^1]: f"
    )
    assert f'<div class="embed" data-note="{OTHER}" data-path="Other.md">' in html
    read = Read(html)
    assert "yes" in read.text
    assert "no " not in read.text
    assert "c" in read.text
    assert 'id="n-e1-h-b"' in html
    assert html.startswith('<div class="paragraph"')


def test_a_block_is_embedded_by_its_id():
    notes = {"Other": "first\n\nsecond ^two\n\n- one ^li\n- two\n\n| a |\n|---|\n| b |\n\n^table\n"}
    text = Read(body("![[Other#^two]]", **notes)).text
    assert "second" in text
    assert "first" not in text
    assert "^" not in text.replace("two", "")
    item = body("![[Other#^li]]", **notes)
    assert "<ul>" in item
    assert "two" not in item
    assert "<table" in body("![[Other#^table]]", **notes)
    assert 'class="internal"' in body("![[Other#^none]]", **notes)


def test_a_circle_of_embeds_is_a_link():
    html = body("a ![[Other]]", Other="b ![[Here]] ![[Other]]")
    assert html.count('class="embed"') == 1
    assert html.count('class="internal"') == 3
    itself = body("# Part\n\n![[#Part]]")
    assert itself.count('class="embed"') == 1


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_embeds_end_at_their_depth(depth: int):
    notes = {"N1": "1 ![[N2]]", "N2": "2 ![[N3]]", "N3": "3 ![[N4]]", "N4": "4"}
    html = html_of("0 ![[N1]]", depth=depth, **notes).html
    assert html.count('class="embed"') == depth


def test_there_are_at_most_200_embeds():
    html = body("![[Other]]\n\n" * 500, Other="x")
    assert html.count('class="embed"') == 200
    assert html.count('class="paragraph"') == 200


def test_callouts_have_their_type_title_and_fold():
    html = body("> [!warning]- Mind *this*\n> body\n>\n> - x\n\n> [!tip]\n\n> [!a-b]+\n> c\n\n> no")
    assert '<div class="callout" data-callout="warning" data-fold="closed" data-line="1">' in html
    assert '<div class="callout-title" dir="auto">Mind <em>this</em></div>' in html
    assert '<div class="callout" data-callout="tip" data-line="6">' in html
    assert ">Tip</div>" in html
    assert 'data-fold="open"' in html
    assert ">A b</div>" in html
    assert html.count("<blockquote") == 1


def test_tasks_are_boxes_that_cannot_be_changed():
    html = body("- [ ] open\n- [x] done\n- [-] off\n- [link]\n\n1. [X] para\n\n   more\n")
    boxes = [attributes for tag, attributes in Read(html).elements if tag == "input"]
    assert all({"disabled", "type"} <= each.keys() for each in boxes)
    assert ["checked" in each for each in boxes] == [False, True, True, True]
    assert 'data-task="-"' in html
    assert "[link]" in html
    assert '<p dir="auto" data-line="6"><input' in html


def test_a_box_has_its_attributes_in_one_order():
    """The library that cleans HTML has another order in each instance."""
    found = set()
    for _ in range(20):
        sanitise._cleaner.cache_clear()
        found.add(sanitise.clean("<input type=text onfocus=x><input checked>"))
    assert found == {
        '<input disabled="" type="checkbox"><input checked="" disabled="" type="checkbox">'
    }


def test_what_obsidian_adds_to_markdown():
    html = body(
        "==mark **b**== a == b ~~del~~ #tag/sub #1 \\#no `#code` x%%hidden%%y\n\n%%\nc\n%%\n"
    )
    assert "<mark>mark <strong>b</strong></mark> a == b <del>del</del>" in html
    assert '<span class="tag" data-tag="tag/sub">#tag/sub</span> #1 #no' in html
    assert "<code>#code</code> xy" in html
    assert "hidden" not in html
    assert html.count("<p") == 1


def test_an_escape_after_a_hash_is_shown_without_its_backslash():
    assert Read(body("a #\\[n](x) #b\\_c")).text.split() == ["a", "#[n](x)", "#b_c"]


def test_math_is_text_for_the_page():
    html = body("$a<b$ and $$\\frac{1}{2}$$ costs $5 and $6")
    assert '<span class="math" data-display="false">a&lt;b</span>' in html
    assert '<span class="math" data-display="true">\\frac{1}{2}</span>' in html
    assert "costs $5 and $6" in html


def test_code_names_its_language():
    html = body('```py title="x"\nif a < b: [[c]] %%d%%\n```\n\n    indented\n')
    assert (
        '<div class="code" data-language="py" data-line="1"><pre><code class="language-py">'
        "if a &lt; b: [[c]] %%d%%\n</code></pre></div>"
    ) in html
    assert '<div class="code" data-language="" data-line="5"><pre><code>indented\n' in html


@pytest.mark.fault(
    "The web page",
    "footnotes in their place that never end, or within one another",
    "shown as written, in linear time",
)
def test_footnotes_may_be_written_in_their_place():
    found = body(
        "One^[with *more* [[Note]] and [x]] and [^a], two^[second].\n\n"
        "Not \\^[this], `^[nor this]`, ^[] or ^[open.\n\n[^a]: third",
        Note="x",
    )
    notes = found.partition('<section class="footnotes">')[2]
    assert re.findall(r'href="#n-fn-(\d)"', found) == ["1", "2", "3"]
    items = re.findall(r"<li.*?</li>", notes, re.DOTALL)
    texts = [re.sub(r"<[^>]+>|↩", "", each).strip() for each in items]
    assert texts == ["with more Note and [x]", "third", "second"]
    for text in ("^[this]", "<code>^[nor this]</code>", "^[]", "^[open."):
        assert text in found


def test_footnotes_are_numbered_in_their_order():
    html = body("b[^b] a[^a] b[^b] c[^c]\n\n[^a]: A\n[^b]: B *see*[^a]\n[^d]: never\n")
    assert html.count('href="#n-fn-1"') == 2
    assert '<li id="n-fn-1"><p dir="auto" data-line="4">B <em>see</em>' in html
    assert "[^c]" in html
    assert "never" not in html


def test_tables_keep_their_alignment():
    html = body("| a | b |\n|:--|--:|\n| [[Other\\|x]] | `y` |\n", Other="x")
    assert '<th align="left" dir="auto">a</th><th align="right" dir="auto">b</th>' in html
    assert ">x</a></td>" in html


def test_files_are_shown_by_signed_addresses():
    html = body(
        "![[a.png|Alt|30x40]] ![alt](b%20c.svg) ![[sound.mp3]] ![[film.mp4]] ![[paper.pdf]]"
        " [p](paper.pdf) ![[none.png]] <img src='folder/d.jpg' width=9 onerror=x>"
    )
    assert '<img class="image" src="/ui/files/a.png?k=1" alt="Alt" width="30" height="40"' in html
    assert 'src="/ui/files/b c.svg?k=1" alt="alt"' in html
    assert '<audio class="audio" src="/ui/files/sound.mp3?k=1" controls="" preload="none"' in html
    assert '<video class="video" src="/ui/files/film.mp4?k=1" controls' in html
    assert html.count('<a class="file" href="/ui/files/paper.pdf?k=1" target="_blank"') == 1
    assert html.count('<a class="file pdf" href="/ui/files/paper.pdf?k=1" target="_blank"') == 1
    assert '<span class="missing" data-target="none.png">none.png</span>' in html
    assert 'alt="d.jpg" width="9"' in html
    assert "onerror" not in html


@pytest.mark.parametrize(
    ("fragment", "place"),
    [
        ("page=3", "#page=3"),
        ("height=400&page=3", "#page=3"),
        ("page=3&height=400", "#page=3"),
        ("page=x", ""),
        ('page=3"onload=x', ""),
        ("height=400", ""),
    ],
)
def test_an_embedded_pdf_opens_at_its_page(fragment: str, place: str):
    html = body(f"![[paper.pdf#{fragment}]]")
    assert f'class="file pdf" href="/ui/files/paper.pdf?k=1{place}" target="_blank"' in html
    (embed,) = (each for name, each in Read(html).elements if name == "a")
    assert embed["data-fragment"] == fragment


def test_a_picture_of_another_server_is_never_loaded():
    html = body(
        "![cat](https://track.example/p.png) ![b](//t.example/q) ![c](data:image/png;base64,AA)"
        " <img src=https://raw.example/x alt=raw> ![[https://w.example/y.png]]"
    )
    read = Read(html)
    assert "src" not in {name for _, attributes in read.elements for name in attributes}
    assert (
        '<span class="remote" data-url="https://track.example/p.png" data-host="track.example">'
        "cat</span>"
    ) in html
    assert 'data-host="t.example"' in html
    assert 'data-host="raw.example">raw</span>' in html


def test_html_of_a_note_keeps_what_is_harmless():
    html = body(
        '<details class="toast"><summary>Sum</summary>\n\n**in**\n\n</details> <kbd>K</kbd>'
    )
    assert "<details><summary>Sum</summary>" in html
    assert "<strong>in</strong>" in html
    assert "<kbd>K</kbd>" in html
    assert "List&lt;Text&gt;" in body("a List<Text> b")
    assert "or Open it <b>now</b>." in body("or <button id=HH>Open it <b>now</b></button>.")
    assert Read(body("<center>\n<FORM action=x>\nText\n</FORM>\n</center>")).text.split() == [
        "Text"
    ]
    assert body("<script>alert(1)</script> after <style>x</style>").strip() == "after"
    assert Read(body("<!-- hidden -->\n\ntext")).text.strip() == "text"


def test_lines_are_counted_in_the_file_with_crlf():
    html = body("a\r\n\r\nb\r\n\r\n%%x%%\r\n\r\nc [[Other]]\r\n", Other="x")
    assert 'data-line="3">b<' in html
    assert 'data-line="7">c ' in html


def test_characters_that_stand_for_others_in_the_renderer_are_harmless():
    html = body("\ufdd1" + "0\ufdd2 \ufdd0 \ufdd3 [[Other]] \ufdd19\ufdd2", Other="x")
    assert Read(html).text.split() == [
        "\ufffd0\ufffd",
        "\ufffd",
        "\ufffd",
        "Other",
        "\ufffd9\ufffd",
    ]


@pytest.mark.fault(
    "The web page",
    "deep quotes, 500 embeds, a circle of embeds, a note over 1 MiB",
    "cut; 200; a link; `NOTE_TOO_LARGE_TO_RENDER`",
)
def test_deep_nesting_is_shown_without_its_marks():
    for text in ("> " * 10_000 + "deep", "*a " * 5_000, "- " * 5_000 + "deep", "[" * 20_000):
        assert Read(body(text)).open == []
    assert "deep" in body("> " * 10_000 + "deep")
