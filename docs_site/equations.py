"""Equations become MathML while the site is built: browsers draw it, nothing is loaded for it.

A fenced block `math` holds LaTeX, as GitHub reads it too.
"""

import html
import re
from typing import Any

from latex2mathml.converter import convert
from pymdownx.slugs import slugify

PRIMED = re.compile(r"<msup>(<mi>[^<]*</mi>)<mi>&#x02032;</mi></msup>")


def on_config(config: Any) -> Any:
    fences = [{"name": "math", "class": "math", "format": typeset}]
    config.mdx_configs["pymdownx.superfences"] = {"custom_fences": fences}
    # Anchors as GitHub makes them, so that links work in both places.
    config.mdx_configs["toc"] = {"permalink": True, "slugify": slugify(case="lower")}
    return config


def typeset(source: str, *_: Any, **__: Any) -> str:
    """The equation as markup, with its LaTeX for who cannot see it."""
    # A prime is raised by itself: as an exponent it would float above its letter.
    drawn = PRIMED.sub(
        r'<mrow>\1<mo lspace="0" rspace="0">&#x02032;</mo></mrow>',
        convert(source.strip(), display="block"),
    )
    return f'<div class="equation" aria-label="{html.escape(source.strip())}">{drawn}</div>'
