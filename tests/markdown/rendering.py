"""Renders a text as the only note of a vault, and reads the HTML strictly."""

from __future__ import annotations

from html.parser import HTMLParser

from vault_agent.markdown.render import Html, Source, Vault, render
from vault_agent.markdown.tree import build
from vault_agent.model.identifiers import identify
from vault_agent.model.link_resolver import LinkResolver
from vault_agent.model.pages import LinkedFile

VOID = {"br", "hr", "img", "input", "wbr", "col"}


def html_of(text: str, path: str = "Here.md", depth: int = 3, **notes: str) -> Html:
    """Render a text. `notes` are the other notes, by their names without `.md`."""
    texts = {path: text, **{f"{name}.md": each for name, each in notes.items()}}
    trees = {each: build(body) for each, body in texts.items()}
    files = ["a.png", "b c.svg", "sound.mp3", "film.mp4", "paper.pdf", "folder/d.jpg"]
    resolver = LinkResolver([(each, ()) for each in texts], files)
    links = {}
    for source, tree in trees.items():
        for target in tree.links:
            found = resolver.resolve(source, target.target, target.kind)
            if found.path is not None:
                note = identify(found.path) if found.is_note else None
                links[source, target.target, target.kind] = LinkedFile(found.path, note)
    sources = {each: Source(tree, identify(each), each[:-3]) for each, tree in trees.items()}
    vault = Vault(links, sources, lambda each: f"/ui/files/{each}?k=1")
    return render(trees[path], path, vault, depth=depth)


class Read(HTMLParser):
    """Every element with its attributes, the links by their text, and the text that is seen."""

    def __init__(self, html: str):
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.comments: list[str] = []
        self.open: list[str] = []
        self.pieces: list[str] = []
        self.links: list[tuple[str, str]] = []
        self.headings: list[tuple[int, str]] = []
        self.code: list[str] = []
        self._marks: list[int] = []
        self.feed(html)
        self.close()

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
            self._marks.append(len(self.pieces))
        if tag in ("br", "p", "li", "div", "td", "th", "tr", "hr"):
            self.pieces.append(" ")

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> without a start"
        assert self.open.pop() == tag
        inner = "".join(self.pieces[self._marks.pop() :])
        if tag == "a":
            attributes = next(a for t, a in reversed(self.elements) if t == "a")
            self.links.append((" ".join(inner.split()), attributes.get("href") or ""))
        elif tag[0] == "h" and tag[1:].isdigit():
            self.headings.append((int(tag[1]), " ".join(inner.split())))
        elif tag == "code":
            self.code.append(inner)
        if tag in ("p", "li", "div", "td", "th", "tr") or (tag[0] == "h" and tag != "html"):
            self.pieces.append(" ")

    def handle_data(self, data):
        self.pieces.append(data)

    def handle_comment(self, data):
        self.comments.append(data)

    def handle_decl(self, decl):
        raise AssertionError("a declaration")

    def handle_pi(self, data):
        raise AssertionError("a processing instruction")

    def unknown_decl(self, data):
        raise AssertionError("a declaration")
