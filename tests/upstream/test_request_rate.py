"""Requests of a server, counted with a clock of the test."""

import logging

import pytest

from tooldrawer.upstream.request_rate import RequestRate


def test_a_flood_of_requests_is_cut_and_named_once(caplog: pytest.LogCaptureFixture) -> None:
    now = 0.0
    rate = RequestRate("noisy", clock=lambda: now)
    with caplog.at_level(logging.WARNING):
        admitted = [rate.admits_one() for _ in range(1000)]
    assert admitted == [True] * 200 + [False] * 800
    assert caplog.messages == [
        "The server noisy sends more than 20 requests a second; the rest get no answer."
    ]


def test_requests_are_answered_again_after_a_pause() -> None:
    now = 0.0
    rate = RequestRate("noisy", clock=lambda: now)
    while rate.admits_one():
        pass
    now = 1.0
    assert [rate.admits_one() for _ in range(21)] == [True] * 20 + [False]
