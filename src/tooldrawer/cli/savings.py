"""What the drawer saved, in a line for people."""

from collections.abc import Sequence

from tooldrawer.cli.call_row import counted
from tooldrawer.ledger import Ledger, Prices

_A_CENT = 0.01


def savings(ledgers: Sequence[Ledger], prices: Prices | None) -> str:
    """The sum of some sessions: tokens, money if prices are known, and why when nothing was."""
    used = [ledger for ledger in ledgers if ledger.turns]
    if not used:
        return "Nothing was sent to the model."
    net = sum(ledger.net for ledger in used)
    closed = [ledger for ledger in used if ledger.bridge]
    if not closed:
        return f"Saved nothing, because {_why(used)}."
    if net <= 0:
        return f"Lost {counted(-net, 'token')}{_money(closed, prices)}, because {_why(closed)}."
    return f"Saved {counted(net, 'token')}{_money(closed, prices)}: {_parts(closed)}."


def _why(ledgers: Sequence[Ledger]) -> str:
    return min(ledgers, key=lambda ledger: ledger.net).why


def _parts(ledgers: Sequence[Ledger]) -> str:
    kept = sum(ledger.kept_out for ledger in ledgers)
    bridge = sum(ledger.bridge for ledger in ledgers)
    replies = sum(ledger.replies for ledger in ledgers)
    turns = counted(sum(ledger.turns for ledger in ledgers), "request")
    return (
        f"{kept:,} of schemas stayed in the drawer over {turns}, "
        f"the bridge cost {bridge:,} and its replies {replies:,}"
    )


def _money(ledgers: Sequence[Ledger], prices: Prices | None) -> str:
    if prices is None:
        return ""
    money = sum(ledger.money(prices) for ledger in ledgers)
    places = 2 if abs(money) >= _A_CENT else 4
    return f" (about {'-' if money < 0 else ''}${abs(money):,.{places}f})"
