"""A session and what is outside its scope: no trace of it, in any order of asking."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import zip_longest
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from tests.properties.strategies import (
    SHAPES,
    array,
    backends,
    compact,
    quick,
    run,
    toolset,
    words,
)
from tests.requirements import requirement
from tooldrawer import AssemblyPolicy, Config, Drawer, Event, Scope, Session, ToolResult
from tooldrawer.activity import Searched
from tooldrawer.dispatch import Caller, View
from tooldrawer.errors import UnknownTool
from tooldrawer.tool import Json

Step = tuple[str, Json]
ASSEMBLE = ""
"""The step that asks for the tools array."""


@dataclass(frozen=True)
class World:
    """What is registered, and who asks."""

    toolsets: dict[str, tuple[str, ...]]
    scopes: tuple[Scope, ...]
    """Of a session, its child, that one's child, and so on."""
    policy: AssemblyPolicy

    @property
    def names(self) -> list[str]:
        return [name for tools in self.toolsets.values() for name in tools]

    def admitted(self, depth: int | None = None) -> set[str]:
        """What the scopes let through, worked out from what they say."""
        return {
            name
            for source, tools in self.toolsets.items()
            for name in tools
            if all(_admits(scope, source, name) for scope in self.scopes[:depth])
        }

    def without(self, hidden: Iterable[str], *, empty_toolsets: bool) -> "World":
        """The world in which some tools do not exist."""
        gone = set(hidden)
        left = {
            source: tuple(name for name in tools if name not in gone)
            for source, tools in self.toolsets.items()
        }
        shown = {
            source
            for source in left
            if empty_toolsets or all(_admits_toolset(scope, source) for scope in self.scopes)
        }
        return replace(self, toolsets={source: left[source] for source in left if source in shown})

    def drawer(self, ran: list[str] | None = None) -> Drawer:
        toolsets = [toolset(name, tools, ran) for name, tools in self.toolsets.items()]
        return Drawer(toolsets, config=Config(assembly=self.policy))

    def session(self, drawer: Drawer, name: str = "asker") -> Session:
        """The last of the family."""
        session = drawer.session(f"{name}-0", scope=self.scopes[0])
        for number, scope in enumerate(self.scopes[1:], 1):
            session = session.child(scope, name=f"{name}-{number}")
        return session


def _admits_toolset(scope: Scope, source: str) -> bool:
    return _fits(source, scope.toolsets) and not _fits(source, scope.disabled_toolsets)


def _admits(scope: Scope, source: str, name: str) -> bool:
    allowed = _fits(name, scope.allow) and not _fits(name, scope.deny)
    return _admits_toolset(scope, source) and allowed


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _glob(name: str, start: int, kind: str) -> str:
    return kind.replace("NAME", name[:start]).replace("REST", name[start:])


def _patterns(names: Sequence[str]) -> SearchStrategy[list[str]]:
    kinds = ("NAMEREST", "NAMEREST", "NAME*", "*REST", "NAME?*", "[!h]*", "*")
    globs = st.builds(_glob, st.sampled_from(names), st.integers(1, 6), st.sampled_from(kinds))
    return st.lists(globs, max_size=3)


@st.composite
def scopes(draw: DrawFn, sources: Sequence[str], names: Sequence[str]) -> Scope:
    return Scope(
        toolsets=draw(_patterns(sources) | st.just(["*"])),
        disabled_toolsets=draw(st.just(list[str]()) | _patterns(sources)),
        allow=draw(st.just(["*"]) | _patterns(names)),
        deny=draw(st.just(list[str]()) | _patterns(names)),
        name=draw(st.sampled_from(("", "narrow"))),
    )


@st.composite
def worlds(draw: DrawFn) -> World:
    names = draw(st.lists(words, min_size=2, max_size=7, unique=True))
    owners = [draw(st.integers(0, 2)) for _ in names]
    toolsets = {
        f"set-{number}": tuple(
            name for name, owner in zip(names, owners, strict=True) if owner == number
        )
        for number in range(3)
    }
    family = st.lists(scopes(list(toolsets), names), min_size=1, max_size=3)
    policy = AssemblyPolicy(
        enabled=draw(st.sampled_from(("on", "off", "auto"))),
        listing=draw(st.sampled_from(("off", "toolsets", "names", "full"))),
        pinned=tuple(draw(_patterns(names))),
    )
    return World(toolsets, tuple(draw(family)), policy)


def _spelled(name: str) -> list[str]:
    """A name, as a model may write it."""
    wrong = [name[1:], name[:-1], name[1] + name[0] + name[2:], f"{name}s", name.replace("g", "h")]
    return [name, name.upper(), f"set-0.{name}", f"set_1__{name}", f"set-2/{name}", *wrong]


