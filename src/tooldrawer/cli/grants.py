"""`approve --list` and `--revoke`: the calls that were approved for good."""

from tooldrawer.activity import Masker
from tooldrawer.cli.controlling_terminal import is_attended
from tooldrawer.cli.output import harmless, show
from tooldrawer.dispatch import Grant, Grants
from tooldrawer.errors import ToolDrawerError

_HOW = "Take one back with `tooldrawer approve --revoke ID`."
_PRINCIPALS = {
    "": "agents of this user that are not behind a gateway",
    "process": "clients that start the gateway",
    "local": "clients of this machine over HTTP",
}


def show_grants() -> None:
    """List what was approved with "always"."""
    found = Grants().entries()
    if not found:
        show("Nothing is approved for good.")
        return
    # As in the list of calls that wait: a process without a person may be the model's.
    is_exact = is_attended()
    for grant, tool in found:
        show(harmless(f"{grant.id}: {tool}", keep=""))
        show(harmless(f"  for:   {_grantee(grant)}", keep=""))
        if grant.about:
            about = grant.about if is_exact else Masker().masked(grant.about)
            show(harmless(f"  about: {about}", keep=""))
    show("")
    show(_HOW)


def revoke_grant(name: str) -> None:
    """Take one back; from the next call on a person is asked again, in running gateways too.

    Raises:
        ToolDrawerError: There is none with this id.
    """
    wanted = name.strip().lower()
    grants = Grants()
    tools = [tool for grant, tool in grants.entries() if grant.id == wanted]
    if not grants.remove(wanted):
        raise ToolDrawerError(
            f"Nothing is approved for good as {name}. See what is with `tooldrawer approve --list`."
        )
    tool = harmless("".join(tools[:1]) or wanted, keep="")
    show(f"Taken back: {tool}. A person is asked again before the next call.")


def _grantee(grant: Grant) -> str:
    who = _PRINCIPALS.get(grant.principal, grant.principal)
    return f"{who}, scope {grant.scope}" if grant.scope else who
