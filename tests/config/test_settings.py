"""What a right file means."""

from textwrap import dedent

import pytest

from tests.config import parts
from tests.requirements import requirement
from tooldrawer import ActivityOptions, BenefitModel, Config, Limits, Rules, SearchPolicy
from tooldrawer.assembly import CORE
from tooldrawer.config import AgentOptions, ModelOptions, parse
from tooldrawer.errors import ConfigError
from tooldrawer.ledger import Prices


def read(text: str, **environment: str) -> Config:
    return parse(dedent(text), name="x.yaml", environment=environment)


@requirement("CFG-2")
def test_a_whole_file_becomes_the_settings_of_every_part() -> None:
    found = read(
        """
        tools:
          tool_search:
            enabled: benefit
            threshold_pct: 7.5
            search_default_limit: 4
            max_search_limit: 15
            search_reply_max_tokens: 900
            max_searches_in_a_row: 6
            listing: names
            listing_max_tokens: 90
            names: {search: find_tools, call: use_tool}
            benefit: {turns: 9, cache_read: 0.25}
          core: [terminal, "notes_*"]
          pinned: [mcp_tide_now, "mcp_chat_*"]
          name_template: "{server}-{tool}"
        model: {context_length: 64000}
        mcp_servers:
          tide:
            command: uvx
            args: [tide-server, --quiet]
            env: {TIDE_KEY: "${KEY}"}
            cwd: /srv/tide
            timeout: 12
            trusted: true
          chat:
            url: https://chat.example/mcp
            headers: {Authorization: "Bearer ${KEY}"}
            enabled: false
            allow: ["send_*"]
            deny: [send_all]
        scopes:
          reader:
            toolsets: [mcp-tide]
            disabled_toolsets: [garden]
            allow: ["*now*"]
            deny: ["*x"]
        approvals:
          ask: ["*send*"]
          deny: ["*drop*"]
          destructive: deny
          timeout: 30
          approver: tests.config.parts:always_once
        limits:
          call_timeout: 20
          result_max_chars: 5000
          arguments_max_bytes: 2000
          concurrency: 2
        toolsets: ["tests.config.parts:garden", "tests.config.parts:library"]
        hooks: ["tests.config.parts:louder"]
        guardrails: ["tests.config.parts:nothing_to_object"]
        activity: {keep: 50, jsonl: events.jsonl, mask: ['T-\\d+']}
        agent: {max_turns: 7, subagent_turns: 3, allow_dirs: [/srv/notes], store: false}
        """,
        KEY="k-1",
    )
    assembly = found.assembly
    assert (assembly.enabled, assembly.threshold_pct) == ("benefit", 7.5)
    assert (assembly.listing, assembly.listing_max_tokens) == ("names", 90)
    assert tuple(assembly.names) == ("find_tools", "tool_describe", "use_tool")
    assert assembly.benefit == BenefitModel(turns=9, cache_read=0.25)
    assert assembly.core == ("terminal", "notes_*")
    assert assembly.pinned == ("mcp_tide_now", "mcp_chat_*")
    assert found.search == SearchPolicy(
        default_limit=4, max_limit=15, reply_max_tokens=900, most_in_a_row=6
    )
    assert (found.name_template, found.context_length) == ("{server}-{tool}", 64_000)
    tide, chat = found.servers
    assert (tide.name, tide.command, tide.args) == ("tide", "uvx", ("tide-server", "--quiet"))
    assert (tide.env, tide.cwd, tide.timeout) == ({"TIDE_KEY": "k-1"}, "/srv/tide", 12)
    assert (tide.trusted, tide.enabled, tide.url) == (True, True, "")
    assert (chat.url, chat.headers) == (
        "https://chat.example/mcp",
        {"Authorization": "Bearer k-1"},
    )
    assert (chat.enabled, chat.allow, chat.deny) == (False, ("send_*",), ("send_all",))
    scope = found.scopes["reader"]
    assert (scope.name, scope.toolsets, scope.disabled_toolsets) == (
        "reader",
        ("mcp-tide",),
        ("garden",),
    )
    assert (scope.allow, scope.deny) == (("*now*",), ("*x",))
    rules = Rules(ask=("*send*",), deny=("*drop*",), destructive="deny")
    assert found.guardrails == (rules, parts.nothing_to_object)
    assert found.approver is parts.always_once
    assert found.limits == Limits(
        call_timeout=20,
        approval_timeout=30,
        result_max_chars=5_000,
        arguments_max_bytes=2_000,
        concurrency=2,
    )
    assert found.toolsets == (parts.garden, parts.library)
    assert found.hooks == (parts.louder,)
    assert found.agent == AgentOptions(
        max_turns=7, subagent_turns=3, allow_dirs=("/srv/notes",), store=False
    )
    assert found.activity == ActivityOptions(keep=50, jsonl="events.jsonl", mask=(r"T-\d+",))