@st.composite
def steps(draw: DrawFn, world: World, *, searches: int = 8, most: int = 8) -> list[Step]:
    """What a model does: with names in scope, out of it, misspelled and made up."""
    known = st.sampled_from([wrong for name in world.names for wrong in _spelled(name)])
    names = known | words
    listed: SearchStrategy[Json] = names | st.lists(names, min_size=1, max_size=4)
    arguments: SearchStrategy[Json] = st.sampled_from((None, {"title": "x"}, {"count": "many"}))
    asked: SearchStrategy[Step] = st.one_of(
        st.just((ASSEMBLE, None)),
        st.builds(_describing, listed),
        st.builds(_calling, names),
        st.tuples(names, arguments),
    )
    drawn = draw(st.lists(asked, min_size=1, max_size=most))
    for search in draw(st.lists(st.builds(_searching, listed), max_size=searches)):
        drawn.insert(draw(st.integers(0, len(drawn))), search)
    return drawn


def _searching(query: Json) -> Step:
    return "tool_search", {"query": query}


def _describing(name: Json) -> Step:
    return "tool_describe", {"name": name}


def _calling(name: str) -> Step:
    return "tool_call", {"name": name, "arguments": {"title": "x"}}


async def answered(session: Session, step: Step) -> str:
    """One step's whole output, as text."""
    name, arguments = step
    if name == ASSEMBLE:
        assembly = await session.tools()
        return "\n".join((*(array(assembly, shape) for shape in SHAPES), repr(assembly)))
    return shown(await session.call(name, arguments))


def shown(result: ToolResult) -> str:
    return f"{compact(result.mcp())}\n{result!r}"


def events(drawer: Drawer, session: Session) -> list[Event]:
    """What was reported of a session, without when and how long."""
    timeless: list[Event] = []
    for event in drawer.activity:
        if event.session == session.name:
            changes: dict[str, Any] = {"at": 0.0}
            changes |= {"duration": 0.0} if hasattr(event, "duration") else {}
            timeless.append(replace(event, **changes))
    return timeless


def _without_query(event: Event) -> str:
    return repr(replace(event, query="") if isinstance(event, Searched) else event)


@requirement("SCOPE-2")
@quick(60)
@given(data=st.data(), world=worlds(), backend=backends)
def test_no_output_of_a_session_has_the_name_of_a_tool_outside_its_scope(
    data: st.DataObject, world: World, backend: str
) -> None:
    hidden = set(world.names) - world.admitted()
    asked = data.draw(steps(world))

    async def main() -> None:
        drawer = world.drawer()
        session = world.session(drawer)
        outputs = [await answered(session, step) for step in asked]
        outputs += [_without_query(event) for event in events(drawer, session)]
        outputs += [str(session.ledger), repr(session.ledger)]
        for output in outputs:
            assert [name for name in hidden if name in output.casefold()] == []

    run(main, backend)


@requirement("SCOPE-1")
@quick(60)
@given(world=worlds(), backend=backends)
def test_a_session_reaches_exactly_what_every_scope_of_its_family_admits(
    world: World, backend: str
) -> None:
    ran: list[str] = []

    async def main() -> None:
        session = world.session(world.drawer(ran))
        assembly = await session.tools()
        assert {tool.name for tool in (*assembly.direct, *assembly.deferred)} == world.admitted()
        for name in world.names:
            await session.call(name)
            await session.call("tool_call", {"name": name})
        assert set(ran) == world.admitted()

    run(main, backend)


@requirement("SCOPE-3")
@quick(60)
@given(data=st.data(), world=worlds(), empty=st.booleans(), backend=backends)
def test_a_tool_outside_the_scope_and_one_that_does_not_exist_cannot_be_told_apart(
    data: st.DataObject, world: World, empty: bool, backend: str
) -> None:
    asked = data.draw(steps(world))
    bare = world.without(set(world.names) - world.admitted(), empty_toolsets=empty)

    async def main() -> None:
        seen: list[tuple[list[str], list[Event]]] = []
        for each in (world, bare):
            drawer = each.drawer()
            session = each.session(drawer)
            outputs = [await answered(session, step) for step in asked]
            seen.append((outputs, events(drawer, session)))
        assert seen[0] == seen[1]

    run(main, backend)


