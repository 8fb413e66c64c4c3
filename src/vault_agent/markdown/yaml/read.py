"""Reads the YAML of frontmatter as nodes with their places.

No constructor runs, so that scalars stay as written and values which no constructor reads
(`{{date}}`) pass through.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml
from frontmatter.default_handlers import YAMLHandler

from vault_agent.markdown.lines import line_ends, with_line_ends
from vault_agent.markdown.yaml.values import NULLS, Scalar

if TYPE_CHECKING:
    from vault_agent.markdown.yaml.values import Value

    _Base = yaml.SafeLoader
else:
    _Base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

MAX_DEPTH = 100
FIRST_LINE = 2
"""The line of a file at which its YAML starts. The opening fence is the first one."""
PLAIN = "plain"
"""The tag of a scalar without quotes and without a tag of its own."""
_MAX_CUTS = 3


class UnreadableYaml(Exception):
    """The YAML of a block cannot be read. `problem` quotes nothing of it.

    `offset` is about where it is, and `context` is where the value starts that has the problem.
    """

    def __init__(self, problem: str, offset: int | None = None, context: int | None = None) -> None:
        super().__init__(problem)
        self.problem, self.offset, self.context = problem, offset, context


class _Loader(_Base):
    """A loader that returns nodes, and counts their depth before it goes deeper."""

    depth = 0

    def get_single_data(self) -> yaml.Node | None:
        """Return the node of the only document."""
        node: yaml.Node | None = self.get_single_node()
        return node

    def resolve(self, kind: type[yaml.Node], _value: Any, implicit: Any) -> str:
        """Return the tag of a node without a tag."""
        return PLAIN if kind is yaml.ScalarNode and implicit[0] else ""

    def descend_resolver(self, parent: yaml.Node | None, _index: Any) -> None:
        """Count a level of nesting."""
        self.depth += 1
        if self.depth > MAX_DEPTH and parent is not None:
            raise UnreadableYaml("nested too deeply", parent.start_mark.index)

    def ascend_resolver(self) -> None:
        """Leave a level of nesting."""
        self.depth -= 1


def compose(text: str) -> yaml.Node | None:
    """Return the root node of a block, or None if the block is empty.

    Raises:
        UnreadableYaml: if it is not valid YAML, is nested over 100 levels deep, or has anchors or
            aliases. A few of these can make a value of any size.
    """
    try:
        if "&" in text or "*" in text:
            for event in yaml.parse(text, Loader=_Loader):
                if isinstance(event, yaml.NodeEvent) and event.anchor is not None:
                    raise UnreadableYaml(
                        "anchors and aliases are not read", _index(event, "start_mark")
                    )
        node: yaml.Node | None = YAMLHandler().load(text, Loader=_Loader)
    except (yaml.YAMLError, ValueError) as error:  # the reader rejects half of a character
        # A character that the reader rejects has a position instead of a mark.
        offset = _index(error, "problem_mark", getattr(error, "position", None))
        raise UnreadableYaml("not valid YAML", offset, _index(error, "context_mark")) from None
    return node


def _index(source: object, name: str, default: int | None = None) -> int | None:
    mark: Any = getattr(source, name, None)
    return default if mark is None else int(mark.index)


def line_of(text: str, offset: int) -> int:
    """Return the line in the file of an offset of its YAML."""
    return FIRST_LINE + line_ends(text[:offset])


def load(text: str) -> tuple[Value, str | None]:
    """Return the value of a block as written, and why some of it could not be read.

    Of a key that is given twice the first value counts. Top-level keys are lower case, because
    Obsidian compares them so. Lines before an error are kept.
    """
    problem: str | None = None
    readable = text
    for _ in range(_MAX_CUTS):
        try:
            node = compose(readable)
        except UnreadableYaml as error:
            if problem is None:
                has_line = error.problem == "not valid YAML" and error.offset is not None
                line = f" (line {line_of(text, error.offset or 0)})" if has_line else ""
                problem = error.problem + line
            readable = _before_error(readable, error)
        else:
            reader = Reader()
            value = None if node is None else reader.value(node, fold=True)
            return value, problem or next(iter(reader.problems), None)
    return None, problem


def _before_error(text: str, error: UnreadableYaml) -> str:
    """Return the lines before an error, or before the value that is not closed at the end."""
    lines = with_line_ends(text)
    for offset in (error.offset, error.context):
        start = lines.rfind("\n", 0, offset or 0) + 1
        if start < len(text.rstrip()):
            return text[:start]
    return ""


class Reader:
    """Turns nodes into values. `problems` says what was left out.

    Lines and columns are those of YAML: U+0085, U+2028 and U+2029 end a line, too.
    """

    def __init__(self) -> None:
        self.problems: list[str] = []

    def value(self, node: yaml.Node, *, fold: bool = False) -> Value:
        """Return the value of a node. With `fold`, its own keys become lower case."""
        if isinstance(node, yaml.ScalarNode):
            plain = node.tag == PLAIN
            if plain and node.value in NULLS:
                return None
            start = node.start_mark
            line, column = start.line + FIRST_LINE, start.column + 1
            end = node.end_mark.index
            return Scalar.at(node.value, line, column, start.index, end, plain=plain)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item) for item in node.value]
        values: dict[str, Value] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.problems.append("a key is not plain text")
                continue
            name = key.value.lower() if fold else key.value
            if name in values:
                line = key.start_mark.line + FIRST_LINE
                self.problems.append(f"a key is given twice (line {line})")
            else:
                values[name] = self.value(value)
        return values
