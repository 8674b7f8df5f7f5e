"""Calls that were refused because required arguments are missing."""

import json
from collections import OrderedDict
from hashlib import blake2b

from tooldrawer.tool import JsonObject, Tool

_MAX_REMEMBERED = 200


class IncompleteCalls:
    """Tells the first call without its required arguments from an unchanged repetition.

    Some servers fill in arguments that their own schema requires, for example an account from
    their environment. A model that repeats the call leaves the decision to the server.
    """

    def __init__(self) -> None:
        self._digests: OrderedDict[str, None] = OrderedDict()

    def is_repeated(self, tool: Tool, arguments: JsonObject) -> bool:
        """Whether this very call was asked about before; remembers it."""
        text = json.dumps([tool.fingerprint, arguments], sort_keys=True)
        digest = blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest()
        is_known = digest in self._digests
        self._digests[digest] = None
        self._digests.move_to_end(digest)
        while len(self._digests) > _MAX_REMEMBERED:
            self._digests.popitem(last=False)
        return is_known
