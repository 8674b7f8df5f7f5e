"""Small sets of invented tools and queries, written as the benchmark of retrieval reads them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from tooldrawer.tool import Json

TOOLS: Sequence[Mapping[str, Json]] = (
    {"name": "cut_wood", "description": "Cut a board of wood.", "server": "shed"},
    {"name": "glue_wood", "description": "Glue two boards together."},
    {"name": "bake_bread", "description": "Bake a loaf.", "parameters": {"type": "object"}},
    {"name": "slice_bread", "description": "Cut a loaf into slices.", "parameters": None},
)
QUERIES: Sequence[Mapping[str, Json]] = (
    {"query": "saw a board", "relevant": ["cut_wood"], "kind": "step"},
    {"query": "bake a loaf, cut it", "relevant": ["bake_bread", "slice_bread"], "kind": "task"},
    {
        "query": "join boards, or bread",
        "relevant": ["glue_wood", "bake_bread", "slice_bread"],
        "groups": [["glue_wood"], ["bake_bread", "slice_bread"]],
        "kind": "task",
    },
    {"query": "fly me to the moon", "relevant": [], "kind": "nobody"},
)
OWN = (
    "phrase\tshed/cut\tcut a board",
    "several\tshed/cut|barn/cut + barn/feed\tcut hay and feed the cows",
    "de\tbarn/feed\tKühe füttern",
    "fr\tbarn/feed\tnourrir les vaches",
    "nobody\t-\tfly me to the moon",
)


def lines(*rows: Mapping[str, Json]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def write_set(
    folder: Path,
    tools: Sequence[Mapping[str, Json]] = TOOLS,
    queries: Sequence[Mapping[str, Json]] = QUERIES,
) -> Path:
    folder.mkdir(parents=True)
    (folder / "tools.jsonl").write_text(lines(*tools), encoding="utf-8")
    (folder / "queries.jsonl").write_text(lines(*queries), encoding="utf-8")
    return folder


def write_catalogs(folder: Path) -> Path:
    folder.mkdir()
    shed = [{"name": "cut", "description": "Cut a board."}]
    barn = [{"name": "cut", "description": "Mow grass."}, {"name": "feed", "description": "Cows."}]
    # The name in the file is not the file's: labels go by the file's.
    (folder / "shed.json").write_text(json.dumps({"server": "Tool Shed", "tools": shed}), "utf-8")
    (folder / "barn.json").write_text(json.dumps(barn), "utf-8")
    return folder


def write_own(file: Path, *rows: str) -> Path:
    file.write_text("\n".join(rows or OWN), encoding="utf-8")
    return file
