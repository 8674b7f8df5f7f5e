"""Load onnxruntime with its telemetry switched off."""

import os
from typing import Any, cast

_SWITCH = "ORT_DISABLE_TELEMETRY"


def load_runtime() -> Any:
    """Import onnxruntime so that it writes no device id and contacts no server.

    Version 1.31 reads the switch while it is imported: it creates a device id in the user's cache
    folder at once and contacts a collector seconds later. Calling `disable_telemetry_events` after
    the import prevents neither; it is for a host that imported the runtime before us.

    Raises:
        ImportError: onnxruntime is not installed.
    """
    os.environ[_SWITCH] = "1"
    # Imported here: it costs 0.1 s, and search by words works without it.
    import onnxruntime  # noqa: PLC0415  # pyright: ignore[reportMissingTypeStubs]

    runtime = cast("Any", onnxruntime)
    runtime.disable_telemetry_events()
    return runtime
