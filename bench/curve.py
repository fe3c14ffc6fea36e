"""Cost against corpus size as a picture, from the last `make bench`: python -m bench.curve."""

from __future__ import annotations

import json

from bench.retrieval import RESULTS
from bench.size import PICTURES

PICTURE = PICTURES / "cost.png"
# Okabe and Ito's colours, each with a line of its own
STYLES = {
    "ours": ("#0072B2", "-", "o", "assay hybrid"),
    "bm25s + numpy": ("#E69F00", "--", "s", "bm25s + numpy, vectors given"),
    "faiss flat": ("#009E73", ":", "^", "faiss flat, vectors given, no words"),
}
PANELS = (
    ("build_s", "Building an index, seconds"),
    ("p50_ms", "One query, median, milliseconds"),
    ("p95_ms", "One query, 95th percentile, milliseconds"),
)


def draw() -> None:
    from matplotlib import pyplot as plt
    from matplotlib.ticker import LogLocator

    table = json.loads(RESULTS.read_text())
    sizes = [int(n) for n in table]
    figure, axes = plt.subplots(1, len(PANELS), figsize=(12, 3.6), constrained_layout=True)
    for axis, (key, title) in zip(axes, PANELS, strict=True):
        for party, (colour, line, mark, label) in STYLES.items():
            if party not in table[str(sizes[0])]:  # left out of a small run
                continue
            values = [table[str(n)][party][key] for n in sizes]
            axis.plot(sizes, values, color=colour, linestyle=line, marker=mark, label=label)
        axis.set(xscale="log", yscale="log", xlabel="passages of about 100 tokens", title=title)
        axis.set_xticks(sizes, [f"{n // 1000}k" for n in sizes])
        axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.yaxis.set_major_formatter("{x:g}")
        axis.minorticks_off()
        axis.grid(color="#e2e5e8")
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].legend(frameon=False, fontsize=8)
    figure.savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    draw()
