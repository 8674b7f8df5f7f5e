"""What is known about models by their names. A small table: `--context-length` wins over it.

Read on 2026-11-16. Prices, and the context lengths of Anthropic, OpenAI and Google, are those of
genai-prices 0.2.1; prices are for short prompts, some providers charge more from 200,000 tokens on.
Who defers, and how much Claude writes from 4.5 on, is as in the profiles of pydantic-ai 2, which
name OpenAI's guide "Tool search", and gpt-5.4-nano as an exception. Other figures (open models,
older limits of output) were not looked up again: they are on the low side where versions differ.
"""

from dataclasses import dataclass
from fnmatch import fnmatchcase

from tooldrawer.ledger import Prices


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What does not depend on where the model runs."""

    context_length: int | None = None
    max_output: int | None = None
    defers: bool = False
    """Whether it keeps tools out of the prompt by itself, on a wire that can say so."""
    prices: Prices | None = None


UNKNOWN = Known()


def known(name: str) -> Known:
    """What the table has for a name, be it written as by OpenRouter or with Ollama's tag."""
    plain = name.lower().rpartition("/")[2]
    if plain.startswith("claude"):
        plain = plain.replace(".", "-")
    return next((it for pattern, it in _TABLE if fnmatchcase(plain, pattern)), UNKNOWN)


def _prices(
    paid: float, output: float, cached: float | None = None, written: float | None = None
) -> Prices:
    return Prices(input=paid, output=output, cached=cached, written=written)


def _claude(
    prices: Prices | None = None,
    *,
    context: int = 1_000_000,
    output: int = 128_000,
    defers: bool = True,
) -> Known:
    return Known(context_length=context, max_output=output, defers=defers, prices=prices)


def _gpt(
    prices: Prices | None = None,
    *,
    context: int = 1_050_000,
    output: int = 128_000,
    defers: bool = True,
) -> Known:
    return Known(context_length=context, max_output=output, defers=defers, prices=prices)


def _old(prices: Prices | None, context: int, output: int) -> Known:
    return Known(context_length=context, max_output=output, prices=prices)


def _open(context: int) -> Known:
    return Known(context_length=context)