@requirement("CFG-1")
@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("true", "auto"),
        ("false", "off"),
        ("True", "auto"),
        ("FALSE", "off"),
        ("{}", "auto"),
        ("{threshold_pct: 3}", "auto"),
        ("{enabled: auto}", "auto"),
        ("{enabled: on}", "on"),
        ("{enabled: off}", "off"),
        ("{enabled: 'on'}", "on"),
        ("{enabled: true}", "on"),
        ("{enabled: false}", "off"),
        ("{enabled: benefit}", "benefit"),
    ],
)
def test_tool_search_has_a_short_and_a_long_form(written: str, meant: str) -> None:
    assert read(f"tools: {{tool_search: {written}}}").assembly.enabled == meant


@requirement("CFG-1")
def test_the_long_form_keeps_its_other_settings_beside_a_flag() -> None:
    found = read("tools: {tool_search: {enabled: true, threshold_pct: 3}}")
    assert (found.assembly.enabled, found.assembly.threshold_pct) == ("on", 3)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("[note, 'web_*']", ("note", "web_*")),
        ("[]", ()),
        ("{add: [note]}", (*CORE, "note")),
        ("{add: []}", CORE),
        ("{replace: [todo], add: [note]}", ("todo", "note")),
        ("{}", CORE),
    ],
)
@requirement("CFG-2")
def test_core_is_replaced_by_a_list_and_extended_by_add(
    written: str, meant: tuple[str, ...]
) -> None:
    assert read(f"tools: {{core: {written}}}").assembly.core == meant


@requirement("CFG-2")
def test_a_core_of_everything_leaves_the_bridge_its_names() -> None:
    assert read("tools: {core: ['*']}").assembly.core == ("*",)


@requirement("CFG-2")
@pytest.mark.parametrize("text", ["", "\n\n", "# nothing yet\n", "---\n", "~", "\ufeff"])
def test_a_file_without_settings_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="the file has no settings in it; add servers"):
        read(text)


@requirement("CFG-2")
@pytest.mark.parametrize("text", ["{}", "model:", "tools: {}"])
def test_empty_settings_mean_the_defaults(text: str) -> None:
    assert read(text) == Config()


@requirement("CFG-2")
@pytest.mark.parametrize(
    "section",
    [
        "tools",
        "model",
        "mcp_servers",
        "toolsets",
        "scopes",
        "approvals",
        "limits",
        "hooks",
        "guardrails",
        "activity",
    ],
)
def test_an_empty_section_means_the_defaults(section: str) -> None:
    assert read(f"{section}:\n") == Config()


@requirement("CFG-2")
def test_a_scope_that_says_nothing_admits_everything_but_keeps_its_name() -> None:
    scope = read("scopes: {all: {}}").scopes["all"]
    assert (scope.name, scope.toolsets, scope.disabled_toolsets) == ("all", ("*",), ())
    assert (scope.allow, scope.deny) == (("*",), ())


@requirement("CFG-2")
def test_scopes_keep_their_order() -> None:
    assert list(read("scopes: {b: {}, a: {}, c: {}}").scopes) == ["b", "a", "c"]


@requirement("CFG-2")
@pytest.mark.parametrize("word", ["on", "off", "yes", "no", "2026-02-03", "0x1F", "1_000", "12:30"])
def test_words_that_older_yaml_reads_otherwise_are_texts(word: str) -> None:
    assert read(f"tools: {{pinned: [{word}]}}").assembly.pinned == (word,)


@requirement("CFG-2")
@pytest.mark.parametrize(("written", "meant"), [("010", 10), ("+9", 9), ("08", 8)])
def test_a_leading_zero_does_not_make_a_number_octal(written: str, meant: int) -> None:
    assert read(f"model: {{context_length: {written}}}").context_length == meant


