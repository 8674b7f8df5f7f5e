"""Common secrets are recognized without the name of their field; ordinary text is left."""

import base64
import hashlib
import json
import random
import string
from uuid import UUID

import pytest

from tests.requirements import requirement
from tooldrawer.activity import Masker

CHOICE = random.Random(11)


def mixed(length: int) -> str:
    """Letters and digits, never only one kind."""
    letters = string.ascii_letters + string.digits
    return "A1z" + "".join(CHOICE.choice(letters) for _ in range(length - 3))


def digits(length: int) -> str:
    """Of a hexadecimal number."""
    return "".join(CHOICE.choice("0123456789abcdef") for _ in range(length))


def pem(label: str) -> str:
    """A private key."""
    return f"-----BEGIN {label}-----\n{mixed(64)}\n{mixed(9)}\n-----END {label}-----"


AZURE_KEY = base64.b64encode(CHOICE.randbytes(64)).decode()
WHOLE = {
    "tooldrawer": "td_" + mixed(43),
    "github": "ghp_" + mixed(36),
    "github app": "ghs_" + mixed(36),
    "github fine-grained": f"github_pat_{mixed(22)}_{mixed(59)}",
    "gitlab": "glpat-" + mixed(20),
    "gitlab routable": f"glpat-{mixed(27)}.01.{mixed(9)}",
    "google": "AIza" + mixed(35),
    "google oauth": "ya29." + mixed(60),
    "google client": "GOCSPX-" + mixed(28),
    "slack bot": f"xoxb-123456789012-1234567890123-{mixed(24)}",
    "slack app": f"xapp-1-A012-345-{digits(64)}",
    "openai": "sk-" + mixed(48),
    "openai project": "sk-proj-" + mixed(40),
    "anthropic": "sk-ant-api03-" + mixed(95),
    "aws id": "AKIA" + "ABCD1234" * 2,
    "aws session id": "ASIA" + "ABCD1234" * 2,
    "aws secret": "wJ9lrXUtn3EMI/K7MdENg/bPxRf1CYeX4mPLeK2y",
    "jwt": f"eyJhbGciOiJIUzI1NiJ9.{mixed(40)}.{mixed(43)}",
    "npm": "npm_" + mixed(36),
    "pypi": "pypi-AgEIcHlwaS5vcmc" + mixed(60),
    "hugging face": "hf_" + mixed(34),
    "stripe": "sk_live_" + mixed(24),
    "stripe restricted": "rk_live_" + mixed(24),
    "stripe webhook": "whsec_" + mixed(32),
    "twilio": "SK" + digits(32),
    "sendgrid": f"SG.{mixed(22)}.{mixed(43)}",
    "mailgun": "key-" + digits(32),
    "mailchimp": digits(32) + "-us12",
    "azure storage": AZURE_KEY,
    "azure client": "abc8Q~" + mixed(34),
    "discord bot": f"M{mixed(25)}.{mixed(6)}.{mixed(38)}",
    "telegram bot": "1234567890:AA" + mixed(33),
    "digitalocean": "dop_v1_" + digits(64),
    "linear": "lin_api_" + mixed(40),
    "notion": "ntn_" + mixed(46),
    "shopify": "shpat_" + digits(32),
    "figma": "figd_" + mixed(40),
    "databricks": "dapi" + digits(32),
    "vault": "hvs." + mixed(90),
    "airtable": f"pat{mixed(14)}.{digits(64)}",
    "docker hub": "dckr_pat_" + mixed(27),
    "groq": "gsk_" + mixed(52),
    "bearer": "BEARER " + mixed(20),
    "pem": pem("RSA PRIVATE KEY"),
    "openssh": pem("OPENSSH PRIVATE KEY"),
}


@requirement("AF-3")
@pytest.mark.parametrize("name", WHOLE)
def test_a_secret_is_masked_whole_wherever_it_is(name: str) -> None:
    secret = WHOLE[name]
    masker = Masker()
    assert masker.masked(secret) == "***"
    assert masker.masked(f"use {secret} here") == "use *** here"
    assert masker.masked({"a": [f"({secret})"]}) == {"a": ["(***)"]}
    quoted = json.dumps({"x": secret})
    assert masker.masked(quoted) == '{"x": "***"}'


