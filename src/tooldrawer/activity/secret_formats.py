"""How keys, tokens and passwords look that are recognized without the name of their field.

Every pattern is linear in the text: it begins at a literal, and what follows is bounded or is
consumed by the match. A pattern runs only if one of its markers is in the text, in lower case.
"""

import re
from base64 import b64decode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

MASK = "***"


def _always(_: str) -> bool:
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretFormat:
    """One kind of secret. A group named `keep` is not secret and stays."""

    markers: tuple[str, ...]
    """None if there is no literal to look for first."""
    pattern: re.Pattern[str]
    confirm: Callable[[str], bool] = _always
    """A further check of what the pattern found."""

    def mask(self, text: str, lowered: str) -> str:
        """Replace what is secret in `text`, which is `lowered` in lower case."""
        if self.markers and not has_any(lowered, self.markers):
            return text
        return self.pattern.sub(self._replace, text)

    def _replace(self, found: re.Match[str]) -> str:
        if not self.confirm(found[0]):
            return found[0]
        return f"{found['keep'] or ''}{MASK}" if "keep" in self.pattern.groupindex else MASK


def has_any(lowered: str, words: tuple[str, ...]) -> bool:
    """Whether one of the words is in the text; a loop, since `any` takes twice as long."""
    for word in words:  # noqa: SIM110
        if word in lowered:
            return True
    return False


def mask_formats(text: str) -> str:
    """Replace every secret of a known format."""
    if len(text) < _SHORTEST_SECRET_CHARS:
        return text
    is_random = _LONG_WORD.search(text) is not None and _MIXED.search(text) is not None
    if not is_random and _OTHER_SIGNS.search(text) is None:
        return text
    lowered = text.lower()
    for each in _ALL_FORMATS if is_random else _OTHER_FORMATS:
        masked = each.mask(text, lowered)
        if masked != text:
            text, lowered = masked, masked.lower()
    return text


_SHORTEST_SECRET_CHARS = 8
# Most texts are names and sentences: they have no long word, or small letters only.
_LONG_WORD = re.compile(r"[\w\-+/=.~%:]{15}")
_MIXED = re.compile(r"[A-Z0-9]")
_OTHER_SIGNS = re.compile(r"[:/\-]|bearer|basic|password", re.IGNORECASE)
"""One of these is in every secret of the other formats."""
_MIN_CLASS_CHANGES = 16
"""Between upper case, lower case and digits, in 40 characters. Random ones have 24 on average and
99.5 % of them at least 16; a path or a name in camel case has about 12."""


def _has_aws_disorder(text: str) -> bool:
    classes = [
        "A" if char.isupper() else "a" if char.islower() else "0"
        for char in text
        if char not in "/+"
    ]
    changes = sum(one != other for one, other in pairwise(classes))
    return changes >= _MIN_CLASS_CHANGES and "A" in classes and "a" in classes


def _is_name_and_password(text: str) -> bool:
    """Whether what follows `Basic` is a name and a password, joined by a colon, in base64."""
    coded = text.split()[1].rstrip("=")
    try:
        return b":" in b64decode(coded + "=" * (-len(coded) % 4))
    except ValueError:
        return False


def _format(
    markers: str, pattern: str, *, flags: int = 0, confirm: Callable[[str], bool] = _always
) -> SecretFormat:
    return SecretFormat(
        markers=tuple(markers.split()), pattern=re.compile(pattern, flags), confirm=confirm
    )


_START = r"(?<![A-Za-z0-9_\-])"
_IS_MIXED = r"(?=[\w\-]{0,64}?[A-Z0-9])"
"""Names of tools and packages begin like keys too; keys have digits or capitals."""

# Followed by letters and digits only, so that names with further underscores do not match.
_PREFIXES_PLAIN = (
    "npm_ hf_ gsk_ r8_ lin_api_ ntn_ secret_ glsa_ sbp_ dop_v1_ doo_v1_ dor_v1_ shpat_ shpca_ "
    "shppa_ shpss_ whsec_ xai- pplx- NRAK- ATATT3 ATBB rnd_ dapi key- AGE-SECRET-KEY- ghp_ gho_ "
    "ghu_ ghs_ ghr_"
)
# Followed by text with underscores and dashes.
_PREFIXES_DASHED = (
    "github_pat_ glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- AIza ya29. "
    "GOCSPX- pypi-AgE figd_ dckr_pat_ tvly- sq0atp- sq0csp- PMAK- hvs. hvb. glc_eyJ xapp- xoxa- "
    "xoxb- xoxc- xoxd- xoxe- xoxe. xoxo- xoxp- xoxr- xoxs- dp.pt. dp.st. dp.ct. dp.sa. hvr. HRKU- "
    "tskey- CCIPAT_ CCIPRJ_"
)


