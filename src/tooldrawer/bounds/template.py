"""Addresses matched with URI templates, in time linear in both, and which template fits best."""

import re

MAX_URI_CHARS = 8_192
_FIELD = re.compile(r"\{[^{}]*\}")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
Specificity = tuple[bool, int, int]
"""Greater for a template that fits fewer addresses."""


def matches_template(template: str, uri: str) -> bool:
    """Whether `uri` is `template` with every field replaced by at least one character.

    Each text between fields is looked for once, as far left as possible: what follows then has the
    most room, so no other place has to be tried. A regular expression would try them all.
    """
    first, *others = _FIELD.split(template)
    if not others:
        return uri == first
    if len(uri) > MAX_URI_CHARS or not uri.startswith(first) or "\n" in uri:
        return False
    place = len(first)
    for text in others[:-1]:
        found = uri.find(text, place + 1)
        if found < 0:
            return False
        place = found + len(text)
    return uri.endswith(others[-1]) and len(uri) - len(others[-1]) > place


def rank_template(template: str) -> Specificity:
    """How specific a template is: it names a scheme, then its literal prefix, then its literals.

    So `{+x}`, which every address fits, never takes one from a template that names its scheme.
    """
    first, *others = _FIELD.split(template)
    has_scheme = _SCHEME.match(first) is not None
    return has_scheme, len(first), len(first) + sum(map(len, others))
