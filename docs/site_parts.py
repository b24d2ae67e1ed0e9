"""What the documentation site needs beside Sphinx: declared parts of pages, formulas without a network, tables."""

import html
import re
from pathlib import Path
from typing import Any

import declared
import latex2mathml.converter
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ROW = re.compile(r"^\s*\|(.*)\|\s*$")


class Declared(SphinxDirective):
    """``{declared} what name``: what :mod:`declared` says of a name."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """The parsed Markdown; rebuilt whenever the code that declares things changes."""
        what, *names = self.arguments[0].split()
        self.env.note_dependency(declared.__file__)
        return self.parse_text_to_nodes(getattr(declared, what)(*names))


def formula(self: Any, node: nodes.math | nodes.math_block) -> None:
    """A formula as MathML, which browsers draw themselves: pages need no script from a network."""
    display = "block" if isinstance(node, nodes.math_block) else "inline"
    written = latex2mathml.converter.convert(node.astext(), display=display)
    tag = "div" if display == "block" else "span"
    label = html.escape(node.astext(), quote=True)
    self.body.append(self.starttag(node, tag, "", CLASS="math notranslate", title=label) + written + f"</{tag}>")
    raise nodes.SkipNode


def tables(_app: Sphinx, _what: str, _name: str, _obj: object, _options: Any, lines: list[str]) -> None:
    """Turn the Markdown tables of docstrings, which read well in a terminal, into tables of reStructuredText."""
    out: list[str] = []
    for line in lines:
        found = ROW.match(line)
        if found is None:
            out.append(line)
            continue
        cells = [cell.strip() for cell in found[1].split("|")]
        if set("".join(cells)) <= set("-:"):
            continue
        if not (out and out[-1].startswith("     - ")):
            out += ["", ".. list-table::", "   :header-rows: 1", ""]
        out += [f"   * - {cells[0]}", *(f"     - {cell}" for cell in cells[1:])]
    lines[:] = out


def links_out_of_the_site(app: Sphinx, doc: str, source: list[str]) -> None:
    """Pages that GitHub shows too link to files of the repository that are no pages: name these instead."""
    here = Path(app.env.doc2path(doc)).parent

    def keep(match: re.Match[str]) -> str:
        target = match[2].split("#")[0]
        inside = (here / target).resolve().is_relative_to(Path(app.srcdir)) and (here / target).exists()
        return match[0] if inside or "://" in target or not target else f"{match[1]}"

    if doc in app.config.shared_pages:
        source[0] = re.sub(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)", keep, source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Register everything."""
    app.add_config_value("shared_pages", [], "env")
    app.add_directive("declared", Declared)
    app.add_html_math_renderer("mathml", inline_renderers=(formula, None), block_renderers=(formula, None))
    app.connect("autodoc-process-docstring", tables)
    app.connect("source-read", links_out_of_the_site)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
