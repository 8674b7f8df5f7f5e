"""What the table knows, and what it does not."""

import pytest

from tests.requirements import requirement
from tooldrawer.agent.endpoint import Wanted, model_spec
from tooldrawer.agent.known_models import UNKNOWN, known
from tooldrawer.ledger import Prices
from tooldrawer.wire.message import Usage


@pytest.mark.parametrize(
    ("name", "length"),
    [
        ("claude-sonnet-4-5", 200_000),
        ("claude-sonnet-4-5-20250929", 200_000),
        ("anthropic/claude-sonnet-4.5", 200_000),
        ("claude-opus-4-6", 1_000_000),
        ("claude-3-5-sonnet-latest", 200_000),
        ("gpt-5.4", 1_050_000),
        ("gpt-5.4-mini-2026-03-17", 400_000),
        ("GPT-4o", 128_000),
        ("openai/gpt-oss-120b", 131_072),
        ("gpt-oss:20b", 131_072),
        ("o3-2025-04-16", 200_000),
        ("gemini-2.5-flash", 1_048_576),
        ("qwen3:8b", 40_960),
        ("qwen3-coder:30b", 262_144),
        ("meta-llama/Llama-3.3-70B-Instruct", 131_072),
        ("llama3.2:3b", 131_072),
        ("mistral-small3.2", 131_072),
        ("deepseek-chat", 64_000),
    ],
)
def test_the_context_length_of_a_known_model(name: str, length: int) -> None:
    assert known(name).context_length == length


@requirement("ACT-6")
def test_of_an_unknown_model_nothing_is_claimed() -> None:
    assert known("my-own-model:7b") is UNKNOWN
    spec = model_spec(Wanted(model="my-own-model:7b", base_url="http://localhost:1/v1"), {})
    assert spec.context_length is None
    assert spec.prices is None


@pytest.mark.parametrize(
    ("name", "defers"),
    [
        ("claude-sonnet-4-5", True),
        ("claude-opus-4-5", True),
        ("claude-haiku-4-5", True),
        ("claude-opus-5-5", True),
        ("claude-sonnet-4-20250514", False),
        ("claude-opus-4-1", False),
        ("claude-3-7-sonnet-latest", False),
        ("gpt-5.4", True),
        ("gpt-5.4-nano", False),
        ("gpt-6-sol", True),
        ("gpt-5.2", False),
        ("gpt-4.1", False),
        ("qwen3", False),
    ],
)
def test_who_defers_tools_by_itself(name: str, *, defers: bool) -> None:
    assert known(name).defers is defers


def test_a_model_that_defers_cannot_say_so_in_chat_completions() -> None:
    key = {"OPENAI_API_KEY": "key"}
    assert model_spec(Wanted(model="gpt-5.4"), key).native
    assert not model_spec(Wanted(model="gpt-5.4", wire="chat"), key).native


def test_a_price_counts_what_the_cache_gave_at_its_own_rate() -> None:
    prices = Prices(input=3, output=15, cached=0.3, written=3.75)
    usage = Usage(input=1_000_000, cached=600_000, written=300_000, output=100_000)
    assert prices.cost(usage) == pytest.approx(0.3 + 0.18 + 1.125 + 1.5)


def test_without_prices_for_the_cache_its_tokens_cost_as_all_others() -> None:
    usage = Usage(input=1_000_000, cached=600_000, written=100_000)
    assert Prices(input=2, output=8).cost(usage) == pytest.approx(2.0)
