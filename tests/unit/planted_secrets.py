"""Texts that hold a secret, with the kind of each."""

from __future__ import annotations

import random
import string

_RANDOM = random.Random(7)


def _of(alphabet: str, length: int) -> str:
    return "".join(_RANDOM.choice(alphabet) for _ in range(length))


ALNUM = string.ascii_letters + string.digits


HEX = "0123456789abcdef"


UPPER = string.ascii_uppercase + string.digits


# Put together here, so that no scanner takes this file for one that holds credentials.
PLANTED: list[tuple[str, str]] = [
    ("private key", "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEow\n-----END"),
    ("private key", "-----BEGIN OPENSSH " + "PRIVATE KEY-----\nb3Blb"),
    ("private key", "-----BEGIN PGP " + "PRIVATE KEY BLOCK-----"),
    ("age secret key", "AGE-SECRET-KEY-1" + _of(UPPER, 58)),
    ("AWS access key", "AKIA" + _of(UPPER, 16)),
    ("AWS access key", "ASIA" + _of(UPPER, 16)),
    ("AWS secret key", "aws_secret_access_key = " + _of(ALNUM, 40)),
    ("GitHub token", "ghp_" + _of(ALNUM, 36)),
    ("GitHub token", "gho_" + _of(ALNUM, 36)),
    ("GitHub token", "github_pat_" + _of(ALNUM, 60)),
    ("GitLab token", "glpat-" + _of(ALNUM, 20)),
    ("Slack token", "xoxb-" + _of(string.digits, 12) + "-" + _of(ALNUM, 24)),
    ("Slack webhook", "https://hooks.slack.com/services/T0001/B0001/" + _of(ALNUM, 24)),
    ("Discord webhook", "https://discord.com/api/webhooks/12345/" + _of(ALNUM, 60)),
    ("Stripe key", "sk_live_" + _of(ALNUM, 24)),
    ("Stripe key", "rk_test_" + _of(ALNUM, 24)),
    ("Stripe key", "whsec_" + _of(ALNUM, 32)),
    ("Anthropic key", "sk-ant-api03-" + _of(ALNUM, 60)),
    ("OpenAI key", "sk-proj-" + _of(ALNUM, 48)),
    ("OpenAI key", "sk-" + _of(ALNUM, 48)),
    ("Google API key", "AIza" + _of(ALNUM, 35)),
    ("Google OAuth secret", "GOCSPX-" + _of(ALNUM, 28)),
    ("npm token", "npm_" + _of(ALNUM, 36)),
    ("PyPI token", "pypi-AgEIcHlwaS5vcmc" + _of(ALNUM, 60)),
    ("SendGrid key", "SG." + _of(ALNUM, 22) + "." + _of(ALNUM, 43)),
    ("Twilio key", "SK" + _of(HEX, 32)),
    ("Mailgun key", "key-" + _of(HEX, 32)),
    ("JSON web token", "eyJhbGciOiJI" + ".eyJzdWIiOiIx" + "." + _of(ALNUM, 30)),
    ("Hugging Face token", "hf_" + _of(ALNUM, 34)),
    ("Groq key", "gsk_" + _of(ALNUM, 52)),
    ("Replicate token", "r8_" + _of(ALNUM, 37)),
    ("DigitalOcean token", "dop_v1_" + _of(HEX, 64)),
    ("Telegram bot token", "123456789:AA" + _of(ALNUM, 33)),
    ("Azure storage key", "AccountKey=" + _of(ALNUM, 86) + "=="),
    ("Vault token", "hvs." + _of(ALNUM, 24)),
    ("Databricks token", "dapi" + _of(HEX, 32)),
    ("Linear key", "lin_api_" + _of(ALNUM, 40)),
    ("Shopify token", "shpat_" + _of(HEX, 32)),
    ("Square token", "sq0atp-" + _of(ALNUM, 22)),
    ("Notion token", "ntn_" + _of(ALNUM, 46)),
    ("Figma token", "figd_" + _of(ALNUM, 40)),
    ("Atlassian token", "ATATT3" + _of(ALNUM, 60)),
    ("Supabase token", "sbp_" + _of(HEX, 40)),
    ("Memoriter token", "mem_3f9ab2c41d07_" + _of(ALNUM, 43)),
    ("authorization header", "Authorization: Bearer " + _of(ALNUM, 32)),
    ("password in a URL", "postgres://app:" + _of(ALNUM, 14) + "@db.internal:5432/app"),
    ("password or key", 'password = "' + _of(ALNUM, 14) + '"'),
    ("password or key", "API_KEY=" + _of(ALNUM, 32)),
    ("password or key", "the staging password is " + _of(ALNUM, 12) + ", use it"),
    ("password or key", '"client_secret": "' + _of(ALNUM, 24) + '"'),
]
