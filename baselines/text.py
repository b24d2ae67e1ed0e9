"""Text that comes from elsewhere (a folder of results, users' code), made safe to show.

Names of tasks and labels of principals are data: whatever they contain, a terminal, a page or a Markdown file shows
them as text. HTML is escaped by its template, LaTeX by :func:`baselines.benchmark.tables.escaped`.
"""

import re

ACTIVE = re.compile(r"[\\`*~$|<&]|\](?=\()|://|www\.|(?<![^\W_])_|_(?![^\W_])")  # in Markdown
ESCAPES = {"<": "&lt;", "&": "&amp;", "www.": "www\\."}  # of others: a backslash before them


def plain(text: str, keep: str = "") -> str:
    r"""Return a text with escapes for what is not printable: codes of terminals, line ends, marks of direction.

    >>> plain("a\x1b[2Jb\n")
    'a\\x1b[2Jb\\n'

    Args:
        text: of any origin.
        keep: characters that stay as they are: a newline in texts of several lines.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text)


def in_markdown(text: str) -> str:
    r"""Return a text as Markdown that shows it on one line: without markup, links, images or HTML.

    >>> in_markdown("![x](http://a.b) <b> R_T |")
    '![x\\](http\\://a.b) &lt;b> R_T \\|'
    """
    return ACTIVE.sub(lambda sign: ESCAPES.get(sign[0], f"\\{sign[0]}"), plain(text))
