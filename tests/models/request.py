"""A request as it came, and what a model sees of it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

JsonObject = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request, whether it was answered or refused."""

    wire: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    json: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a tool answered, as the model is told."""

    call_id: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a model sees of a request that was accepted."""

    request: Request
    model: str
    streamed: bool
    names: frozenset[str]  # tools which a model could call now
    results: tuple[Result, ...]
    users: tuple[str, ...]  # what the person said, message by message
    prompt: bytes  # as the provider orders it for its cache: tools, system, messages
    searches: bool = False  # the provider's own tool_search is there
    namespaces: Mapping[str, str]  # tool -> namespace

    @property
    def json(self) -> JsonObject:
        return self.request.json

    @property
    def first_user(self) -> str:
        return self.users[0] if self.users else ""

    @property
    def last_user(self) -> str:
        return self.users[-1] if self.users else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How this endpoint differs from the newest."""

    native: bool = True
    known_models: frozenset[str] | None = None
    auth: bool = True


class Refused(Exception):
    """The request is not one that the provider would take."""

    def __init__(
        self,
        message: str,
        *,
        status: int = 400,
        type: str | None = None,  # noqa: A002  the providers' word
        code: str | None = None,
        param: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.type = type
        self.code = code
        self.param = param


def is_object(value: object) -> TypeGuard[JsonObject]:
    """Whether it is a JSON object."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Whether it is a JSON array."""
    return isinstance(value, list)


def objects(value: object) -> list[JsonObject]:
    """The JSON objects of a list; nothing if it is no list."""
    return [item for item in value if is_object(item)] if is_list(value) else []


def text_of(content: object) -> str:
    """The text of a string, or of a list of parts."""
    if isinstance(content, str):
        return content
    return "".join(str(part["text"]) for part in objects(content) if "text" in part)


def compact(value: object) -> bytes:
    """JSON in one line, with its characters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