# The first pattern that fits counts.
_TABLE: tuple[tuple[str, Known], ...] = (
    # Anthropic
    ("claude-3-5-haiku*", _old(_prices(0.8, 4, 0.08, 1), 200_000, 8_192)),
    ("claude-3-7-sonnet*", _old(_prices(3, 15, 0.3, 3.75), 200_000, 64_000)),
    ("claude-3-5-sonnet*", _old(_prices(3, 15, 0.3, 3.75), 200_000, 8_192)),
    ("claude-3*", _old(None, 200_000, 4_096)),
    ("claude-sonnet-4-5*", _claude(_prices(3, 15, 0.3, 3.75), context=200_000, output=64_000)),
    ("claude-opus-4-5*", _claude(_prices(5, 25, 0.5, 6.25), context=200_000, output=64_000)),
    ("claude-haiku-4-5*", _claude(_prices(1, 5, 0.1, 1.25), context=200_000, output=64_000)),
    ("claude-sonnet-4-6*", _claude(_prices(3, 15, 0.3, 3.75))),
    ("claude-opus-4-[678]*", _claude(_prices(5, 25, 0.5, 6.25))),
    ("claude-sonnet-4*", _old(_prices(3, 15, 0.3, 3.75), 200_000, 64_000)),
    ("claude-opus-4*", _old(_prices(15, 75, 1.5, 18.75), 200_000, 32_000)),
    ("claude-sonnet-5-5*", _claude(_prices(2, 10, 0.1, 2.5))),
    ("claude-sonnet-5*", _claude(_prices(2, 10, 0.2, 2.5))),
    ("claude-opus-5-5*", _claude(_prices(4, 20, 0.2, 5))),
    ("claude-opus-5*", _claude(_prices(5, 25, 0.5, 6.25))),
    ("claude-haiku-5-5*", _claude(_prices(0.1, 0.5, 0.01, 0.125))),
    ("claude-fable-5-1*", _claude(_prices(10, 50, 0.25, 12.5))),
    ("claude-fable-5", _claude(_prices(10, 50, 1, 12.5))),
    ("claude-fable-5*", _claude()),
    ("claude-mythos-5*", _claude()),
    # A name that is newer than this table: the length is a guess on the safe side.
    ("claude*", _claude(context=200_000, output=32_000)),
    # OpenAI
    ("gpt-oss*", _open(131_072)),
    ("gpt-6.1-sol*", _gpt(_prices(2, 10, 0.1, 2.5))),
    ("gpt-6.1-terra*", _gpt(_prices(1, 5, 0.05, 1.25))),
    ("gpt-6-astra*", _gpt(_prices(10, 50, 1, 12.5))),
    ("gpt-6-sol*", _gpt(_prices(2, 10, 0.2, 2.5))),
    ("gpt-6-luna*", _gpt(_prices(0.1, 0.5, 0.01, 0.125))),
    ("gpt-6*", _gpt()),
    ("gpt-5.6-sol*", _gpt(_prices(4, 20, 0.4, 5))),
    ("gpt-5.6-terra*", _gpt(_prices(2, 12, 0.2, 2.5))),
    ("gpt-5.6-luna*", _gpt(_prices(0.2, 1.2, 0.02, 0.25))),
    ("gpt-5.6*", _gpt()),
    ("gpt-5.5-pro*", _gpt(_prices(30, 180), context=1_000_000)),
    ("gpt-5.5*", _gpt(_prices(5, 30, 0.5), context=1_000_000)),
    ("gpt-5.4-nano*", _gpt(_prices(0.2, 1.25, 0.02), context=400_000, defers=False)),
    ("gpt-5.4-mini*", _gpt(_prices(0.75, 4.5, 0.075), context=400_000)),
    ("gpt-5.4-pro*", _gpt(_prices(30, 180))),
    ("gpt-5.4*", _gpt(_prices(2.5, 15, 0.25))),
    ("gpt-5.[123]-chat*", _old(_prices(1.75, 14, 0.175), 128_000, 16_384)),
    ("gpt-5.[23]-pro*", _old(_prices(21, 168), 400_000, 128_000)),
    ("gpt-5.[23]*", _old(_prices(1.75, 14, 0.175), 400_000, 128_000)),
    ("gpt-5*-nano*", _old(_prices(0.05, 0.4, 0.005), 400_000, 128_000)),
    ("gpt-5*-mini*", _old(_prices(0.25, 2, 0.025), 400_000, 128_000)),
    ("gpt-5-pro*", _old(_prices(15, 120), 400_000, 272_000)),
    ("gpt-5-chat*", _old(_prices(1.25, 10, 0.125), 128_000, 16_384)),
    ("gpt-5", _old(_prices(1.25, 10, 0.125), 400_000, 128_000)),
    ("gpt-5-*", _old(_prices(1.25, 10, 0.125), 400_000, 128_000)),
    ("gpt-5.1*", _old(_prices(1.25, 10, 0.125), 400_000, 128_000)),
    ("gpt-4.1-nano*", _old(_prices(0.1, 0.4, 0.025), 1_000_000, 32_768)),
    ("gpt-4.1-mini*", _old(_prices(0.4, 1.6, 0.1), 1_000_000, 32_768)),
    ("gpt-4.1*", _old(_prices(2, 8, 0.5), 1_000_000, 32_768)),
    ("gpt-4o-mini*", _old(_prices(0.15, 0.6, 0.075), 128_000, 16_384)),
    ("gpt-4o*", _old(_prices(2.5, 10, 1.25), 128_000, 16_384)),
    ("gpt-4-turbo*", _old(_prices(10, 30), 128_000, 4_096)),
    ("gpt-4*", _old(None, 8_192, 4_096)),
    ("gpt-3.5*", _old(_prices(0.5, 1.5), 16_385, 4_096)),
    ("o4-mini*", _old(_prices(1.1, 4.4, 0.275), 200_000, 100_000)),
    ("o3-mini*", _old(_prices(1.1, 4.4, 0.55), 200_000, 100_000)),
    ("o3-pro*", _old(_prices(20, 80), 200_000, 100_000)),
    ("o3*", _old(_prices(2, 8, 0.5), 200_000, 100_000)),
    ("o1*", _old(None, 200_000, 100_000)),
    # Google, at its endpoint that speaks OpenAI's words
    ("gemini-3.[678]-flash", _old(_prices(1.5, 7.5, 0.15), 1_000_000, 65_536)),
    ("gemini-3.5-flash-lite*", _old(_prices(0.3, 2.5, 0.03), 1_000_000, 65_536)),
    ("gemini-3.5-flash*", _old(_prices(1.5, 9, 0.15), 1_000_000, 65_536)),
    ("gemini-3*-pro*", _old(_prices(2, 12, 0.2), 1_000_000, 65_536)),
    ("gemini-2.5-pro*", _old(_prices(1.25, 10, 0.125), 1_048_576, 65_536)),
    ("gemini-2.5-flash-lite*", _old(_prices(0.1, 0.4, 0.01), 1_048_576, 65_536)),
    ("gemini-2.5-flash*", _old(_prices(0.3, 2.5, 0.03), 1_048_576, 65_536)),
    ("gemini-[1-9]*", _open(1_000_000)),
    # Open models. What a local server gives them is often less: Ollama's default was 4,096.
    ("qwen3*coder*", _open(262_144)),
    ("qwen3*", _open(40_960)),
    ("qwen2.5*", _open(32_768)),
    ("llama-4*", _open(1_000_000)),
    ("llama4*", _open(1_000_000)),
    ("llama-3.[123]*", _open(131_072)),
    ("llama3.[123]*", _open(131_072)),
    ("llama3*", _open(8_192)),
    ("mistral-large-4*", _old(_prices(1.36, 4.18, 0.14), 1_048_576, 65_536)),
    ("mistral-large-2512*", _open(262_144)),
    ("mistral-large*", _open(131_072)),
    ("mistral-medium*", _open(131_072)),
    ("mistral-small*", _open(131_072)),
    ("mistral-nemo*", _open(131_072)),
    ("devstral*", _open(131_072)),
    ("mistral*", _open(32_768)),
    ("deepseek-v4*", _open(1_000_000)),
    ("deepseek*", _open(64_000)),
    ("gemma-4*", _open(262_144)),
    ("gemma4*", _open(262_144)),
    ("gemma-3*", _open(131_072)),
    ("gemma3*", _open(131_072)),
    ("phi4*", _open(16_384)),
)
