"""What clients say: any conversation, and some that are known to be hard."""

from typing import Any, cast

from hypothesis import strategies as st

from tests.gateway.wire import Message

VERSION, INFO, ABLE, LEVEL = (
    f"io.modelcontextprotocol/{name}"
    for name in ("protocolVersion", "clientInfo", "clientCapabilities", "logLevel")
)
TESTER: Message = {"name": "tester", "version": "1"}
ENVELOPE: Message = {VERSION: "2026-07-28", INFO: TESTER, ABLE: {}}
ASKED: Message = {"elicitation": {}}
JOINED: Message = {"method": "notifications/initialized"}
_Drawn = st.SearchStrategy[Any]


def request(number: int | str, method: str, params: Message) -> Message:
    """One that is answered."""
    return {"id": number, "method": method, "params": params}


def notification(method: str, params: Message) -> Message:
    """One that is not."""
    return {"method": method, "params": params}


def hello(number: int | str = "hello", version: Any = "2025-11-25", **more: Any) -> Message:
    """The request that begins a handshake."""
    params = {"protocolVersion": version, "clientInfo": TESTER, "capabilities": {}, **more}
    return request(number, "initialize", params)


def call(number: int | str, tool: str, arguments: Any = None, **params: Any) -> Message:
    """A call of the handshake era."""
    given: Message = {"name": f"mcp_{tool}", "arguments": arguments or {}, **params}
    return request(number, "tools/call", given)


def enveloped(message: Message, **changed: Any) -> Message:
    """The same in the stateless era; what is `changed` is another version, info or able."""
    params: Message = message.get("params", {})
    own, keys = params.get("_meta"), {"version": VERSION, "info": INFO, "able": ABLE}
    meta = {**ENVELOPE, **{keys[name]: value for name, value in changed.items()}}
    if isinstance(own, dict):
        meta.update(cast("Message", own))
    return {**message, "params": {**params, "_meta": meta}}


_ids = st.one_of(st.integers(0, 99), st.integers(0, 99).map(str), st.sampled_from(["a", ""]))
_json: _Drawn = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abä", max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
_names = st.sampled_from(
    [
        *(f"mcp_{era}_{tool}" for era in ("old", "new") for tool in ("echo", "meta", "progress")),
        *("mcp_old_log", "mcp_new_log", "mcp_new_refuse", "mcp_new_ask", "no such tool", ""),
    ]
)
_tokens: _Drawn = st.sampled_from([0, 1, "", "t", "1", True, None, 1.5, [], {}])
_levels: _Drawn = st.sampled_from(["debug", "info", "error", "loud", None, 5, {}])
_metas: _Drawn = st.fixed_dictionaries(
    {}, optional={"progressToken": _tokens, LEVEL: _levels, "own": _json}
)
_usual: _Drawn = st.fixed_dictionaries(
    {"name": _names},
    optional={
        "arguments": st.dictionaries(st.text(max_size=3), _json, max_size=3),
        "_meta": _metas,
    },
)
_unusual: _Drawn = st.fixed_dictionaries(
    {},
    optional={
        "name": _names | _json,
        "arguments": _json,
        "_meta": _metas | _json,
        "requestState": st.sampled_from(["made up", "", None, 5]),
        "inputResponses": st.sampled_from([{}, {"k": {"action": "accept"}}, {"k": 5}, [], None]),
        "task": st.sampled_from([{}, {"ttl": 5}, None, 5]),
        "unheard of": _json,
    },
)


def _merged(one: Message, other: Message) -> Message:
    return {**one, **other}


_calls = st.builds(request, _ids, st.just("tools/call"), _usual)
_odd_calls = st.builds(
    request, _ids, st.just("tools/call"), _unusual | st.builds(_merged, _usual, _unusual)
)
_others = st.builds(
    request,
    _ids,
    st.sampled_from(
        [
            *("ping", "server/discover", "tools/list", "prompts/list", "logging/setLevel"),
            *("resources/read", "tasks/get", "completion/complete", "nonsense", "initialize"),
        ]
    ),
    st.fixed_dictionaries({}, optional={"level": _levels, "cursor": _json, "_meta": _metas}),
)
_told = st.builds(
    notification,
    st.sampled_from(["notifications/initialized", "notifications/progress", "notifications/x"]),
    st.fixed_dictionaries({}, optional={"progressToken": _tokens, "progress": st.just(1)}),
)
_hellos = st.builds(
    hello,
    _ids,
    st.sampled_from(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "x", 5]),
    capabilities=st.sampled_from([{}, ASKED, 5]),
)
_changes: _Drawn = st.fixed_dictionaries(
    {},
    optional={
        "version": st.sampled_from(["2026-07-28", "2025-11-25", "1999-01-01", 5, None]),
        "info": st.sampled_from([TESTER, {"name": "other", "version": "2"}, None, 5, {}]),
        "able": st.sampled_from([{}, ASKED, {"roots": 5}, [], None]),
    },
)
_said = st.lists(_calls | _calls | _odd_calls | _others | _told, max_size=6)
_begun: st.SearchStrategy[list[Message]] = st.one_of(
    st.just([hello(), JOINED]), st.lists(_hellos, max_size=1)
)


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """Mostly of one era; of several requests with one id the later ones are left out."""
    is_modern = draw(st.booleans())
    said = draw(st.lists(_told, max_size=2)) if draw(st.booleans()) else []
    said += [] if is_modern else draw(_begun)
    envelope: Message = {}
    for message in draw(_said):
        if draw(st.integers(0, 4)) == 0:
            envelope = draw(_changes)
        wraps = is_modern != (draw(st.integers(0, 9)) == 0)
        said.append(enveloped(message, **envelope) if wraps and "id" in message else message)
    first = {str(message["id"]): message for message in reversed(said) if "id" in message}
    return [each for each in said if "id" not in each or each is first[str(each["id"])]]


