"""Names in the handbook's text lead to the reference: `Rod.straight`, `sn.record`, `scene.settle()`, but for titles.

A Sphinx extension. In docstrings, single backticks mark arguments as well as names: what is public leads to its page,
the rest is code.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

NAME = re.compile(r"(?P<path>(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)(?:\(.*\))?")
PREFIXES = {"sn": "sennit", "scene": "sennit.Scene", "batch": "sennit.Batch", "sennit": "sennit"}


def full_name(text: str) -> str | None:
    """The name that a piece of code in a text stands for: ``sn.Rod`` and ``Rod`` are ``sennit.Rod``."""
    match = NAME.fullmatch(text)
    if match is None:
        return None
    head, dot, rest = match["path"].partition(".")
    if dot and head in PREFIXES:
        return f"{PREFIXES[head]}.{rest}"
    return f"sennit.{match['path']}" if head[0].isupper() else None


class LinkNames(SphinxPostTransform):
    """Make code that is a public name a link to the reference."""

    default_priority = 20

    def run(self, **options: Any) -> None:
        """Look at all code in the page's text."""
        domain = self.env.domains.python_domain
        for literal in list(self.document.findall(nodes.literal)):
            name = full_name(literal.astext())
            if name is None or name not in domain.objects or self._stands_where_links_do_not(literal):
                continue
            entry = domain.objects[name]
            if entry.docname == self.env.docname:
                continue
            parent = literal.parent
            link = make_refnode(
                self.app.builder, self.env.docname, entry.docname, entry.node_id, literal.deepcopy(), name
            )  # fmt: skip
            parent.replace(literal, link)

    @staticmethod
    def _stands_where_links_do_not(node: nodes.Node) -> bool:
        while node.parent is not None:
            node = node.parent
            if isinstance(node, nodes.title | nodes.reference):
                return True
        return False


def setup(app: Sphinx) -> dict[str, Any]:
    """Link names once all pages are read."""
    app.add_post_transform(LinkNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
