"""Examples in docstrings become blocks of code: Markdown would read `>>>` as a quotation."""

from typing import Any

import griffe


class FencedExamples(griffe.Extension):
    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = with_fences(obj.docstring.value)


def with_fences(text: str) -> str:
    """An example goes from its first `>>>` to the next empty line."""
    lines: list[str] = []
    is_inside = False
    for line in [*text.splitlines(), ""]:
        if line.startswith(">>>") and not is_inside:
            lines += ["```pycon"] if not lines or not lines[-1] else ["", "```pycon"]
            is_inside = True
        elif is_inside and not line.strip():
            lines.append("```")
            is_inside = False
        lines.append(line)
    return "\n".join(lines[:-1])
