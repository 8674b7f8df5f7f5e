"""What the drawer saved is one sentence, with the reason when it saved nothing."""

from tests.requirements import requirement
from tooldrawer.cli.savings import savings
from tooldrawer.ledger import Ledger, Prices

PRICES = Prices(input=3.0, output=15.0, cached=0.3, written=3.75)


def ledger(*, kept_out: int, bridge: int, turns: int = 1) -> Ledger:
    made = Ledger()
    for _ in range(turns):
        made.turn(kept_out=kept_out, bridge=bridge)
    return made


def test_nothing_was_sent() -> None:
    assert savings([Ledger()], PRICES) == "Nothing was sent to the model."


@requirement("LED-1")
def test_tokens_and_money_are_told_with_their_parts() -> None:
    told = savings([ledger(kept_out=20_000, bridge=300, turns=2), Ledger()], PRICES)
    assert told == (
        "Saved 39,400 tokens (about $0.08): 40,000 of schemas stayed in the drawer over "
        "2 requests, the bridge cost 600 and its replies 0."
    )


def test_without_prices_there_is_no_money() -> None:
    assert "$" not in savings([ledger(kept_out=20_000, bridge=300)], None)


@requirement("LED-1")
def test_a_loss_is_told_as_one_with_its_reason() -> None:
    told = savings([ledger(kept_out=100, bridge=300)], PRICES)
    assert told.startswith("Lost 200 tokens (about -$0.0008), because the bridge costs more")


def test_an_open_drawer_saves_nothing_and_loses_nothing() -> None:
    opened = ledger(kept_out=0, bridge=0)
    opened.retried(75)
    told = savings([opened], PRICES)
    assert told.startswith("Saved nothing, because the drawer stayed open")


def test_the_sessions_of_subagents_count() -> None:
    both = [ledger(kept_out=1_000, bridge=300), ledger(kept_out=2_000, bridge=300)]
    assert savings(both, None).startswith("Saved 2,400 tokens")
