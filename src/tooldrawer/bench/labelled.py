"""Sets to measure a search on: tools, and queries labelled with the tools that serve them."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import cast

from tooldrawer.bench.scores import Need
from tooldrawer.catalog import Catalog
from tooldrawer.errors import ConfigError
from tooldrawer.recorded import StaticToolset
from tooldrawer.tool import NO_PARAMETERS, UPSTREAM_PREFIX, Json, JsonObject, Tool

LANGUAGES = "languages"
"""The kind of all queries whose own kind is a language's two letters."""
_LANGUAGE = re.compile(r"[a-z]{2}")
_TOOLS, _QUERIES = "tools.jsonl", "queries.jsonl"
_NOBODY = "-"
_COLUMNS = ("kind", "labels", "query")

Labels = Mapping[str, Need]
"""The tools that each label means, by their names in the catalog."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A query, and what it needs."""

    text: str
    needs: tuple[Need, ...] = ()
    """The tools that serve each need, by their names in the catalog; none when nobody serves it."""
    kind: str = ""

    def is_of(self, kind: str) -> bool:
        """Whether it counts for the kind."""
        return kind == self.kind or (kind == LANGUAGES and bool(_LANGUAGE.fullmatch(self.kind)))


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledSet:
    """Tools, and queries over them."""

    name: str
    catalog: Catalog
    queries: tuple[Asked, ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of its queries, in their order; the languages are summed last."""
        found = dict.fromkeys(asked.kind for asked in self.queries if asked.kind)
        if any(asked.is_of(LANGUAGES) for asked in self.queries):
            found[LANGUAGES] = None
        return tuple(found)

    def of(self, kinds: Collection[str]) -> "LabelledSet":
        """The set with the queries of these kinds only."""
        kept = (asked for asked in self.queries if any(map(asked.is_of, kinds)))
        return replace(self, queries=tuple(kept))

    def sampled(self, most: int) -> "LabelledSet":
        """The set with every k-th query, so that at most `most` remain."""
        step = -(-len(self.queries) // most)
        return replace(self, queries=self.queries[:: max(step, 1)])


def chosen(
    sets: Sequence[LabelledSet], kinds: Collection[str] = (), sample: int | None = None
) -> list[LabelledSet]:
    """The sets as they are measured: with the queries of some kinds, and a sample of those.

    Raises:
        ConfigError: No set has a query of one of the kinds.
    """
    known = dict.fromkeys(kind for one in sets for kind in one.kinds)
    for kind in kinds:
        if kind not in known:
            there = f"there are {', '.join(known)}" if known else "the queries have no kinds"
            raise ConfigError(f"No query is of the kind {kind!r}; {there}.")
    found = [one.of(kinds) for one in sets] if kinds else list(sets)
    return [one.sampled(sample) if sample else one for one in found if one.queries]


def load(
    *,
    data: Path | None = None,
    catalog: Path | None = None,
    queries: Path | None = None,
    names: Collection[str] = (),
) -> list[LabelledSet]:
    """The sets at `data`, and those of our own queries over the recorded lists at `catalog`.

    `data` is a set or a folder of sets; `queries` is a file, or a folder of `*.tsv` files, each a
    set. With `names`, only these are read.

    Raises:
        CatalogFileError: The recorded lists cannot be read.
        ConfigError: There is nothing there, or no set of such a name, or one is not written right.
    """
    folders = _folders(data) if data else {}
    files = _files(queries) if queries else {}
    for name in names:
        if name not in folders and name not in files:
            there = ", ".join({**folders, **files})
            raise ConfigError(f"There is no set {name!r}; there are {there}.")
    found = [
        _public(name, folder) for name, folder in folders.items() if not names or name in names
    ]
    ours = {name: file for name, file in files.items() if not names or name in names}
    if catalog and ours:
        tools, labels = _recorded(catalog)
        found += [
            LabelledSet(name=name, catalog=tools, queries=_own_queries(file, labels))
            for name, file in ours.items()
        ]
    return found


def _folders(place: Path) -> dict[str, Path]:
    """The sets at a place, by name."""
    try:
        inside = sorted(each for each in place.iterdir() if each.is_dir())
    except OSError as error:
        raise ConfigError(f"{place}: cannot be read: {error.strerror}.") from error
    found = [each for each in ([place] if _is_set(place) else inside) if _is_set(each)]
    if not found:
        raise ConfigError(
            f"{place}: has no set; expected {_TOOLS} and {_QUERIES} in it, or in folders in it."
        )
    return {each.resolve().name: each for each in found}


def _is_set(folder: Path) -> bool:
    return (folder / _TOOLS).is_file() or (folder / _QUERIES).is_file()


def _files(place: Path) -> dict[str, Path]:
    """The files of our own queries at a place, by name."""
    found = sorted(place.glob("*.tsv")) if place.is_dir() else [place]
    if not found:
        raise ConfigError(f"{place}: has no *.tsv file with queries.")
    return {file.stem: file for file in found}


def _public(name: str, folder: Path) -> LabelledSet:
    tools: dict[str, Tool] = {}
    for where, row in _objects(folder / _TOOLS):
        tool = _tool(row, where)
        if tool.name in tools:
            raise ConfigError(f"{where}: is a second tool {tool.name!r}; labels could mean both.")
        tools[tool.name] = tool
    if not tools:
        raise ConfigError(f"{folder / _TOOLS}: has no tools, so there is nothing to find.")
    labels = {label: frozenset({label}) for label in tools}
    queries = [_query(row, labels, where) for where, row in _objects(folder / _QUERIES)]
    return LabelledSet(
        name=name,
        catalog=Catalog(tools.values()),
        queries=_some(queries, folder / _QUERIES),
    )


def _tool(row: JsonObject, where: str) -> Tool:
    server, parameters = _text(row, "server", where), row.get("parameters")
    if not isinstance(parameters, Mapping | None):
        raise ConfigError(f"{where}: 'parameters' is no JSON schema in an object.")
    return Tool(
        name=_needed(row, "name", where),
        description=_text(row, "description", where),
        parameters=cast("JsonObject", parameters) or NO_PARAMETERS,
        source=f"{UPSTREAM_PREFIX}{server}" if server else "",
    )


def _query(row: JsonObject, labels: Labels, where: str) -> Asked:
    relevant, groups = _list(row.get("relevant")), _list(row.get("groups") or [])
    if relevant is None:
        raise ConfigError(
            f"{where}: 'relevant' is no list of tools' names; it is [] where nobody serves a query."
        )
    if groups is None or not all(map(_list, groups)):
        raise ConfigError(
            f"{where}: 'groups' is no list with a list of tools' names for each need."
        )
    if groups and not relevant:
        raise ConfigError(f"{where}: 'groups' has needs, but by 'relevant' nobody serves any.")
    alone = dict.fromkeys(_need([label], labels, where) for label in relevant)
    needs = (_need(_list(group) or (), labels, where) for group in groups)
    return Asked(
        text=_needed(row, "query", where),
        needs=tuple(needs) if groups else tuple(alone),
        kind=_text(row, "kind", where),
    )


def _recorded(catalog: Path) -> tuple[Catalog, Labels]:
    """All recorded tools; a label is a list's file name with what the server calls the tool."""
    toolsets = StaticToolset.load_all(catalog)
    files = sorted(catalog.glob("*.json")) if catalog.is_dir() else [catalog]
    servers = [
        file.stem for file, toolset in zip(files, toolsets, strict=True) for _ in toolset.tools()
    ]
    tools = Catalog(tool for toolset in toolsets for tool in toolset.tools())
    if not servers:
        raise ConfigError(f"{catalog}: has no tools, so there is nothing to find.")
    labels: dict[str, Need] = {}
    for server, tool in zip(servers, tools, strict=True):
        label = f"{server}/{tool.local_name}"
        labels[label] = labels.get(label, frozenset()) | {tool.name}
    return tools, labels


def _own_queries(file: Path, labels: Labels) -> tuple[Asked, ...]:
    queries: list[Asked] = []
    for where, line in _lines(file):
        columns = [column.strip() for column in line.split("\t")]
        if len(columns) != len(_COLUMNS) or not all(columns):
            raise ConfigError(f"{where}: is not {', '.join(_COLUMNS)} with tabs between.")
        kind, labelled, text = columns
        groups = [] if labelled == _NOBODY else labelled.split(" + ")
        needs = (_need(map(str.strip, group.split("|")), labels, where) for group in groups)
        queries.append(Asked(text=text, needs=tuple(needs), kind=kind))
    return _some(queries, file)


def _need(alternatives: Iterable[Json], labels: Labels, where: str) -> Need:
    found: Need = frozenset()
    for label in alternatives:
        if not isinstance(label, str) or label not in labels:
            near = get_close_matches(str(label), labels, n=1)
            hint = f"the nearest is {near[0]!r}" if near else "check the label, or the tools"
            raise ConfigError(f"{where}: no tool is labelled {label!r}; {hint}.")
        found |= labels[label]
    return found


def _some(queries: Sequence[Asked], file: Path) -> tuple[Asked, ...]:
    if not queries:
        raise ConfigError(f"{file}: has no queries, so there is nothing to measure.")
    return tuple(queries)


def _objects(file: Path) -> Iterator[tuple[str, JsonObject]]:
    for where, line in _lines(file):
        try:
            row = cast("Json", json.loads(line))
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{where}: is not JSON: {error}.") from error
        if not isinstance(row, Mapping):
            raise ConfigError(f"{where}: is JSON, but not an object.")
        yield where, cast("JsonObject", row)


def _lines(file: Path) -> Iterator[tuple[str, str]]:
    """The lines of a file that are not empty, each with where it stands."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: is not UTF-8 text.") from error
    # Not splitlines(): a JSON text may have other line ends than \n in it.
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield f"{file}:{number}", line


def _needed(row: JsonObject, key: str, where: str) -> str:
    text = _text(row, key, where)
    if not text.strip():
        raise ConfigError(f"{where}: has no {key!r}, which is needed.")
    return text


def _text(row: JsonObject, key: str, where: str) -> str:
    text = row.get(key)
    if not isinstance(text, str | None):
        raise ConfigError(f"{where}: {key!r} is not a text.")
    return text or ""


def _list(value: Json) -> Sequence[Json] | None:
    return cast("Sequence[Json]", value) if isinstance(value, list) else None
