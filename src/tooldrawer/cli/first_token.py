"""Who is locked out by the first token: from then on every client over HTTP needs one."""

from urllib.parse import urlsplit

from tooldrawer.clients.folders import Folders
from tooldrawer.clients.taken import Found, find_servers
from tooldrawer.config.itself import is_gateway
from tooldrawer.gateway.runtime import running

_LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")


def first_token_warning() -> str:
    """Say what the first token changes, and name the gateways and entries that it concerns."""
    addresses = http_gateways()
    entries = [f"{one.title} ({one.path}: {one.spec.name})" for one in _without_token(addresses)]
    parts = ["This is the first token: from now on every client over HTTP needs one."]
    if addresses:
        where = _listed(addresses)
        parts.append(f"Running gateways ask for it from the next request on: {where}.")
    if entries:
        parts.append(f"These entries send none yet: {_listed(entries)}.")
    if addresses or entries:
        address = addresses[0] if addresses else "ADDRESS"
        parts.append(
            f"Give each its own with `tooldrawer connect CLIENT --http {address} --new-token`, or "
            "name a variable with --token-env."
        )
    return " ".join(parts)


def http_gateways() -> list[str]:
    """Return the addresses of this user's gateways that serve over HTTP."""
    return [card.address for card in running() if card.transport == "http"]


def _without_token(addresses: list[str]) -> list[Found]:
    """Return the clients' entries of a gateway of this machine that send no token."""
    ports = {urlsplit(address).port for address in addresses}
    return [
        one
        for one in find_servers(Folders.of_this_machine()).found
        if _is_ours(one, ports) and "authorization" not in map(str.lower, one.spec.headers)
    ]


def _is_ours(found: Found, ports: set[int | None]) -> bool:
    if not found.spec.url:
        return False
    try:
        url = urlsplit(found.spec.url)
        is_local = url.hostname in _LOCAL_HOSTS and url.port in ports
    except ValueError:
        return False
    return is_local or is_gateway(found.spec)


def _listed(texts: list[str]) -> str:
    return ", ".join(texts)
