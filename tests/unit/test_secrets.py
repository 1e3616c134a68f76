"""Secrets are found by their pattern, and ordinary text about them is not taken for one."""

from __future__ import annotations

import base64
import string

import pytest
from tests.unit.planted_secrets import _RANDOM, ALNUM, HEX, PLANTED, UPPER, _of

from memoriter.text.secrets import secret_kinds

LOWER = string.ascii_lowercase + string.digits
ORDINARY = [
    "the password is required, and the token must be valid",
    "max_tokens=4096, budget_tokens=800",
    "token = parse_token(stream)",
    "password = os.environ['DB_PASSWORD']",
    "api_key: ${API_KEY}",
    'client_secret="your-secret-here"',
    "postgres://app@localhost/app and https://example.com/a:b/c",
    "set password to the value in the vault",
    "the secret is to write tests first",
    "sk-learn is a library; AKIA is a prefix; ghp_ too",
    "commit 3f9ab2c41d07e5a1b2c3d4e5f60718293a4b5c6d fixes the tokenizer",
    "the API key: see the wiki page",
    "token: str",
    "def secret_kinds(text: str) -> tuple[str, ...]:",
    "auth_token=self._auth_token",
    "the access token is refreshed every hour",
]

# What people paste into a chat: settings, commands, addresses.
PASTED = [
    "export AWS_ACCESS_KEY_ID=AKIA" + _of(UPPER, 16),
    "AWS_SECRET_ACCESS_KEY=" + _of(ALNUM, 40),
    '"aws_session_token": "' + _of(ALNUM + "/+", 120) + '"',
    "ghs_" + _of(ALNUM, 36),
    "git clone https://x-access-token:" + _of(ALNUM, 40) + "@github.com/acme/app.git",
    "git remote set-url origin https://oauth2:glpat-" + _of(ALNUM, 20) + "@gitlab.com/a/b.git",
    "SLACK_BOT_TOKEN=xoxb-"
    + _of(string.digits, 11)
    + "-"
    + _of(string.digits, 12)
    + "-"
    + _of(ALNUM, 24),
    "xoxe.xoxp-1-" + _of(ALNUM, 140),
    "-----BEGIN EC PRIV" + "ATE KEY-----\n" + _of(ALNUM, 60) + "\n-----END EC PRIVATE KEY-----",
    "-----BEGIN PRIV" + "ATE KEY-----\n" + _of(ALNUM, 64),
    "curl -H 'Authorization: Bearer "
    + "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0."
    + _of(ALNUM + "-_", 43)
    + "' https://api",
    "curl -u admin:" + _of(ALNUM + "!#", 14) + " https://host/x",
    "DATABASE_URL=postgresql+psycopg://app:" + _of(ALNUM, 16) + "@10.0.0.5:5432/prod",
    "mongodb+srv://root:" + _of(ALNUM, 12) + "@cluster0.mongodb.net/?retryWrites=true",
    "redis://:" + _of(ALNUM, 20) + "@cache:6379/0",
    "amqp://svc:" + _of(ALNUM, 12) + "@rabbit/vh",
    "DB_PASSWORD=" + _of(ALNUM + "!%", 12),
    "MYSQL_ROOT_PASSWORD: '" + _of(ALNUM, 12) + "'",
    "SECRET_KEY = 'django-insecure-" + _of(LOWER + "!@#$%^&*(-_=+)", 50) + "'",
    "JWT_SECRET=" + _of(HEX, 64),
    "NPM_TOKEN=npm_" + _of(ALNUM, 36),
    "//registry.npmjs.org/:_authToken="
    + _of(HEX, 8)
    + "-"
    + _of(HEX, 4)
    + "-"
    + _of(HEX, 4)
    + "-"
    + _of(HEX, 4)
    + "-"
    + _of(HEX, 12),
    "OPENAI_API_KEY=sk-proj-" + _of(ALNUM + "-_", 120),
    "sk-or-v1-" + _of(HEX, 64),
    "STRIPE_SECRET=sk_test_" + _of(ALNUM, 99),
    "the wifi password is " + _of(ALNUM, 6) + "!7x",
    "my pin for the vault is in 1password but root pw: " + _of(ALNUM, 10),
    "X-API-Key: " + _of(ALNUM, 32),
    'GOOGLE_APPLICATION_CREDENTIALS_JSON={"private_key_id": "'
    + _of(HEX, 40)
    + '", "private_key": "-----BEGIN PRIV'
    + 'ATE KEY-----\\nMII"}',
    "azure client secret: " + _of(ALNUM, 3) + "8Q~" + _of(ALNUM + "._-~", 34),
    "ssh-add <<< '-----BEGIN OPENSSH PRIV" + "ATE KEY-----'",
    "TWILIO_AUTH_TOKEN=" + _of(HEX, 32),
    "docker login -u me -p " + _of(ALNUM, 20),
    "mysql -uroot -p" + _of(ALNUM, 14) + " prod",
    "PGPASSWORD=" + _of(ALNUM, 12) + " psql -h db",
    "sshpass -p '" + _of(ALNUM, 12) + "' ssh root@x",
    "Cookie: sessionid=" + _of(ALNUM, 32) + "; csrftoken=" + _of(ALNUM, 64),
    "machine api.heroku.com login me password "
    + _of(HEX, 8)
    + "-"
    + _of(HEX, 4)
    + "-4"
    + _of(HEX, 3)
    + "-8"
    + _of(HEX, 3)
    + "-"
    + _of(HEX, 12),
    "dckr_pat_" + _of(ALNUM + "-_", 27),
    "passwd=hunter22",
]

