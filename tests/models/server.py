"""A scripted model behind a real socket, on every wire, as strict as the providers.

    from tests.models.script import Call, Say
    from tests.models.server import scripted

    with scripted(Call("read_note", {"title": "a"}), Say("done")) as server:
        client = AsyncOpenAI(base_url=f"{server.url}/v1", api_key="key")       # chat, responses
        client = AsyncAnthropic(base_url=server.url, api_key="key")
        client = genai.Client(api_key="key", http_options={"base_url": server.url})
        ...
    server.requests     # everything that came: path, headers, raw body, JSON
    server.seen         # what the model saw of each accepted request: names, results, users
    server.refusals     # what was refused, with status and message
    server.disconnects  # requests whose client went away before the end

Each accepted request takes the next step of script.py: Say, Call, Turn, Search, Huge, Fail, Cut,
Endless, InvalidUtf8, Hold, Repeat; a step may be a function of `Seen`. For several
conversations give scripts: `scripted(Script([...], first="child's task"), Script([...]))`; the
first that fits is used. A script in which the model calls a name that it was not shown (without
`blind=True`), or that ends too early, is a mistake of the test: leaving the `with` block fails.
`native=False` refuses the provider's own deferral, `known_models` every other model, `auth=False`
asks for no key. The key "wrong" is always wrong.
"""