def _prefixed(prefixes: str, rest: str) -> Iterator[SecretFormat]:
    names = prefixes.split()
    choices = "|".join(map(re.escape, names))
    yield _format(prefixes.lower(), rf"{_START}(?:{choices}){_IS_MIXED}{rest}")


_WORD = r"[ \t\n]{1,64}[^\s\"']{1,256}[ \t\n]{1,64}"
"""What is between two names in a `.netrc`."""
_FLY_TOKEN = r"(?:fm1[ar]|fm2|fo1)_[\w+/=\-]{40,}"
_PEM_LABEL = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"

_OTHER_FORMATS: tuple[SecretFormat, ...] = (
    _format(
        "-----begin",
        rf"-----BEGIN {_PEM_LABEL}.*?(?:-----END {_PEM_LABEL}|\Z)",
        flags=re.DOTALL,
    ),
    _format("bearer", r"\bbearer\s+[\w\-.~+/]{8,}=*", flags=re.IGNORECASE),
    _format(
        "basic",
        r"\bbasic\s+[A-Za-z0-9+/]{4,4096}={0,2}",
        flags=re.IGNORECASE,
        confirm=_is_name_and_password,
    ),
    # A password in an address; without one, a user name that nobody types.
    _format("://", r"(?P<keep>://[^\s/:@\"'<>?#]{0,256}:)[^\s/\"'<>?#]{1,256}(?=@)"),
    _format("://", r"(?P<keep>://)[A-Za-z0-9_\-]{20,256}(?=@)"),
    _format(
        "hooks.slack.com discord",
        r"(?P<keep>\b(?:hooks\.slack\.com|discord(?:app)?\.com/api/webhooks)/)[\w\-/+]{16,}",
    ),
    # curl -u name:password; numbers are the user and group of a container.
    _format(
        "-u --user --proxy-user",
        r"(?P<keep>(?<!\S)(?:-u|--user|--proxy-user)[ =]['\"]?[^\s:'\"]{1,64}:)"
        r"(?!\d{1,6}(?!\S))[^\s'\"]{1,256}",
    ),
    # mysql -pPASSWORD; two numbers with a colon are ports of a container.
    _format(
        "mysql mariadb",
        r"(?P<keep>\b(?:mysql|mariadb)[\w\-]{0,16}[ \t][^\n|;&]{0,128}?(?<=[ \t])-p)(?!\d+:\d)"
        r"(?:\"[^\"\n]{1,256}\"|'[^'\n]{1,256}'|[^\s\"'&;,)`]{1,256})",
    ),
    # A `.netrc`: machine NAME login NAME password X, in one line or in several. In a sentence
    # about a login and its password, no number follows.
    _format(
        "password",
        rf"(?P<keep>\b(?:machine{_WORD}|default[ \t\n]{{1,64}})login(?!\s+(?:and|or)\s){_WORD}"
        rf"(?:account{_WORD})?password[ \t]{{1,64}})[^\s\"']+",
    ),
    _format(
        "password",
        r"(?P<keep>^[ \t]{0,64}(?:machine|login|account)[ \t]{1,64}\S{1,256}[ \t]{0,64}\r?\n"
        r"[ \t]{0,64}password[ \t]{1,64})\S+",
        flags=re.MULTILINE,
    ),
    _format(
        "password",
        rf"(?P<keep>\blogin{_WORD}password[ \t]{{1,64}})(?=[^\s\"'\d]{{0,64}}\d)[^\s\"']+",
    ),
    _format(
        "putty-user-key-file",
        r"PuTTY-User-Key-File-\d.*?(?:Private-(?:MAC|Hash):\s{0,4}[0-9a-f]+|\Z)",
        flags=re.DOTALL,
    ),
)
_RANDOM_FORMATS: tuple[SecretFormat, ...] = (
    *_prefixed(_PREFIXES_PLAIN, r"[A-Za-z0-9]{20,}"),
    *_prefixed(_PREFIXES_DASHED, r"[\w\-=]{10,}(?:\.[\w\-]{2,})*"),
    # Our own: 32 random bytes.
    _format("td_", rf"{_START}td_{_IS_MIXED}[\w\-]{{43}}(?![\w\-])"),
    # OpenAI, Anthropic, Stripe and those that copied them.
    _format("sk- sk_ pk- pk_ rk- rk_", rf"{_START}(?:sk|pk|rk)[-_]{_IS_MIXED}[\w\-]{{16,}}"),
    # Vault, before it had prefixes; Google's refresh tokens.
    _format(
        "s.",
        r"(?<![\w.\-])s\.(?=[A-Za-z]{0,23}\d)(?=[A-Z0-9]{0,23}[a-z])(?=[a-z0-9]{0,23}[A-Z])"
        r"[A-Za-z0-9]{24}(?:\.[A-Za-z0-9]{5})?(?!\.?[\w\-])",
    ),
    _format("1//0", r"(?<![\w/:.\-])1//0[\w\-]{30,}"),
    # PlanetScale, Sentry, Fly.io, Square, Cloudflare's origin keys, Pulumi.
    _format("pscale_", rf"{_START}pscale_(?:tkn|pw|oauth)_{_IS_MIXED}[\w\-=.]{{31,}}[\w\-=]"),
    _format("sntrys_ sntryu_", rf"{_START}sntry[su]_{_IS_MIXED}[\w+/=\-]{{20,}}"),
    _format("fm1 fm2_ fo1_", rf"{_START}(?:FlyV1\s{{1,4}})?{_FLY_TOKEN}(?:,{_FLY_TOKEN})*"),
    _format("eaaa", rf"(?<![\w+/=\-])EAAA{_IS_MIXED}[\w\-]{{40,}}"),
    _format("v1.0-", r"(?<![\w.\-])v1\.0-[0-9a-f]{24}-[0-9a-f]{64,}(?![\w\-])"),
    _format("pul-", rf"{_START}pul-[0-9a-f]{{40}}(?![\w\-])"),
    # AWS: the id, and the secret that is often beside it.
    _format(
        "akia asia abia acca",
        r"\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b"
        r"(?:[\s:,;|\"'=]{1,8}[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=]))?",
    ),
    # JSON web tokens, signed or encrypted. They begin only where a word does, else a long row of
    # beginnings would be read over and over.
    _format("eyj", r"(?<![\w\-])eyJ[\w\-]{8,}\.[\w\-]{8,}(?:\.[\w\-]{4,}){1,3}"),
    # SendGrid, Twilio, Mailchimp, Telegram, Discord, Terraform, Airtable.
    _format("sg.", rf"{_START}SG\.[\w\-]{{16,32}}\.[\w\-]{{32,64}}"),
    _format("sk", r"\bSK[0-9a-f]{32}\b"),
    _format("-us", r"\b[0-9a-f]{32}-us\d{1,2}\b"),
    _format(":aa", r"(?<![\w:])\d{8,10}:AA[\w\-]{33}(?![\w\-])"),
    _format(".", rf"{_START}[MNO][\w\-]{{23,27}}\.[\w\-]{{6}}\.[\w\-]{{27,40}}(?![\w\-])"),
    _format(".atlasv1.", r"\b[A-Za-z0-9]{14}\.atlasv1\.[\w\-]{60,}"),
    _format("pat", r"\bpat[A-Za-z0-9]{14}\.[0-9a-f]{64}\b"),
    # Azure: storage keys (not the hashes of lock files), signatures of addresses, client secrets.
    _format("==", r"(?<![A-Za-z0-9+/=\-])[A-Za-z0-9+/]{86}==(?![A-Za-z0-9+/=])"),
    _format("sig=", r"(?P<keep>[?&]sig=)[\w%+/=\-]{20,}"),
    _format("q~", r"(?<![\w~.\-])[\w~.\-]{3}\dQ~[\w~.\-]{31,34}(?![\w~.\-])"),
    # 40 characters of base64 are an AWS secret; digests have letters of one case only.
    _format(
        "",
        r"(?<![A-Za-z0-9/+=._\-])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=._\-])",
        confirm=_has_aws_disorder,
    ),
)
_ALL_FORMATS = (*_OTHER_FORMATS, *_RANDOM_FORMATS)
