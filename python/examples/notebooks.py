# SPDX-License-Identifier: MIT
"""Notebooks from the scripts here: notebooks.py writes NAME.ipynb for every NAME.py with cells (# %%)."""
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def scripts():
    return sorted(p for p in HERE.glob("*.py") if p.read_text().startswith("# %%"))


def notebook(script):
    cells = []
    for number, part in enumerate(script.read_text().split("# %%")[1:]):
        head, _, body = part.partition("\n")
        text = body.strip("\n")
        cell = {"cell_type": "code", "id": f"cell{number}", "metadata": {}, "source": text.splitlines(True)}
        if "[markdown]" in head:
            lines = [line[2:] if line.startswith("# ") else line.lstrip("#") for line in text.splitlines()]
            cell.update(cell_type="markdown", source="\n".join(lines).splitlines(True))
        else:
            cell.update(execution_count=None, outputs=[])
        cells.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return json.dumps({"cells": cells, "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
                       "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


if __name__ == "__main__":
    for script in scripts():
        script.with_suffix(".ipynb").write_text(notebook(script))
        print(script.with_suffix(".ipynb").name, file=sys.stderr)
