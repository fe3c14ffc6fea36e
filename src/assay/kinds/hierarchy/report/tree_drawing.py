"""The picture of a tree: rows are levels, a cell is as wide as there are passages below its node.

Positions along a row are percentages, so that the picture fills its place at any width.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import groupby

from markupsafe import Markup

from assay.kinds.hierarchy.report.tree_data import TreeNode, TreeView
from assay.kinds.hierarchy.report.tree_wording import level_label, node_words
from assay.report import wording as say

STEPS = (0.0, 0.02, 0.05, 0.1, 0.25)  # the shares of error up to which a shade goes
NARROW = 80  # nodes of a level: where there are more, cells have no edges
NAMED = 5.0  # percent of the width: a cell as wide as this has its name in it
LABEL, HIGH, GAP = 28, 28, 10  # pixels: the words above a row, a row, the air below it

_OPEN = Markup('<svg class="icicle" width="100%" height="{}" role="group" aria-label="{}">')
_LABEL = Markup('<text class="level" x="0" y="{}">{}</text>')
_BAND = Markup('<rect class="rest" x="0" y="{}" width="100%" height="{}"/>')
_CELL = Markup(
    '<g class="cell {}" role="img" data-row="{}"><title>{}</title>'
    '<rect x="{:.3f}%" y="{}" width="{:.3f}%" height="{}"/>{}</g>'
)
_NAME = Markup('<text x="{:.2f}%" y="{}" text-anchor="middle">{}</text>')
_PASSED = Markup('<svg class="by" x="{:.3f}%" y="{}" overflow="visible"><path d="M-5 0h10l-5 8z"/></svg>')


def icicle(view: TreeView) -> Markup:
    """The whole tree, the root on top."""
    nodes = sorted(view.nodes, key=lambda node: (node.level, node.start))
    whole = max((node.start + node.wide for node in nodes), default=1)
    rows = {level: list(row) for level, row in groupby(nodes, key=lambda node: node.level)}
    sizes = [1, *(each.nodes for each in view.levels)]
    high = LABEL + HIGH + GAP
    parts = [_OPEN.format(len(sizes) * high, f"The tree of {view.arm}, one row per level")]
    for level, size in enumerate(sizes):
        top = level * high
        parts += [_LABEL.format(top + 13, level_label(view, level)), _BAND.format(top + LABEL, HIGH)]
        fine = " fine" if size > NARROW else ""
        parts += [_cell(node, whole, top + LABEL, fine) for node in rows.get(level, ())]
    return Markup().join(parts) + Markup("</svg>")


def step_of(node: TreeNode) -> str:
    """The shade of a node: its share of error in steps; of one where no query came, none."""
    return f"e{bisect_left(STEPS, node.lost / node.expanded)}" if node.expanded else "never"


def shades() -> list[tuple[str, str]]:
    """Every shade with what it stands for."""
    found, below = [("never", "no query came")], None
    for step, share in enumerate(STEPS):
        found.append((f"e{step}", "0" if below is None else f"up to {share:g}"))
        below = share
    return [*found, (f"e{len(STEPS)}", f"above {STEPS[-1]:g}")]


def _cell(node: TreeNode, whole: int, top: int, fine: str) -> Markup:
    """A node: half as high where few queries came, a sign above it where it was passed by."""
    left, wide = 100 * node.start / whole, 100 * node.wide / whole
    few = 0 < node.expanded < say.FEW
    y, high = (top + HIGH // 2, HIGH // 2) if few else (top, HIGH)
    more = _NAME.format(left + wide / 2, y + high // 2 + 4, node.node_id) if wide >= NAMED else Markup()
    if node.passed_by:
        more += _PASSED.format(left + wide / 2, top - 9)
    return _CELL.format(step_of(node) + fine, node.level, node_words(node), left, y, wide, high, more)
