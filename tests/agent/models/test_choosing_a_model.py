"""From what a person typed, and what is in the environment, to a model."""

import re
from typing import Any

import pytest

from tooldrawer.agent.endpoint import NO_KEY, Wanted, model_spec
from tooldrawer.errors import ConfigError

ANTHROPIC = {"ANTHROPIC_API_KEY": "sk-ant-1"}
OPENAI = {"OPENAI_API_KEY": "sk-openai-1"}
OLLAMA = "http://localhost:11434/v1"


@pytest.mark.parametrize(
    ("wanted", "environment", "wire", "base_url", "key"),
    [
        ({"model": "claude-sonnet-4-5"}, ANTHROPIC, "anthropic", "", "sk-ant-1"),
        ({"model": "anthropic/claude-sonnet-4-5"}, ANTHROPIC, "anthropic", "", "sk-ant-1"),
        (
            {"model": "claude-sonnet-4-5"},
            {"ANTHROPIC_AUTH_TOKEN": "token", "ANTHROPIC_BASE_URL": "https://llm.example/"},
            "anthropic",
            "https://llm.example",
            "token",
        ),
        ({"model": "gpt-5.4"}, OPENAI, "responses", "", "sk-openai-1"),
        ({"model": "o4-mini"}, OPENAI, "responses", "", "sk-openai-1"),
        ({"model": "openai/new-name"}, OPENAI, "responses", "", "sk-openai-1"),
        ({"model": "gpt-4o", "wire": "chat"}, OPENAI, "chat", "", "sk-openai-1"),
        (
            {"model": "gpt-5.4"},
            OPENAI | {"OPENAI_BASE_URL": "https://llm.example/v1"},
            "chat",
            "https://llm.example/v1",
            "sk-openai-1",
        ),
        (
            {"model": "gpt-5.4"},
            OPENAI | {"OPENAI_BASE_URL": "https://api.openai.com/v1"},
            "responses",
            "https://api.openai.com/v1",
            "sk-openai-1",
        ),
        (
            {"model": "gemini-2.5-pro"},
            {"GEMINI_API_KEY": "g"},
            "chat",
            "https://generativelanguage.googleapis.com/v1beta/openai",
            "g",
        ),
        ({"model": "qwen3", "base_url": OLLAMA}, {}, "chat", OLLAMA, NO_KEY),
        ({"model": "qwen3"}, {"OPENAI_BASE_URL": OLLAMA}, "chat", OLLAMA, NO_KEY),
        (
            {"model": "m", "base_url": "http://localhost:1/", "wire": "anthropic"},
            {},
            "anthropic",
            "http://localhost:1",
            NO_KEY,
        ),
        (
            {"model": "m", "base_url": "https://llm.example/v1"},
            OPENAI,
            "chat",
            "https://llm.example/v1",
            "sk-openai-1",
        ),
        (
            {"model": "m", "base_url": "https://api.anthropic.com"},
            ANTHROPIC,
            "anthropic",
            "https://api.anthropic.com",
            "sk-ant-1",
        ),
        ({"model": "gpt-5.4", "api_key": "own"}, OPENAI, "responses", "", "own"),
        ({"model": "gpt-5.4"}, {"OPENAI_API_KEY": " pasted \n"}, "responses", "", "pasted"),
    ],
)
def test_a_name_an_address_and_a_key_make_a_model(
    wanted: dict[str, Any], environment: dict[str, str], wire: str, base_url: str, key: str
) -> None:
    spec = model_spec(Wanted(**wanted), environment)
    assert (spec.wire, spec.base_url, spec.api_key) == (wire, base_url, key)


def test_the_service_before_a_name_is_left_out_of_it() -> None:
    assert model_spec(Wanted(model="anthropic/claude-opus-4-5"), ANTHROPIC).name == (
        "claude-opus-4-5"
    )


def test_a_name_goes_as_it_is_to_an_address_that_was_given() -> None:
    wanted = Wanted(model="anthropic/claude-opus-4.5", base_url="https://openrouter.ai/api/v1")
    spec = model_spec(wanted, {"OPENROUTER_API_KEY": "or", **ANTHROPIC})
    assert (spec.name, spec.wire, spec.api_key) == ("anthropic/claude-opus-4.5", "chat", "or")


def test_a_proxy_like_openai_serves_claude_when_anthropic_is_not_set_up() -> None:
    proxy = {"OPENAI_BASE_URL": "https://llm.example/v1", **OPENAI}
    spec = model_spec(Wanted(model="anthropic/claude-opus-4-5"), proxy)
    assert (spec.wire, spec.name) == ("chat", "anthropic/claude-opus-4-5")
    assert model_spec(Wanted(model="claude-opus-4-5"), proxy | ANTHROPIC).wire == "anthropic"


