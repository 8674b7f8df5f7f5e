"""What is trained on: public sets, and our own queries over recorded catalogs."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

from tooldrawer.search.bm25 import BM25
from tooldrawer.search.query import read
from tooldrawer.search.spelling import Spelling
from tooldrawer.tool import Tool

HERE = Path(__file__).parent
TRAINED = ("bfcl_multiturn", "bfcl_static", "metatool", "sealtools", "stabletoolbench")
"""The other public sets (apibank, azure_mcp, livemcpbench, toolalpaca) are kept to measure with."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A query; each need lists the positions of the tools that serve it."""

    text: str
    needs: tuple[tuple[int, ...], ...]
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Set:
    """Tools and the queries over them."""

    name: str
    tools: tuple[Tool, ...]
    queries: tuple[Asked, ...]


def public(folder: Path) -> Set:
    """A set in the JSON-lines form of the data folder."""
    tools = tuple(
        Tool(
            name=row["name"],
            description=row.get("description") or "",
            parameters=row.get("parameters") or {},
            source=row.get("server") or "",
        )
        for row in _rows(folder / "tools.jsonl")
    )
    positions = {tool.name: at for at, tool in enumerate(tools)}
    queries: list[Asked] = []
    for row in _rows(folder / "queries.jsonl"):
        groups = row.get("groups") or [[name] for name in row["relevant"]]
        needs = [tuple(positions[n] for n in group if n in positions) for group in groups]
        queries.append(Asked(row["query"], tuple(filter(None, needs)), row.get("kind") or ""))
    return Set(folder.name, tools, tuple(queries))


def catalogs(folder: Path, *files: Path) -> Set:
    """Recorded `tools/list` answers, with our own queries over them."""
    tools: list[Tool] = []
    for path in sorted(folder.glob("*.json")):
        listed = json.loads(path.read_text("utf-8"))["tools"]
        tools.extend(Tool.from_mcp(definition, source=path.stem) for definition in listed)
    positions = {f"{tool.source}/{tool.name}": at for at, tool in enumerate(tools)}
    return _labelled(Set("catalogs", tuple(tools), ()), files, positions)


def widened(pool: Set, *files: Path) -> Set:
    """A public pool of tools with our own queries over it."""
    return _labelled(pool, files, {tool.name: at for at, tool in enumerate(pool.tools)})


def in_english(one: Set) -> Set:
    """The set with every query as the encoder will read it: translated, spelling corrected."""
    index = BM25.over(one.tools)
    spelling = Spelling((stem, index.written(stem)) for stem in index.stems())
    queries: list[Asked] = []
    for asked in one.queries:
        found = read(asked.text, knows=index.has, corrected=spelling.corrected)
        is_foreign = len(asked.kind) == 2
        if not is_foreign:
            queries.append(asked)
        elif found.language != "en":
            queries.append(replace(asked, text=found.text))
    return replace(one, queries=tuple(queries))


def _labelled(one: Set, files: tuple[Path, ...], positions: dict[str, int]) -> Set:
    queries = list(one.queries)
    for path in files:
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if not line.strip():
                continue
            try:
                kind, labels, text = line.split("\t")
                groups = [] if labels == "-" else labels.split(" + ")
                needs = [tuple(positions[name] for name in group.split("|")) for group in groups]
            except (KeyError, ValueError) as error:
                raise SystemExit(f"{path}:{number}: {error!r} in {line!r}") from error
            queries.append(Asked(text, tuple(needs), kind))
    return replace(one, queries=tuple(queries))


def _rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]  # type: ignore[no-any-return]
