"""Bodies that an SDK reads to their end by itself: refusals and lists. They get an end."""

import anyio
import httpx2

_MOST = 1_000_000
"""Bytes, unpacked: what a refusal says is a sentence, and a list of models some thousand names."""
_LONGEST = 10.0
"""Seconds for all of it; an SDK's own time limit begins anew with every byte."""


async def bounded(response: httpx2.Response) -> None:
    """A hook of an HTTP client: reads such a body as far as it is reasonable, and leaves the rest.

    The answer of a model is not touched: `streamed.py` weighs it as it comes.
    """
    if response.is_success and response.request.method == "POST":
        return
    pieces: list[bytes] = []
    size = 0
    # Another response around the same stream, because one that was read is read for ever.
    inner = httpx2.Response(response.status_code, headers=response.headers, stream=response.stream)
    with anyio.move_on_after(_LONGEST) as scope:
        try:
            async for chunk in inner.aiter_bytes():
                pieces.append(chunk[: _MOST - size])
                size += len(pieces[-1])
                if size >= _MOST:
                    # Cancelled and not left at once: see streamed.py.
                    scope.cancel()
        except httpx2.HTTPError:
            pass  # a body that breaks off, or that is packed wrongly, says what it said until then
    await inner.aclose()
    response.stream = httpx2.ByteStream(b"".join(pieces))
    for name in ("content-encoding", "content-length", "transfer-encoding"):
        response.headers.pop(name, None)