@requirement("CFG-2")
@pytest.mark.parametrize(("written", "meant"), [("2", 2), ("2.5", 2.5), (".5", 0.5), ("1e2", 100)])
def test_seconds_may_be_whole_or_not(written: str, meant: float) -> None:
    assert read(f"limits: {{call_timeout: {written}}}").limits.call_timeout == meant


@requirement("CFG-2")
def test_an_alias_stands_for_what_its_anchor_marks() -> None:
    found = read("scopes:\n  night: &night {deny: [x]}\n  day: *night\n")
    assert found.scopes["day"].deny == found.scopes["night"].deny == ("x",)


@requirement("CFG-2")
def test_a_tag_that_says_what_is_there_anyway_is_no_mistake() -> None:
    found = read("tools: !!map {pinned: !!seq [!!str 5]}\nmodel: {context_length: !!int 5}")
    assert (found.assembly.pinned, found.context_length) == (("5",), 5)


@requirement("CFG-2")
@pytest.mark.parametrize("pattern", [r"T-\d{4}", "(?i)swordfish", "(?P<a>x)(?P=a)"])
def test_a_mask_is_any_regular_expression(pattern: str) -> None:
    assert read(f"activity: {{mask: ['{pattern}']}}").activity.mask == (pattern,)


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+$",
        "(a*)*b",
        "(a|a)*$",
        "(a|aa)+$",
        "(?:.*a){20}x",
        r"(\w+\s?)*$",
        "((a+)?)+",
        "(?:a?){30}a{30}",
        "(a{1,9}){1,40}$",
        "(a{2,}){2,}",
    ],
)
def test_a_mask_that_could_take_for_ever_is_refused(pattern: str) -> None:
    with pytest.raises(ConfigError, match=r"activity.mask\[0\] could take for ever on some texts"):
        read(f"activity: {{mask: ['{pattern}']}}")
    with pytest.raises(ConfigError, match=r"ActivityOptions.mask\[0\] could take for ever"):
        ActivityOptions(mask=(pattern,))


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?i)employee-\d+",
        r"\b\d{1,3}(?:\.\d{1,3}){3}\b",
        r"[\w.+-]+@[\w-]+\.[\w.-]+",
        "(?:foo|bar)+",
        r"[A-Z]{2}\d{2}(?: ?\w{4}){3,7}",
        r"(?<=id=)\w+?;*?",
        "(?P<x>ab)+",
        "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    ],
)
def test_a_mask_with_few_ways_to_match_is_taken(pattern: str) -> None:
    assert read(f"activity: {{mask: ['{pattern}']}}").activity.mask == (pattern,)


@requirement("CFG-2")
def test_shipped_guardrails_are_only_there_when_asked_for() -> None:
    assert read("approvals: {destructive: allow}").guardrails == ()
    wanted = "approvals: {read_only: true}\nlimits: {repeats: 3, rate: {calls: 5}}"
    assert [type(item).__name__ for item in read(wanted).guardrails] == [
        "function",
        "RepeatGuard",
        "RateLimit",
    ]


@requirement("CFG-2")
def test_a_person_can_be_asked_in_the_terminal() -> None:
    assert type(read("approvals: {approver: terminal}").approver).__name__ == "TerminalApprover"
    assert read("approvals: {approver: ~}").approver is None


def test_the_model_is_read_with_its_prices() -> None:
    found = read(
        """
        model:
          name: qwen3
          wire: chat
          base_url: http://localhost:11434/v1
          api_key: ${KEY}
          max_output: 4000
          bridge: portable
          prices: {input: 3, output: 15, cached: 0.3}
        """,
        KEY="k-1",
    ).model
    assert (found.name, found.wire, found.base_url) == (
        "qwen3",
        "chat",
        "http://localhost:11434/v1",
    )
    assert (found.api_key, found.max_output, found.bridge) == ("k-1", 4_000, "portable")
    assert found.prices == Prices(input=3, output=15, cached=0.3)
    assert "k-1" not in repr(found)


def test_nothing_said_about_the_model_is_nothing_known() -> None:
    assert read("{}").model == ModelOptions()