# What looks like a secret and is none: hashes, ids, pictures, versions, code about secrets.
ALIKE = [
    "sha256:" + _of(HEX, 64),
    "commit " + _of(HEX, 40) + " broke CI",
    "id 550e8400-e29b-41d4-a716-446655440000",
    "data:image/png;base64," + base64.b64encode(_RANDOM.randbytes(200)).decode(),
    "v1.2.3-rc.4+build." + _of(HEX, 7),
    "numpy==1.26.4 --hash=sha256:" + _of(HEX, 64),
    '"integrity": "sha512-' + base64.b64encode(_RANDOM.randbytes(64)).decode() + '"',
    "ssh-rsa AAAAB3NzaC1yc2E" + _of(ALNUM + "+/", 340) + " me@host",
    "-----BEGIN CERTIFICATE-----\n" + _of(ALNUM + "+/", 64),
    "-----BEGIN PUBLIC KEY-----\n" + _of(ALNUM + "+/", 64),
    "trace_id=" + _of(HEX, 32) + " span_id=" + _of(HEX, 16),
    'ETag: "' + _of(HEX, 32) + '"',
    "the token limit is 128000 tokens",
    "token_count: 4096",
    "tokens=12345678",
    "password: str = Field(min_length=12)",
    "password=getpass.getpass()",
    "api_key=settings.OPENAI_KEY",
    "secret: {{ .Values.secretName }}",
    "secretKeyRef: name: db-credentials",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "Set-Cookie is missing SameSite",
    "the password hash is argon2id with m=65536",
    "password_reset_url=https://x.example/reset",
    "access_token_expires_in=3600",
    "arn:aws:iam::123456789012:role/deploy",
    "AKIA is the prefix of an AWS access key",
    "https://user@host/path and http://localhost:8080@x",
    "blake2b " + _of(HEX, 128),
    "MAC 00:1A:2B:3C:4D:5E, serial SN-" + _of(UPPER, 12),
    "max_tokens: 200000, stop_token_id: 50256",
    "Bearer tokens expire after an hour",
    "auth_token = request.headers['X-Auth-Token']",
    "secret_name = projects/acme/secrets/db/versions/3",
    "the API key is stored in Vault under kv/prod/stripe",
    "PASSWORD_MIN_LENGTH=12345678",
    "passwords_changed_at: 2026-11-17T10:00:00",
    "token bucket: 20rps burst 40",
    "sk-estimator-checks-are-slow",
    "key-value store: redis-7.2.4-alpine",
    "password1 and password2 must match",
    "pwd=/home/ann/src/app-2",
    "echo $PWD; pwd: /srv/app1",
    "-p 8080:80 and -u 1000:1000",
]


@pytest.mark.parametrize("text", PASTED, ids=range(len(PASTED)))
def test_a_pasted_secret_is_refused(text: str) -> None:
    assert secret_kinds(f"please {text} ok")


@pytest.mark.parametrize("text", ALIKE, ids=range(len(ALIKE)))
def test_what_only_looks_like_a_secret_is_kept(text: str) -> None:
    assert secret_kinds(f"see {text} ok") == ()


@pytest.mark.parametrize(("kind", "text"), PLANTED, ids=lambda value: str(value)[:24])
def test_a_planted_secret_is_named_by_its_kind(kind: str, text: str) -> None:
    assert kind in secret_kinds(f"please remember this: {text} thanks")


def test_fifty_secrets_are_planted() -> None:
    assert len(PLANTED) == 50


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_about_secrets_is_no_secret(text: str) -> None:
    assert secret_kinds(text) == ()


def test_no_kind_repeats_a_part_of_the_secret() -> None:
    for _, text in PLANTED:
        secret = max(text.split(), key=len)
        assert not any(secret[4:] in kind for kind in secret_kinds(text))
