"""What a session saved, in tokens and in money."""

import pytest

from tests.requirements import requirement
from tooldrawer import Ledger
from tooldrawer.ledger import Prices
from tooldrawer.wire.message import Usage

PRICES = Prices(input=10, output=50, cached=1, written=20)
MILLION = 1_000_000


@requirement("LED-1")
def test_schemas_that_stay_out_would_have_been_written_once_and_read_after() -> None:
    ledger = Ledger()
    for _ in range(3):
        ledger.turn(kept_out=MILLION, bridge=0)
    assert ledger.money(PRICES) == pytest.approx(20 + 1 + 1)


@requirement("LED-1")
def test_schemas_that_change_would_have_been_written_again() -> None:
    ledger = Ledger()
    ledger.turn(kept_out=MILLION, bridge=0)
    ledger.turn(kept_out=2 * MILLION, bridge=0)
    assert ledger.money(PRICES) == pytest.approx(20 + 40)


@requirement("LED-1")
def test_the_bridge_and_its_replies_are_paid_for() -> None:
    ledger = Ledger()
    ledger.turn(kept_out=0, bridge=MILLION)
    ledger.searched(MILLION)
    ledger.turn(kept_out=0, bridge=MILLION)
    ledger.turn(kept_out=0, bridge=MILLION)
    bridge, reply = 20 + 1 + 1, 20 + 1
    assert ledger.money(PRICES) == pytest.approx(-bridge - reply)
    assert ledger.net == -5 * MILLION


@requirement("LED-1")
def test_a_request_for_the_bridge_alone_is_paid_for() -> None:
    ledger = Ledger()
    ledger.hopped(input=3 * MILLION, cached=2 * MILLION, output=MILLION)
    assert ledger.money(PRICES) == pytest.approx(-(10 + 2 * 1 + 50))
    assert ledger.hops == 1


@requirement("LED-1")
def test_without_prices_for_the_cache_everything_costs_the_same() -> None:
    ledger = Ledger()
    ledger.turn(kept_out=MILLION, bridge=0)
    ledger.turn(kept_out=MILLION, bridge=0)
    assert ledger.money(Prices(input=10, output=50)) == pytest.approx(20)


@requirement("LED-1")
def test_when_nothing_was_saved_the_ledger_says_why() -> None:
    open_drawer, small, busy, good = Ledger(), Ledger(), Ledger(), Ledger()
    open_drawer.turn(kept_out=0, bridge=0)
    assert "stayed open" in open_drawer.why
    small.turn(kept_out=100, bridge=250)
    assert "few schemas" in small.why
    busy.turn(kept_out=1000, bridge=250)
    busy.searched(900)
    busy.searched(900)
    assert busy.net < 0
    assert busy.why.startswith("2 searches")
    good.turn(kept_out=1000, bridge=250)
    assert good.why == ""


def test_an_answer_costs_its_parts_at_their_prices() -> None:
    usage = Usage(input=3 * MILLION, cached=MILLION, written=MILLION, output=MILLION)
    assert PRICES.cost(usage) == pytest.approx(10 + 1 + 20 + 50)


@requirement("LED-1")
def test_what_was_summed_up_is_no_longer_carried() -> None:
    ledger = Ledger()
    ledger.turn(kept_out=10_000, bridge=0)
    ledger.searched(1_000)
    ledger.turn(kept_out=10_000, bridge=0)
    ledger.summed_up(100)
    ledger.turn(kept_out=10_000, bridge=0)
    ledger.turn(kept_out=10_000, bridge=0)
    assert ledger.replies == 1_000 + 100 + 100


@requirement("LED-1")
def test_a_mistake_with_the_drawer_open_is_not_the_bridges() -> None:
    ledger = Ledger()
    ledger.turn(kept_out=0, bridge=0)
    ledger.retried(500)
    assert (ledger.net, ledger.retries) == (0, 1)
    assert "stayed open" in ledger.why


@requirement("LED-1")
def test_a_prompt_that_was_refused_saved_nothing() -> None:
    once, refused_first = Ledger(), Ledger()
    refused_first.turn(kept_out=999, bridge=99)
    refused_first.unsent()
    for ledger in (once, refused_first):
        ledger.turn(kept_out=MILLION, bridge=1_000)
        ledger.searched(100)
        ledger.turn(kept_out=MILLION, bridge=1_000)
    refused_first.turn(kept_out=MILLION, bridge=1_000)
    refused_first.unsent()
    assert refused_first.net == once.net
    assert refused_first.money(PRICES) == pytest.approx(once.money(PRICES))