import json
import socket
import threading
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.models.anthropic import AnthropicWire
from tests.models.chat import ChatWire
from tests.models.gemini import GeminiWire
from tests.models.performance import Performance
from tests.models.request import JsonObject, Options, Refused, Request, Seen, is_object
from tests.models.responses import ResponsesWire
from tests.models.script import Decide, Fail, Repeat, Script, Step
from tests.models.usage import PromptCache
from tests.models.wire import Wire


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A request that was not accepted, and why."""

    request: Request
    status: int
    message: str


class ModelServer:
    """The scripted model, and everything that it was sent."""

    def __init__(self, scripts: Sequence[Script], options: Options) -> None:
        self.url = ""
        self.requests: list[Request] = []
        self.seen: list[Seen] = []
        self.refusals: list[Refusal] = []
        self.mistakes: list[str] = []
        self.disconnects: list[Request] = []
        self.closing = threading.Event()
        self._changed = threading.Condition()
        self._scripts = scripts
        self._options = options
        self._cache = PromptCache()

    def wait_for(self, count: int, timeout: float = 60.0) -> None:
        """Block until so many requests have come."""
        self._wait(self.requests, count, timeout, "requests came")

    def wait_for_disconnects(self, count: int, timeout: float = 60.0) -> None:
        """Block until so many clients have gone away before the end."""
        self._wait(self.disconnects, count, timeout, "clients left")

    def _wait(self, things: list[Request], count: int, timeout: float, what: str) -> None:
        with self._changed:
            if not self._changed.wait_for(lambda: len(things) >= count, timeout):
                raise TimeoutError(f"{len(things)} of {count} {what} in {timeout} s")

    def _leave(self, request: Request) -> None:
        with self._changed:
            self.disconnects.append(request)
            self._changed.notify_all()

    def app(self) -> Starlette:
        """The endpoints of all providers side by side."""
        gemini = GeminiWire()
        return Starlette(
            routes=[
                self._route("/v1/chat/completions", ChatWire()),
                self._route("/v1/responses", ResponsesWire()),
                self._route("/v1/messages", AnthropicWire()),
                self._route("/v1beta/models/{call:path}", gemini),
                self._route("/v1/models/{call:path}", gemini),  # google-genai's default since 3.0
                Route("/v1/models", self._models),
            ]
        )

    def _route(self, path: str, wire: Wire) -> Route:
        async def answer(http: HttpRequest) -> Response:
            request = await self._record(http, wire)
            if not request.json:
                refused = Refused("We could not parse the JSON body of your request.")
                return self._refuse(request, wire, refused)
            try:
                seen = wire.read(request, self._options)
            except Refused as refused:
                return self._refuse(request, wire, refused)
            except (KeyError, TypeError, AttributeError, IndexError) as error:
                # The wires check what clients get wrong, not every shape that JSON can have.
                refused = Refused(f"The request has an unexpected shape: {error!r}")
                return self._refuse(request, wire, refused)
            self.seen.append(seen)
            performance = Performance(
                wire=wire, seen=seen, number=len(self.seen), cache=self._cache, http=http
            )
            step = self._next(performance)
            return await performance.play(step, closing=self.closing, left=self._leave)

        return Route(path, answer, methods=["POST"])

    async def _record(self, http: HttpRequest, wire: Wire) -> Request:
        body = await http.body()
        request = Request(
            wire=wire.name,
            path=http.url.path,
            query=dict(http.query_params),
            headers=dict(http.headers),
            body=body,
            json=_parsed(body),
        )
        with self._changed:
            self.requests.append(request)
            self._changed.notify_all()
        return request

    def _refuse(self, request: Request, wire: Wire, refused: Refused) -> Response:
        fail = Fail(
            refused.status, refused.message, type=refused.type, code=refused.code,
            param=refused.param,
        )  # fmt: skip
        self.refusals.append(
            Refusal(request=request, status=refused.status, message=refused.message)
        )
        return JSONResponse(wire.fail(fail), status_code=fail.status)

    def _next(self, performance: Performance) -> Step:
        seen = performance.seen
        script = next((script for script in self._scripts if script.fits(seen)), None)
        if script is None:
            return self._mistaken(f"no script fits a conversation of {seen.first_user!r}")
        try:
            step = script.take(seen)
        except Exception as error:  # noqa: BLE001  boundary: a step that the test has written
            return self._mistaken(f"a step of the script raised {error!r}")
        if step is None:
            return self._mistaken(f"the script is over after {script.taken} steps")
        wrong = performance.impossible(step)
        return step if wrong is None else self._mistaken(wrong)

    def _mistaken(self, what: str) -> Step:
        self.mistakes.append(what)
        return Fail(400, f"mistake in the test: {what}", code="mistake")

    async def _models(self, http: HttpRequest) -> Response:
        del http
        names = sorted(self._options.known_models or {"scripted"})
        data = [
            {"id": name, "object": "model", "type": "model", "created": 0, "owned_by": "tests"}
            | {"display_name": name, "created_at": "2026-01-01T00:00:00Z"}
            for name in names
        ]
        ends = {"first_id": names[0], "last_id": names[-1]}
        return JSONResponse({"object": "list", "data": data, "has_more": False, **ends})


def _parsed(body: bytes) -> JsonObject:
    try:
        found = json.loads(body)
    except ValueError:
        return {}
    return found if is_object(found) else {}


@contextmanager
def scripted(
    *steps: Step | Decide | Repeat | Script,
    native: bool = True,
    known_models: Iterable[str] | None = None,
    auth: bool = True,
) -> Generator[ModelServer]:
    """Serve the script on a free port of this machine until the block is left."""
    scripts = [step for step in steps if isinstance(step, Script)]
    plain = [step for step in steps if not isinstance(step, Script)]
    if plain or not scripts:
        scripts.append(Script(plain))
    known = None if known_models is None else frozenset(known_models)
    server = ModelServer(scripts, Options(native=native, known_models=known, auth=auth))
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        server.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with _running(server, listener):
            yield server
    if server.mistakes:
        raise AssertionError("; ".join(server.mistakes))


class _QuickServer(uvicorn.Server):
    """Looks ten times as often whether it should end: each test waits for that."""

    async def main_loop(self) -> None:
        """Until it should exit."""
        counter = 0
        while not await self.on_tick(counter):
            counter += 1
            await anyio.sleep(0.01)


@contextmanager
def _running(server: ModelServer, listener: socket.socket) -> Generator[None]:
    config = uvicorn.Config(
        server.app(),
        log_config=None,
        log_level="critical",
        lifespan="off",
        ws="none",
        http="h11",
        timeout_graceful_shutdown=1,  # for answers that would never end
    )
    inside = _QuickServer(config)
    thread = threading.Thread(target=inside.run, args=([listener],), name="scripted-model")
    listener.listen()
    thread.start()
    try:
        yield
    finally:
        server.closing.set()
        inside.should_exit = True
        thread.join()
