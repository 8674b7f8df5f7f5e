"""What an exception of a tool or a hook says, in words for a model."""

from tooldrawer.exception_groups import single_cause


def describe_error(error: BaseException) -> str:
    """What an exception says, with its type unless that is a sentence.

    The text of a `KeyError` is the bare key, which nobody understands by itself. A task group puts
    even a single error into a group, whose own text does not give the reason.
    """
    error = single_cause(error)
    kind, text = type(error).__name__, error_message(error)
    if isinstance(error, KeyError) or " " not in text:
        return f"{kind}: {text}" if text else kind
    return text


def error_message(error: BaseException) -> str:
    """The text of an exception, also of one that fails to give it."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001  the boundary to exceptions that anyone may have written
        return f"{type(error).__name__} (its text cannot be shown)"
