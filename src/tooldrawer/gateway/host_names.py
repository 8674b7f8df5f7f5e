"""Which names and addresses a request may call this gateway by, in its Host header."""

import socket
from collections.abc import Collection
from ipaddress import IPv6Address, ip_address

_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
_ANY_PORT = ":*"


def is_local(host: str) -> bool:
    """Whether only this machine can reach `host`."""
    if host == "localhost":
        return True
    address = _parse_address(host)
    return address is not None and ip_address(address).is_loopback


def allowed_names(host: str, configured: Collection[str]) -> frozenset[str] | None:
    """Return the names for a gateway that listens on `host`; `None` stands for all names.

    Names that the configuration adds never take away those that work without them: the address
    that the gateway prints, and what this machine is called in its network.
    """
    further = (name.removesuffix(_ANY_PORT) for name in configured)
    if is_local(host):
        return frozenset(map(str.lower, (*_LOOPBACK_NAMES, *further)))
    # Every request from a network needs a token, which a web page does not have.
    if not configured:
        return None
    return frozenset(map(str.lower, (*_LOOPBACK_NAMES, host, *_machine_names(), *further)))


def is_address_of(host: str, local_address: str) -> bool:
    """Whether `host` is the address at which the connection arrived.

    A web page that points its own name at this machine sends that name, never an address.
    """
    address = _parse_address(host)
    return address is not None and address == _parse_address(local_address)


def without_port(host: str) -> str:
    """Return the name or address in a Host header."""
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host


def _machine_names() -> tuple[str, ...]:
    full = socket.gethostname()
    short = full.partition(".")[0]
    return (full, short, f"{short}.local")


def _parse_address(host: str) -> str | None:
    """Return an address in its one spelling, or nothing for a name."""
    try:
        found = ip_address(host.strip("[]"))
    except ValueError:
        return None
    # A socket for both families reports an IPv4 client's side as ::ffff:192.0.2.1.
    mapped = found.ipv4_mapped if isinstance(found, IPv6Address) else None
    return str(mapped or found)
