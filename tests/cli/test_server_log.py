"""What the log of `serve --http` says after the summary."""

from tests.requirements import requirement
from tooldrawer.activity import (
    CallFinished,
    ConfigReloaded,
    Event,
    UpstreamChanged,
    UpstreamDown,
    UpstreamUp,
)
from tooldrawer.cli.server_log import ServerLog

PATH = "tooldrawer.yaml"


def lines(*events: Event, running: tuple[str, ...] = ("shop",)) -> list[str]:
    written: list[str] = []
    log = ServerLog(
        written.append, since=10.0, running=running, is_disabled=lambda name: name == "unset"
    )
    for event in events:
        log.write(event)
    return written


def up(name: str, *, at: float = 11.0, tools: int = 1, note: str = "") -> UpstreamUp:
    return UpstreamUp(at=at, upstream=name, tools=tools, duration=0.1, note=note)


def down(name: str, *, at: float = 11.0) -> UpstreamDown:
    return UpstreamDown(at=at, upstream=name, error=f"The server {name!r} stopped:\nit left.")


@requirement("AF-2")
def test_a_server_that_goes_down_and_comes_back_is_logged_once_each() -> None:
    assert lines(down("shop"), up("shop", note="after 2 failed attempts"), up("shop")) == [
        "shop is down: The server 'shop' stopped: it left.",
        "shop is up with 1 tool (after 2 failed attempts).",
    ]


def test_what_the_summary_showed_and_what_is_warned_about_is_not_logged_again() -> None:
    finished = CallFinished(at=11.0, tool="t", duration=0.1, result_tokens=1)
    changed = UpstreamChanged(at=11.0, upstream="shop", added=1, removed=0, changed=0)
    wrong = ConfigReloaded(at=11.0, path=PATH, error="wrong")
    known = (up("lab", at=9.0), down("lab", at=9.0), up("shop"), down("unset"))
    assert lines(*known, finished, changed, wrong) == []


def test_applied_settings_are_logged_with_what_changed() -> None:
    first = ConfigReloaded(
        at=11.0, path=PATH, added=("lab",), removed=("shop",), changed=("a", "b")
    )
    again = ConfigReloaded(at=12.0, path=PATH)
    assert lines(first, up("lab", tools=2), again, up("a"), running=("a", "shop")) == [
        "Applied tooldrawer.yaml: added lab; removed shop; changed a, b.",
        "lab is up with 2 tools.",
        "Applied tooldrawer.yaml: the servers are the same.",
        "a is up with 1 tool.",
    ]


def test_a_corrected_mistake_is_logged() -> None:
    wrong = ConfigReloaded(at=11.0, path=PATH, error="wrong")
    right = ConfigReloaded(at=12.0, path=PATH, added=("lab",))
    assert lines(wrong, right) == ["The mistake is corrected. Applied tooldrawer.yaml: added lab."]
