"""The code blocks of a Markdown page, each with the output that is shown below it."""

import re

BLOCK = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", flags=re.DOTALL)


def blocks(page: str) -> list[tuple[str, str]]:
    """Every Python block of a page, and what it prints, or "" if that is not shown."""
    return BLOCK.findall(page)