@requirement("SCOPE-3")
@quick(40)
@given(data=st.data(), world=worlds(), backend=backends)
def test_calls_one_by_one_and_all_at_once_are_refused_alike(
    data: st.DataObject, world: World, backend: str
) -> None:
    # No more than four searches: beyond that a reply says how many there were before it.
    drawn = data.draw(steps(world, searches=4))
    asked = [step for step in drawn if step[0] != ASSEMBLE]
    ran: tuple[list[str], list[str]] = ([], [])

    async def main() -> None:
        one = world.session(world.drawer(ran[0]))
        alone = [shown(await one.call(*step)) for step in asked]
        together = await world.session(world.drawer(ran[1])).call_all(asked)
        assert [shown(result) for result in together] == alone

    run(main, backend)
    assert sorted(ran[0]) == sorted(ran[1])
    assert set(ran[0]) <= world.admitted()


@requirement("SCOPE-3")
@quick(40)
@given(world=worlds(), made_up=words, backend=backends)
def test_the_dispatcher_refuses_by_itself_what_nobody_checked_before_it(
    world: World, made_up: str, backend: str
) -> None:
    ran: list[str] = []
    hidden = sorted(set(world.names) - world.admitted())
    names = [*hidden, *(name.upper() for name in hidden), *(f"set-0.{name}" for name in hidden)]

    async def main() -> None:
        drawer = world.drawer(ran)
        session = world.session(drawer)
        caller = _caller(drawer, session)
        bare = world.without(hidden, empty_toolsets=True).drawer()
        stranger = _caller(bare, world.session(bare))
        for name in (*names, made_up) if made_up not in world.names else names:
            with pytest.raises(UnknownTool) as refused:
                await drawer.parts.dispatcher.run(name, {}, caller=caller)
            with pytest.raises(UnknownTool) as unknown:
                await bare.parts.dispatcher.run(name, {}, caller=stranger)
            assert str(refused.value) == str(unknown.value)
        assert events(drawer, session) == events(bare, session)

    run(main, backend)
    assert ran == []


def _caller(drawer: Drawer, session: Session) -> Caller:
    """What a session tells the dispatcher about itself."""

    def view() -> View:
        snapshot = drawer.registry.snapshot()
        catalog = drawer.parts.catalogs.derive(snapshot, session.scope)
        return View(catalog=catalog, snapshot=snapshot)

    return Caller(session=session.name, scope=lambda: session.scope, view=view)


@requirement("SCOPE-3")
@quick(20)
@given(world=worlds(), backend=backends)
def test_a_scope_that_narrows_while_a_call_is_on_its_way_stops_it(
    world: World, backend: str
) -> None:
    ran: list[str] = []

    async def main() -> None:
        drawer = world.drawer(ran)
        snapshot = drawer.registry.snapshot()
        for name in world.names:
            kept = [Scope(), Scope(deny=[name])]
            views = (drawer.parts.catalogs.derive(snapshot, scope) for scope in kept)
            caller = Caller(
                session="asker",
                scope=Scope,
                view=lambda views=views: View(catalog=next(views), snapshot=snapshot),
            )
            with pytest.raises(UnknownTool):
                await drawer.parts.dispatcher.run(name, {}, caller=caller)

    run(main, backend)
    assert ran == []


@requirement("SCOPE-4")
@quick(40)
@given(world=worlds(), backend=backends)
def test_a_child_never_reaches_what_its_parent_does_not(world: World, backend: str) -> None:
    async def main() -> None:
        drawer = world.drawer()
        session = drawer.session(scope=world.scopes[0])
        for depth, scope in enumerate(world.scopes[1:], 2):
            parent, session = session, session.child(scope)
            outer, inner = await parent.tools(), await session.tools()
            reached = {tool.name for tool in (*inner.direct, *inner.deferred)}
            assert reached <= {tool.name for tool in (*outer.direct, *outer.deferred)}
            assert reached == world.admitted(depth)

    run(main, backend)


@requirement("SCOPE-4")
@quick(40)
@given(data=st.data(), world=worlds(), backend=backends)
def test_nothing_a_session_does_changes_what_another_one_gets(
    data: st.DataObject, world: World, backend: str
) -> None:
    asked, meanwhile = data.draw(steps(world)), data.draw(steps(world))
    other = data.draw(scopes(list(world.toolsets), world.names))

    async def main() -> None:
        quiet = world.drawer()
        alone = world.session(quiet)
        expected = [await answered(alone, step) for step in asked]

        busy = world.drawer()
        session, neighbour = world.session(busy), busy.session("neighbour", scope=other)
        offspring = session.child(other, name="offspring")
        outputs: list[str] = []
        for mine, theirs in zip_longest(asked, meanwhile):
            for stranger in (neighbour, offspring):
                if theirs is not None:
                    await answered(stranger, theirs)
            if mine is not None:
                outputs.append(await answered(session, mine))
        assert outputs == expected
        assert events(busy, session) == events(quiet, alone)

    run(main, backend)
