# SPDX-License-Identifier: Apache-2.0
"""Draw the plots of the page, where matplotlib is: `python plots.py kernels.json FOLDER`; prints their names."""

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib import pyplot as plt

matplotlib.use("Agg")
matplotlib.rcParams["svg.hashsalt"] = "kernels"  # the same file from the same figures
matplotlib.rcParams["svg.fonttype"] = "none"

COLOURS = {"gfx942": "#3b6ea5", "gfx950": "#c4622d"}


def ratios(rows: list[dict[str, Any]], other: str, called: str, path: Path) -> bool:
    """Issue cycles as a part of another's, one bar a case."""
    shown = [row for row in rows if row[f"{other}_ratio"] is not None]
    if not shown:
        return False
    labels = list(dict.fromkeys(f"{row['operation']} {row['dtype']} {row['shape']} {row['settings']}" for row in shown))
    figure, axes = plt.subplots(figsize=(9, 1.2 + 0.24 * len(labels)), layout="constrained")
    for number, arch in enumerate(sorted({row["arch"] for row in shown})):
        of_arch = {
            f"{row['operation']} {row['dtype']} {row['shape']} {row['settings']}": row[f"{other}_ratio"]
            for row in shown
            if row["arch"] == arch
        }
        places = [labels.index(label) + 0.4 * number - 0.2 for label in of_arch]
        axes.barh(places, list(of_arch.values()), height=0.4, label=arch, color=COLOURS[arch])
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set_yticks(range(len(labels)), labels, fontsize=7)
    axes.invert_yaxis()
    axes.set_xlabel(f"estimated issue cycles, ours / {called} (emulated, not hardware)")
    axes.legend()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    return True


def densities(rows: list[dict[str, Any]], path: Path) -> bool:
    """The matrix unit's share of the main loop, ours and the peer's."""
    shown = [row for row in rows if row["density"] is not None and row.get("peer_density") is not None]
    if not shown:
        return False
    labels = [f"{row['arch']} {row['peer'].split('@')[0]}" for row in shown]
    figure, axes = plt.subplots(figsize=(9, 1.2 + 0.3 * len(shown)), layout="constrained")
    places = range(len(shown))
    axes.barh([place - 0.2 for place in places], [row["density"] for row in shown], height=0.4, label="ours")
    axes.barh([place + 0.2 for place in places], [row["peer_density"] for row in shown], height=0.4, label="peer")
    axes.set_yticks(places, labels, fontsize=7)
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xlabel("matrix instructions, part of the main loop's issue cycles (static)")
    axes.legend()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    return True


def main() -> None:
    """Draw all three."""
    rows = json.loads(Path(sys.argv[1]).read_text())
    folder = Path(sys.argv[2])
    made = {
        "issue-cycles-triton": ratios(rows, "triton", "Triton", folder / "issue-cycles-triton.svg"),
        "issue-cycles-peer": ratios(rows, "peer", "the peer", folder / "issue-cycles-peer.svg"),
        "matrix-share": densities(rows, folder / "matrix-share.svg"),
    }
    print(" ".join(name for name, drawn in made.items() if drawn))


if __name__ == "__main__":
    main()
