"""What a server wants to know from the person or the model behind a call, and the answers."""

import logging
from collections.abc import Mapping
from typing import cast
from urllib.parse import urlsplit

from mcp import MCPError
from mcp_types import INVALID_REQUEST

from tooldrawer.tool import Json, JsonObject
from tooldrawer.upstream.behind import CannotAsk
from tooldrawer.upstream.turns import Flight

ELICIT = "elicitation/create"
SAMPLE = "sampling/createMessage"
ROOTS = "roots/list"
METHODS = (ELICIT, SAMPLE, ROOTS)
_DECLINE: JsonObject = {"action": "decline"}
_CANCEL: JsonObject = {"action": "cancel"}
_logger = logging.getLogger(__name__)


class Questions:
    """Questions of one server. They name it, because the person must know who asks."""

    def __init__(self, server: str) -> None:
        self._server = server

    async def pushed(self, method: str, params: JsonObject, flight: Flight | None) -> JsonObject:
        """The answer to a request that the server sent.

        Raises:
            MCPError: There is nobody who could give one.
        """
        question: JsonObject = {"method": method, "params": params}
        found = await self._ask({"question": question}, flight)
        answer = found.get("question")
        if answer is not None:
            return answer
        # Never an empty list of roots: a server may take it for "no folder is allowed".
        if method == ROOTS and flight is None:
            raise MCPError(INVALID_REQUEST, "Roots are only known during a call. Ask in one.")
        raise self._nobody(method)

    async def required(self, questions: JsonObject, flight: Flight) -> dict[str, JsonObject]:
        """The answers to the questions of an `input_required` result.

        Raises:
            MCPError: There is nobody who could give them.
        """
        asked = {key: _object(question) for key, question in questions.items()}
        found = await self._ask(asked, flight)
        for key, question in asked.items():
            if key not in found:
                raise self._nobody(str(question.get("method")))
        return found

    async def _ask(
        self, questions: Mapping[str, JsonObject], flight: Flight | None
    ) -> dict[str, JsonObject]:
        """What was answered. What a person may decline is always answered."""
        answers: dict[str, JsonObject] = {
            key: _DECLINE for key, each in questions.items() if _is_improper(each)
        }
        proper = {key: self._named(q) for key, q in questions.items() if key not in answers}
        without = {key: _DECLINE for key, each in proper.items() if each.get("method") == ELICIT}
        if flight is None or flight.client is None or not proper:
            return {**answers, **without}
        with flight.asking() as scope:
            try:
                return {**answers, **await flight.client.ask(proper)}
            except CannotAsk:
                return {**answers, **without}
            except Exception:  # the boundary to whoever shows questions
                _logger.exception("A question of the server %r could not be put.", self._server)
                return {**answers, **without}
        assert scope.cancelled_caught
        return {**answers, **dict.fromkeys(without, _CANCEL)}

    def _named(self, question: JsonObject) -> JsonObject:
        params = _object(question.get("params"))
        if question.get("method") != ELICIT:
            return question
        message = f"[{self._server}] {params.get('message') or ''}"
        return {**question, "params": {**params, "message": message}}

    def _nobody(self, method: str) -> MCPError:
        what = {SAMPLE: "run its model for a server", ROOTS: "name its folders"}
        said = what.get(method, f"answer {method}")
        return MCPError(INVALID_REQUEST, f"The client behind this call cannot {said}.")


def _is_improper(question: JsonObject) -> bool:
    """Whether it would send a person to something that is no web page."""
    params = _object(question.get("params"))
    if question.get("method") != ELICIT or params.get("mode") != "url":
        return False
    try:
        parts = urlsplit(str(params.get("url")))
    except ValueError:
        return True
    return parts.scheme not in {"http", "https"} or not parts.hostname


def _object(value: Json) -> JsonObject:
    return cast("JsonObject", value) if isinstance(value, Mapping) else {}