def test_the_name_may_come_from_the_environment() -> None:
    environment = {"TOOLDRAWER_MODEL": "gpt-5.4", **OPENAI}
    assert model_spec(Wanted(), environment).name == "gpt-5.4"
    assert model_spec(Wanted(model="gpt-4o"), environment).name == "gpt-4o"


def test_the_environment_of_the_process_counts_when_none_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "from-the-process")
    assert model_spec(Wanted(model="gpt-5.4")).api_key == "from-the-process"


@pytest.mark.parametrize(
    ("wanted", "environment", "missing"),
    [
        ({}, {}, "No model was chosen"),
        ({"model": "claude-sonnet-4-5"}, OPENAI, "ANTHROPIC_API_KEY"),
        ({"model": "gpt-5.4"}, ANTHROPIC, "OPENAI_API_KEY is not set"),
        ({"model": "qwen3"}, OPENAI | ANTHROPIC, "Nobody is known to serve a model named 'qwen3'"),
        (
            {"model": "m", "base_url": "https://llm.example/v1"},
            {},
            "and OPENAI_API_KEY are not set",
        ),
    ],
)
def test_what_is_missing_is_named_with_the_three_lines_that_help(
    wanted: dict[str, Any], environment: dict[str, str], missing: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        model_spec(Wanted(**wanted), environment)
    text = str(caught.value)
    assert missing in text
    assert "export ANTHROPIC_API_KEY=...   then  tooldrawer chat --model claude-" in text
    assert "export OPENAI_API_KEY=...      then  tooldrawer chat --model gpt-" in text
    assert "tooldrawer chat --base-url http://localhost:11434/v1 --model qwen3" in text


@pytest.mark.parametrize(
    ("wanted", "line"),
    [
        (Wanted(model="m", base_url="https://llm.example/v1"), "export TOOLDRAWER_API_KEY=..."),
        (Wanted(model="openrouter/some/model"), "export OPENROUTER_API_KEY=..."),
    ],
)
def test_the_key_of_another_service_is_named_in_a_line_to_paste(wanted: Wanted, line: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(line)):
        model_spec(wanted, {})


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "[::1]", "192.168.1.20", "ollama", "box.local"]
)
def test_nobody_asks_for_a_key_nearby_and_none_of_the_environment_goes_there(host: str) -> None:
    wanted = Wanted(model="qwen3", base_url=f"http://{host}:8000/v1")
    assert model_spec(wanted, OPENAI).api_key == NO_KEY
    assert model_spec(wanted, OPENAI | {"TOOLDRAWER_API_KEY": "mine"}).api_key == "mine"


@pytest.mark.parametrize("host", ["api.groq.com", "api.deepseek.com", "openrouter.ai"])
def test_a_key_of_one_service_does_not_go_to_another(host: str) -> None:
    with pytest.raises(ConfigError, match="_API_KEY is not set"):
        model_spec(Wanted(model="m", base_url=f"https://{host}/v1"), OPENAI | ANTHROPIC)


@pytest.mark.parametrize("wire", ["chat", "responses"])
def test_a_wire_that_the_service_does_not_speak_is_refused(wire: Any) -> None:
    with pytest.raises(ConfigError, match=r"api\.anthropic\.com"):
        model_spec(Wanted(model="claude-opus-5", wire=wire), ANTHROPIC | OPENAI)


@pytest.mark.parametrize(
    "url",
    ["localhost:11434", "ftp://host/v1", "http://me:secret@host/v1", "http://host/?key=secret",
     "http://", "http://host:0/v1", "http://ho st/v1", "http://[::1/v1"],
)  # fmt: skip
def test_an_address_that_cannot_be_used_is_not_repeated(url: str) -> None:
    with pytest.raises(ConfigError, match="--base-url") as caught:
        model_spec(Wanted(model="m", base_url=url), OPENAI)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("key", ["two words", "schlüssel", "line\nbreak", "\x00"])
def test_a_key_that_cannot_be_sent_is_not_repeated(key: str) -> None:
    with pytest.raises(ConfigError, match="OPENAI_API_KEY has spaces") as caught:
        model_spec(Wanted(model="gpt-5.4"), {"OPENAI_API_KEY": key})
    assert key not in str(caught.value)


def test_a_key_is_in_no_repr() -> None:
    wanted = Wanted(model="gpt-5.4", api_key="sk-very-secret")
    assert "secret" not in repr(wanted)
    assert "secret" not in repr(model_spec(wanted, {}))


def test_what_a_person_says_about_a_model_wins_over_the_table() -> None:
    wanted = Wanted(
        model="gpt-5.4", context_length=8_000, max_output=500, bridge="portable", timeout=5
    )
    spec = model_spec(wanted, OPENAI)
    assert (spec.context_length, spec.max_output, spec.timeout) == (8_000, 500, 5)
    assert not spec.native
    assert model_spec(Wanted(model="gpt-5.4"), OPENAI).native
