"""Who may come in over HTTP, and on whose behalf."""

from collections.abc import Callable, Collection
from typing import Any
from urllib.parse import quote, urlsplit

import anyio
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.datastructures import URL
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tooldrawer.gateway.host_names import is_address_of, without_port
from tooldrawer.gateway.principal import IN_REQUEST, Principal
from tooldrawer.gateway.quotas import OpenRequests, QuotaExceeded
from tooldrawer.gateway.tokens import Token, Tokens

WELL_KNOWN = "/.well-known/oauth-protected-resource"
_LOCAL = "local"
_HEALTH_PATHS = ("/healthz", "/readyz")
"""Probes call these by any name; all that they tell is whether the gateway is up."""
_MAX_HOST_CHARS = 300
"""A name in the DNS has up to 253, and a port follows."""
_MAX_PATH_CHARS = 1_000
"""Answers repeat the path and the host, at up to twelve bytes for a character of the path."""
_NO_PRINCIPAL = "none"
"""Stands for all requests without a principal in the count of open requests."""


class Guard:
    """Refuses requests that a web page may have been tricked into sending: by Host and Origin.

    A page on the internet can point its own name at 127.0.0.1 and then talk to this machine; it
    cannot forge these two headers.
    """

    def __init__(
        self,
        inside: ASGIApp,
        *,
        hosts: Collection[str] | None,
        origins: Collection[str],
    ) -> None:
        """`hosts` are lower-case names without a port; `None` lets every one pass.

        The address at which a connection arrived always passes.
        """
        self._inside = inside
        self._hosts = hosts
        self._origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 403, 414 or 421."""
        app = self._inside
        if scope["type"] == "http":
            headers = Request(scope).headers
            if not self._knows_host(headers.get("host", ""), scope):
                app = _refused(421, "This gateway is not called that; see gateway.allowed_hosts.")
            elif not self._knows_origin(headers.get("origin")):
                app = _refused(
                    403, "This page may not use the gateway; see gateway.allowed_origins."
                )
            elif len(scope["path"]) > _MAX_PATH_CHARS:
                app = _refused(414, f"The path is longer than {_MAX_PATH_CHARS:,} characters.")
        await app(scope, receive, send)

    def _knows_host(self, host: str, scope: Scope) -> bool:
        if len(host) > _MAX_HOST_CHARS or not _is_parsable(f"http://{host}"):
            return False
        if self._hosts is None or scope["path"] in _HEALTH_PATHS:
            return True
        name = without_port(host).lower()
        if name in self._hosts or host.lower() in self._hosts:
            return True
        server = scope.get("server")
        return server is not None and is_address_of(name, server[0])

    def _knows_origin(self, origin: str | None) -> bool:
        if origin is None or origin in self._origins:
            return True
        if not _is_parsable(origin):
            return False
        url = URL(origin)
        place = without_port(url.netloc).lower()
        return self._hosts is not None and url.scheme == "http" and place in self._hosts


def _is_parsable(url: str) -> bool:
    """Whether it can be split into its parts: not with half of the brackets of an address."""
    try:
        urlsplit(url)
    except ValueError:
        return False
    return True


class Door:
    """Finds the principal of a request: its token, and the scope that its address names."""

    def __init__(
        self,
        inside: ASGIApp,
        *,
        tokens: Tokens,
        scopes: Callable[[], Collection[str]],
        requests: OpenRequests,
        is_local: bool = True,
    ) -> None:
        """Where others than this machine can come from (not `is_local`), a token is needed."""
        self._inside = inside
        self._tokens = tokens
        self._scopes = scopes
        self._requests = requests
        self._is_local = is_local

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its principal, or answer 401, 403, 404 or 429."""
        request = Request(scope)
        found = self._principal(request)
        if isinstance(found, Response):
            await LimitedRequests(found, self._requests)(scope, receive, send)
            return
        inner = {**scope, IN_REQUEST: found}
        if found.key != _LOCAL:
            # So that the SDK binds a handshake's session to the token that made it.
            access = AccessToken(token=found.key, client_id=found.key, scopes=[], subject=found.key)
            inner["user"] = AuthenticatedUser(access)
        try:
            with self._requests.opened(found.key), anyio.CancelScope() as answering:
                answer = _RevocableAnswer(
                    send,
                    is_valid=lambda: self._is_valid(request, found),
                    refusal=_unauthorized(request),
                    ended=answering.cancel,
                )
                await self._inside(inner, receive, answer.send)
        except QuotaExceeded as error:
            await _refused(429, str(error))(scope, receive, send)

    def admits(self, request: Request) -> bool:
        """Whether the request may see what concerns the whole gateway."""
        if not self._needs_token():
            return True
        token = self._token(request)
        return token is not None and not token.scope

    def _principal(self, request: Request) -> Principal | Response:
        wanted = str(request.path_params.get("scope", ""))
        token = self._token(request)
        if token is None and self._needs_token():
            return _unauthorized(request)
        if token and token.scope and wanted not in ("", token.scope):
            return _refused(403, "This token is for another scope.", _challenge(request, "scope"))
        scope = wanted or (token.scope if token else "")
        if scope and scope not in self._scopes():
            return _refused(404, "There is no such scope.")
        return Principal(key=f"token:{token.id}" if token else _LOCAL, scope=scope)

    def _is_valid(self, request: Request, principal: Principal) -> bool:
        """Whether what the request came in with would still let it in."""
        token = self._token(request)
        return not self._needs_token() if principal.key == _LOCAL else token is not None

    def _needs_token(self) -> bool:
        # Tokens may be given up while a gateway runs; on a network that lets nobody in.
        return not self._is_local or bool(self._tokens)

    def _token(self, request: Request) -> Token | None:
        kind, _, secret = request.headers.get("authorization", "").partition(" ")
        is_bearer = kind.lower() == "bearer" and secret.strip()
        return self._tokens.verify(secret.strip()) if is_bearer else None