@requirement("AF-3")
@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("postgres://me:p4ss@db:5432/x", "postgres://me:***@db:5432/x"),
        ("mongodb+srv://u:p@ss@c.example.net/?a=b", "mongodb+srv://u:***@c.example.net/?a=b"),
        ("redis://:hunter2@localhost:6379/0", "redis://:***@localhost:6379/0"),
        ("get https://user:pw@host/a now", "get https://user:***@host/a now"),
        (f"https://{digits(32)}@o1.example.io/1", "https://***@o1.example.io/1"),
        ("https://hooks.slack.com/services/T0/B0/abcdefghijk", "https://hooks.slack.com/***"),
        (
            f"https://discord.com/api/webhooks/123456789/{mixed(60)}",
            "https://discord.com/api/webhooks/***",
        ),
        (
            f"https://a.example.net/c?sv=1&sig={mixed(43)}%3D",
            "https://a.example.net/c?sv=1&sig=***",
        ),
        (f"AccountName=a;AccountKey={AZURE_KEY};E=x", "AccountName=a;AccountKey=***;E=x"),
        ("curl -u bob:hunter2 http://x", "curl -u bob:*** http://x"),
        ("curl -H 'Authorization: Basic dXNlcjpwYXNz' x", "curl -H 'Authorization: ***' x"),
        ("X-Api-Key: abc123def", "X-Api-Key: ***"),
        ("aws_secret_access_key = abcd1234/efgh", "aws_secret_access_key = ***"),
        ("login --password hunter2 --host x", "login --password *** --host x"),
        ("Cut -----BEGIN PRIVATE KEY-----\\nMIIEabc", "Cut ***"),
    ],
)
def test_only_the_secret_part_of_a_text_is_masked(given: str, shown: str) -> None:
    assert Masker().masked(given) == shown


@requirement("AF-3")
def test_the_key_of_a_service_account_is_masked() -> None:
    account = {"type": "service_account", "private_key_id": digits(40), "private_key": WHOLE["pem"]}
    masked = {"type": "service_account", "private_key_id": "***", "private_key": "***"}
    assert Masker().masked({**account}) == masked
    assert json.loads(str(Masker().masked(json.dumps(account)))) == masked


ORDINARY = [
    "mcp_github_create_pull_request_review_comment_a1b2c3d4",
    "hf_space_search_models_2_and_more_things",
    "npm_install_package_version_2_now",
    "scikit sk-learn-contrib-package and pk-fire",
    "sk_buff_alloc_and_free_it",
    "td_data_frame_of_the_customer_orders_joined_xx",
    "https://example.com:8080/a@b?x=1",
    "git@github.com:owner/repo.git and me@example.com at 12:30",
    "http://localhost:8765/mcp",
    "sha512-" + AZURE_KEY,
    "2026-11-18T03:04:43.123456Z",
    "/home/Alice/Projects2024/MyApp/src/Main1.py",
    "Users/Alice/Projects2024/MyApp/srcs/Mai1",
    "refs/heads/feature/ABC123/ThingsToDoNow1",
    "com.example.project.MainActivityControllerImpl",
    "arn:aws:iam::123456789012:role/AdminRoleForDeploymentX",
    "The password: please enter one",
    "Authorization: required",
    "the token is invalid; max_tokens=4096, tokens: 12",
    "docker run -u 1000:1000 image",
    "secretary=bob tokenizer=bpe",
    "psql --no-password db --max-tokens 5",
    "Basic understanding of the bearer of news",
    "data:image/png;base64,iVBORw0KGgo",
    "1.2.3-rc.4+build.5",
]


@requirement("AF-3")
@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_is_left(text: str) -> None:
    assert Masker().masked(text) == text


@requirement("AF-3")
def test_ids_and_digests_are_left() -> None:
    ids = [str(UUID(int=CHOICE.getrandbits(128))) for _ in range(300)]
    kinds = ("md5", "sha1", "sha256", "sha512")
    digests = [hashlib.new(kind, one.encode()).hexdigest() for one in ids for kind in kinds]
    links = [f"https://github.com/owner/repo/blob/{one}/src/a.py#L1-L2" for one in digests]
    for text in (*ids, *digests, *links, *(f"commit {one}" for one in digests)):
        assert Masker().masked(text) == text
