"""Sphinx extensions of this site: declared parts of pages, formulas without a network, tables."""

import html
import re
from pathlib import Path
from typing import Any

import declared
import latex2mathml.converter
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

SHORT = 45  # characters
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")
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
    """GitHub shows these pages too. There they link to files of the repository, which are other pages here, or none."""
    folder, site = Path(app.env.doc2path(doc)).parent, Path(app.srcdir)

    def here(match: re.Match[str]) -> str:
        text, target = match.groups()
        file = (folder / target.split("#")[0]).resolve()
        if "://" in target or target.startswith("#") or not file.exists() or file.is_relative_to(site):
            return match[0]
        page = site / f"{file.stem.lower()}.md"  # CHANGELOG.md is included by changelog.md
        return f"[{text}](/{page.name})" if page.exists() else text

    source[0] = LINK.sub(here, source[0])


def mark_short_cells(_app: Sphinx, doctree: nodes.document, _doc: str) -> None:
    """Tables of numbers and names get the class "short": their cells do not break (wide.css)."""
    for each in doctree.findall(nodes.table):
        if max(len(entry.astext()) for entry in each.findall(nodes.entry)) <= SHORT:
            each["classes"].append("short")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register everything."""
    app.add_directive("declared", Declared)
    app.add_html_math_renderer("mathml", inline_renderers=(formula, None), block_renderers=(formula, None))
    app.connect("autodoc-process-docstring", tables)
    app.connect("doctree-resolved", mark_short_cells)
    app.connect("source-read", links_out_of_the_site)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