class LimitedRequests:
    """Counts requests without a principal as those of one, so that they leave room for others."""

    def __init__(self, inside: ASGIApp, requests: OpenRequests) -> None:
        self._inside, self._requests = inside, requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 429."""
        try:
            with self._requests.opened(_NO_PRINCIPAL):
                await self._inside(scope, receive, send)
        except QuotaExceeded as error:
            await _refused(429, str(error))(scope, receive, send)


class _RevocableAnswer:
    """The answer to one request, which ends when the token of the request is revoked or expires.

    A stream may stay open for days; what is sent on it must not outlive the right to see it.
    """

    def __init__(
        self,
        send: Send,
        *,
        is_valid: Callable[[], bool],
        refusal: Response,
        ended: Callable[[], None],
    ) -> None:
        self._send, self._is_valid = send, is_valid
        self._refusal, self._ended = refusal, ended
        self._has_begun = self._is_over = False

    async def send(self, message: Message) -> None:
        """Send a part of the answer, while the request may have it."""
        if self._is_over:
            return
        if _is_revocable(message) and not self._is_valid():
            await self._end()
            return
        self._has_begun = True
        await self._send(message)

    async def _end(self) -> None:
        self._is_over = True
        if self._has_begun:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
        else:
            await self._send_refusal()
        self._ended()

    async def _send_refusal(self) -> None:
        headers = self._refusal.raw_headers
        await self._send({"type": "http.response.start", "status": 401, "headers": headers})
        await self._send({"type": "http.response.body", "body": bytes(self._refusal.body)})


def _is_revocable(message: Message) -> bool:
    """Whether it may be left out: not the rest of an answer whose length was promised."""
    return message["type"] == "http.response.start" or bool(message.get("more_body"))


def metadata(servers: Collection[str]) -> ASGIApp:
    """The document of RFC 9728 that a 401 points to."""

    async def document(scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        resource = request.url.replace(path=request.url.path.removeprefix(WELL_KNOWN), query="")
        about: dict[str, Any] = {
            "resource": str(resource),
            "resource_name": "tooldrawer",
            "bearer_methods_supported": ["header"],
        }
        if servers:
            about["authorization_servers"] = list(servers)
        await JSONResponse(about)(scope, receive, send)

    return document


def _unauthorized(request: Request) -> Response:
    had_one = "authorization" in request.headers
    said = "This token is not known, or its time is over." if had_one else "A token is needed."
    text = f"{said} Make one with `tooldrawer token create` and send it as a bearer token."
    return _refused(401, text, _challenge(request, "token" if had_one else ""))


def _challenge(request: Request, wrong: str) -> dict[str, str]:
    # Encoded again: a decoded path may have line breaks and letters that no header can have.
    path = quote(request.scope["path"])
    place = request.url.replace(path=f"{WELL_KNOWN}{path}", query="")
    errors = {"token": 'error="invalid_token", ', "scope": 'error="insufficient_scope", '}
    return {"WWW-Authenticate": f'Bearer {errors.get(wrong, "")}resource_metadata="{place}"'}


def _refused(code: int, text: str, headers: dict[str, str] | None = None) -> Response:
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": text}}
    return JSONResponse(body, status_code=code, headers=headers)
