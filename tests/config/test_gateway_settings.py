"""`gateway`, and when a server is started."""

import pytest

from tests.requirements import requirement
from tooldrawer import Config
from tooldrawer.config import GatewayOptions, parse
from tooldrawer.config.settings import ConnectionOptions, QuotaOptions

pytestmark = requirement("CFG-2")


def read(text: str) -> Config:
    return parse(text, name="x.yaml", environment={"HOST": "tools.example"})


def test_every_setting_of_the_gateway_is_read() -> None:
    found = read(
        """
        gateway:
          mode: passthrough
          host: 0.0.0.0
          port: 0
          allowed_hosts: ["${HOST}", "other.example:*"]
          allowed_origins: ["https://${HOST}", "vscode-webview://panel"]
          authorization_servers: ["https://login.example"]
          first_search_wait: 0
          drain: 2.5
          instructions_max_chars: 0
          connections: {max_open: 9, max_incomplete: 8, header_timeout: 7, body_timeout: 6.5,
            write_timeout: 5.5, request_max_bytes: 5000}
          quotas: {sessions: 1, suspended_calls: 2, calls_in_flight: 3, searches_per_minute: 4,
            calls_per_minute: 5, subscriptions: 6}
        """
    )
    assert found.gateway == GatewayOptions(
        mode="passthrough",
        host="0.0.0.0",
        port=0,
        allowed_hosts=("tools.example", "other.example:*"),
        allowed_origins=("https://tools.example", "vscode-webview://panel"),
        authorization_servers=("https://login.example",),
        first_search_wait=0,
        drain=2.5,
        instructions_max_chars=0,
        connections=ConnectionOptions(
            max_open=9,
            max_incomplete=8,
            header_timeout=7,
            body_timeout=6.5,
            write_timeout=5.5,
            request_max_bytes=5000,
        ),
        quotas=QuotaOptions(
            sessions=1,
            suspended_calls=2,
            calls_in_flight=3,
            searches_per_minute=4,
            calls_per_minute=5,
            subscriptions=6,
        ),
    )


@pytest.mark.parametrize("text", ["model:", "gateway:", "gateway: {}"])
def test_without_them_it_serves_the_bridge_to_this_machine(text: str) -> None:
    options = read(text).gateway
    assert options == GatewayOptions()
    assert (options.mode, options.host, options.port) == ("bridge", "127.0.0.1", 8765)
    assert (options.first_search_wait, options.drain) == (5, 10)
    assert options.instructions_max_chars == 2000


def test_what_the_environment_filled_is_not_shown() -> None:
    text = "gateway: {allowed_hosts: ['${HOST}'], allowed_origins: ['https://${HOST}']}"
    assert "tools.example" not in repr(read(text).gateway)


def test_a_server_can_wait_for_the_first_call() -> None:
    found = read("mcp_servers: {clock: {command: clockd, lazy: true}, tide: {command: tided}}")
    assert [server.lazy for server in found.servers] == [True, False]