KNOWN: dict[str, list[Message]] = {
    "a handshake and calls": [
        hello(),
        JOINED,
        call(1, "old_echo", {"a": [1, None]}),
        call("1", "new_meta", _meta={"own": 1}),
        call(2, "old_progress", _meta={"progressToken": 0}),
        call(3, "old_log"),
        call(4, "new_refuse"),
        call(5, "none"),
    ],
    "stateless calls": [
        enveloped(call(1, "old_echo", {"a": 1})),
        enveloped(call(2, "new_meta", _meta={LEVEL: "error"})),
        enveloped(call(3, "new_progress", _meta={"progressToken": "t"})),
        enveloped(call(4, "old_log", _meta={LEVEL: "info"})),
        enveloped(call(5, "old_log", _meta={LEVEL: "error"})),
        enveloped(call(6, "old_log")),
        enveloped(call(7, "new_refuse")),
        enveloped(call(8, "none")),
    ],
    "a call before the handshake": [call(1, "old_echo"), hello(), call(2, "old_echo")],
    "no handshake but its end": [JOINED, call(1, "old_echo"), call(2, "old_echo")],
    "too much before the first request": [
        *({"method": "notifications/x"} for _ in range(8)),
        JOINED,
        call(1, "old_echo"),
    ],
    "an answer to nothing before the first request": [
        {"id": 5, "result": {}},
        {"id": None, "error": {"code": 1, "message": "m"}},
        enveloped(call(1, "old_echo")),
    ],
    "two handshakes": [
        hello("one", "2025-06-18"),
        call(1, "old_echo"),
        hello("two", "2024-11-05", capabilities=ASKED),
        call(2, "new_meta"),
        hello("three", "2025-06-18", capabilities=5),
        call(3, "new_meta"),
    ],
    "an envelope after a handshake": [
        hello(),
        enveloped(call(1, "old_echo")),
        call(2, "old_echo"),
        enveloped(hello("again")),
    ],
    "a handshake after an envelope": [
        enveloped(call(1, "old_echo")),
        hello("late"),
        hello("later", 5),
        call(2, "old_echo"),
        enveloped(call(3, "old_echo")),
    ],
    "a handshake in an envelope": [enveloped(hello()), call(1, "old_echo")],
    "an envelope that is wrong, twice": [
        enveloped(call(1, "old_echo"), able={"elicitation": 5}),
        enveloped(call(2, "old_echo"), able={"elicitation": 5}),
        enveloped(call(3, "old_echo"), able=[]),
        enveloped(call(4, "old_echo"), able=[]),
        enveloped(call(5, "old_echo"), info=5),
        enveloped(call(6, "old_echo"), info=5),
    ],
    "another version after a good one": [
        enveloped(call(1, "old_echo")),
        enveloped(call(2, "old_echo"), version="2099-01-01"),
        enveloped(call(3, "old_echo"), version="2025-11-25"),
        enveloped(call(4, "old_echo"), version=5),
        enveloped(call(5, "old_echo")),
    ],
    "other capabilities after good ones": [
        enveloped(call(1, "new_meta")),
        enveloped(call(2, "new_meta"), able=ASKED),
        enveloped(call(3, "new_meta"), able={"roots": {}}),
        enveloped(call(4, "new_meta")),
    ],
    "calls that are none": [
        hello(),
        {"id": 1, "method": "tools/call"},
        request(2, "tools/call", {}),
        request(3, "tools/call", {"name": 5}),
        request(4, "tools/call", {"name": "mcp_old_echo", "arguments": [1]}),
        request(5, "tools/call", {"name": "mcp_old_echo", "arguments": None}),
        request(6, "tools/call", {"name": "mcp_old_echo", "_meta": None}),
        request(7, "tools/call", {"name": "mcp_old_echo", "_meta": [1]}),
    ],
    "stateless calls that are none": [
        enveloped(call(1, "old_echo")),
        {"id": 2, "method": "tools/call"},
        request(3, "tools/call", {"name": "mcp_old_echo", "_meta": [1]}),
        enveloped(request(4, "tools/call", {})),
        enveloped(call(5, "old_echo", [1])),
        enveloped(call(6, "old_echo", _meta={"progressToken": 1.5})),
        enveloped(call(7, "old_echo", _meta={LEVEL: "loud"})),
    ],
    "calls with more than usual": [
        hello(),
        call(1, "old_echo", task={"ttl": 5}),
        call(2, "old_echo", task=5),
        call(3, "old_echo", requestState="s", inputResponses={}),
        call(4, "old_echo", odd=1),
    ],
    "stateless calls with more than usual": [
        enveloped(call(1, "old_echo", odd=1)),
        enveloped(call(2, "old_echo", task=5)),
        enveloped(call(3, "old_echo", requestState="made up")),
        enveloped(call(4, "old_echo", requestState=5)),
        enveloped(call(5, "old_echo", inputResponses={"k": 5})),
    ],
    "questions that are pushed": [
        hello(capabilities=ASKED),
        JOINED,
        call(1, "old_ask"),
        call(2, "new_ask"),
    ],
    "questions that are returned": [
        enveloped(request(0, "server/discover", {}), able=ASKED),
        enveloped(call(1, "new_ask"), able=ASKED),
    ],
    "only notifications": [JOINED, {"method": "notifications/x"}],
    "nothing": [],
}
