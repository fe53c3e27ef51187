"""What stands beside the things that tools may read: a secret at every door.

`CAN` stands for the secret, `BASIC` for a user's name with it in base64.
"""

FILES = {
    ".env": "PASSWORD=CAN\nNOTE=CAN\n",
    ".git/config": "[remote]\nurl = https://app:CAN@host/x\n",
    "settings.py": """\
SECRET_KEY = "CAN"
DATABASE_URL = "postgresql://app:CAN@db/shop?password=CAN&sslpassword=CAN"
ODBC = "mssql+pyodbc:///?odbc_connect=DRIVER%3Dx%3BPWD%3DCAN"
CACHE = {"host": "cache", "password": "CAN", "port": 6379}
API_TOKEN: str = (
    "CAN"
)
PRIVATE_KEY = '''
CAN
'''
client = connect(user="app", password="CAN")
""",
    "config.yaml": "db:\n  host: db\n  password: CAN\n  api_key:\n    - CAN\ntoken: >\n  CAN\n",
    "config.toml": 'host = "db"\npassword = "CAN"\n[auth]\nclient_secret = "CAN"\n',
    "config.json": '{"host": "db", "password": "CAN", "auth": {"access_token": "CAN"}}',
    "docker.json": '{"auths": {"registry.example": {"auth": "BASIC"}}}',
    "app.ini": "[db]\nhost = db\npassword = CAN\nurl = redis://:CAN@cache/0\n",
    "broken.json": '{"password": "CAN" "host": "db"}',
    "broken.yaml": "password: 'CAN\nhost: [db\n",
    "broken.toml": 'password = "CAN\n',
    "twice.yaml": "token: CAN\ntoken: CAN\nsecret: 0o17\npassword: no\n",
    "logs/app.log": """\
2026-03-16 09:05:13,509 ERROR shop: request failed
Traceback (most recent call last):
  File "page?token=CAN.py", line 1, in page
  File "settings.py", line 11, in connect
    client = connect(user="app", password="CAN")
OSError: cannot reach postgresql://app:CAN@db/shop?password=CAN
2026-03-16 09:05:14,001 INFO shop: Set-Cookie: sessionid=CAN; Path=/
2026-03-16 09:05:14,002 INFO shop: Location: https://shop/?token=CAN
2026-03-16 09:05:14,003 INFO shop: Authorization: Bearer CAN
2026-03-16 09:05:14,004 INFO shop: sent {"name": "x", "password": "CAN", "tries": 2}
2026-03-16 09:05:15,001 WARNING shop: shop.py:4: DeprecationWarning: connect(password="CAN")
2026-03-16 09:05:15,002 WARNING shop: shop.py:9: DeprecationWarning: https://app:CAN@host/x is old
2026-03-16 09:05:15,003 WARNING shop: page?token=CAN.py:4: DeprecationWarning: old
2026-03-16 09:05:16,001 ERROR shop.auth: token=CAN is not known
-----BEGIN RSA PRIVATE KEY-----
CAN
-----END RSA PRIVATE KEY-----
""",
    "logs/json.log": """\
{"time": "2026-03-16T10:00:00Z", "level": "ERROR", "message": "no", "api_key": "CAN"}
{"time": "2026-03-16T10:00:01Z", "level": "INFO", "message": "at https://app:CAN@db/x"}
{"time": "2026-03-16T10:00:02Z", "level": "ERROR", "logger": "shop", "exc_info":
""",
    "crontab": """\
MAILTO=ops
APP_TOKEN=CAN
SETTINGS={"api_key": "CAN"}
5 4 * * * shop sync --password CAN --all
6 4 * * * DB_PASSWORD=CAN shop sync
7 4 * * * curl -H "Authorization: Bearer CAN" https://app:CAN@host/?token=CAN
99 4 * * * shop sync --password CAN
""",
    "etc/cron.d/shop": "PGPASSWORD=CAN\n@daily root pg_dump postgresql://app:CAN@db/shop\n",
    "jobs.py": """\
SCHEDULE = {
    "sync": {"task": "shop sync --password CAN", "schedule": 60, "kwargs": {"token": "CAN"}},
    "push https://app:CAN@host/x": "5 4 * * *",
}
""",
    "site.wsgi": "API_TOKEN = 'CAN'\n",
    "web.py": """\
import os
import sys

TOKEN = "CAN"
print(TOKEN)
sys.stderr.write(TOKEN)
os.environ["TOKEN"] = TOKEN

class Signed:
    def __init__(self, app, secret_key):
        self.app, self.secret_key = app, secret_key

    def __repr__(self):
        return f"<Signed {self.secret_key}>"

def show(slug, token="CAN"): ...

def respond(environ, start_response): ...

ROUTES = (("/pages/1", show), ("/hook\\\\?token=CAN", show), ("https://app:CAN@host/x", show))
application = Signed(respond, secret_key="CAN")
""",
    "templates/base.html": "{% set token = 'CAN' %}<a href='https://app:CAN@host/x'>\n",
    "docs/guide.md": """\
# Signing in

Go to https://app:CAN@host/x?token=CAN and stay signed in.

    password: CAN
    SECRET_KEY = "CAN"

Authorization: Bearer CAN
""",
    "docs/secrets.json": '{"a": "CAN"}',
    "media/harbour.svg": "<svg xmlns='http://www.w3.org/2000/svg'><!-- password: CAN --></svg>",
    "media/page?token=CAN.html": "token=CAN\n",
    **dict.fromkeys(
        (
            *("page?token=CAN.py", "templates/page?token=CAN.html", "docs/page?token=CAN.md"),
            *("cron.d/page?token=CAN", "page?token=CAN.cron", "logs/page?token=CAN.log"),
        ),
        "1 2 * * * root true\nthe last line\n",
    ),
    "media/.env": "TOKEN=CAN\n",
    **dict.fromkeys(
        ("id_rsa", "server.pem", ".netrc", "service-account-1.json", "prod.tfstate", "secrets.yml"),
        "CAN\n",
    ),
    "media/id_rsa": "CAN\n",
}
"""Relative name to text."""

WORKSPACE = """\
[workspace]
database = "app.db"
source_root = "."
logs = ["logs/*"]
config_files = [
  "config.yaml", "config.toml", "config.json", "docker.json", "app.ini", ".env", "settings.py",
  "broken.json", "broken.yaml", "broken.toml", "twice.yaml",
]
settings_layers = ["config.toml", "config.json", "settings.py"]
templates = ["templates"]
web_app = "web:application"
web_routes = "web:ROUTES"
scheduler = "jobs:SCHEDULE"

[workspace.storages]
media = "media"
bucket = "s3://key:CAN@bucket/x?token=CAN"
server = "sftp://app:CAN@127.0.0.1:1/x"

[workspace.tables.page]
label = "title"
parent = "parent_id"
draft = "draft"
language = "language"
translation_of = "translation_of"
history = "change"
editable = ["title", "data", "api_token"]

[workspace.tables.file]
label = "title"
files = ["path"]
alternative_text = "alternative_text"
history = "file_history"
editable = ["alternative_text", "title"]

[workspace.tables.note]
label = "title"
history = "note_history"
editable = ["title"]

[workspace.accounts]
users = "people"
groups = "team"

[workspace.index]
folders = ["docs"]
columns = ["page.title", "note.title"]
"""

TABLES = """
create table page (id integer primary key, parent_id integer references page(id), title text,
  data text, api_token text default 'CAN', draft integer default 0, language text default 'en',
  translation_of integer references page(id), check (api_token <> 'xCAN'),
  check (length(title) < 60 or title = 'https://app:CAN@host/x'));
insert into page values
  (1, null, 'Home', '{"host": "db", "api_key": "CAN"}', 'CAN', 0, 'en', null),
  (2, 1, 'News', '[{"auth": "{\\"client_secret\\": \\"CAN\\"}"}]', 'CAN', 0, 'en', null),
  (3, 1, 'see https://app:CAN@host/x',
    '{"https://app:CAN@host/x": 1, "token": {"CAN": 2}}', 'CAN', 1, 'en', null);
create index page_token on page (api_token) where api_token <> 'xCAN';
create table change (id integer primary key, page_id integer references page(id), field text,
  old text, new text, changed_by text, changed_at text);
insert into change values (1, 1, 'password', null, 'CAN', 'ada', '2026-03-15'),
  (2, 1, 'title', 'see https://app:CAN@host/x', 'Home', 'ada', '2026-03-16'),
  (3, 1, 'data', '{"api_key": "CAN"}', '{"api_key": "xCAN"}', 'ada', '2026-03-17'),
  (4, 1, 'api_token', 'CAN', 'xCAN', 'ada', '2026-03-18');
create table invite (token text primary key, parent text references invite(token), name text);
insert into invite values ('CAN', null, 'first'), ('CAN-2', 'CAN', 'second');
create table copy (id integer primary key, secret text, label text as ('x' || secret));
insert into copy (id, secret) values (1, 'CAN');
create table note (id integer primary key, title text);
insert into note values (1, 'see https://app:CAN@host/x'), (2, '?token=CAN'),
  (3, '{"name": "api_key", "value": "CAN"}');
create table note_history (id integer primary key, note_id integer references note(id), field text,
  old text, new text, changed_by text, changed_at text);
create trigger note_stop before update on note begin select raise(abort, 'CAN'); end;
create table file (id integer primary key, path text, title text, alternative_text text);
insert into file values (1, 'harbour.svg', 'see https://app:CAN@host/x', 'Bearer CAN1'),
  (2, 'page?token=CAN.html', 'Page', null), (3, 'https://app:CAN@host/gone.png', 'Gone', null),
  (4, '/srv/gone?token=CAN', 'Gone', '{"token": "CAN"}');
create table file_history (id integer primary key, file_id integer references file(id), field text,
  old text, new text, changed_by text, changed_at text);
create table people (id integer primary key, name text, email text, password_hash text, note text);
insert into people values (1, 'Ada', 'ada@shop.example', 'CAN', 'https://app:CAN@host/x'),
  (2, 'see https://app:CAN@host/x', '{"token": "CAN"}', 'CAN', null);
create table team (id integer primary key, name text, description text, invite_token text);
insert into team values (1, 'editors', 'https://app:CAN@host/x', 'CAN');
create view shown as select id, api_token as title from page;
create table auth_user (id integer primary key, name text);
insert into auth_user values (1, 'CAN');
create table sessions (id integer primary key, name text);
insert into sessions values (1, 'CAN');
create table oauth_token (id integer primary key, name text);
insert into oauth_token values (1, 'CAN');
"""
DENIED = ("auth_user", "sessions", "oauth_token", "people", "team")
READABLE = ("page", "change", "invite", "copy", "note", "file", "shown")
COLUMNS = (
    *("id", "parent_id", "title", "data", "api_token", "page_id", "field", "old", "new", "token"),
    *("parent", "name", "secret", "label", "path", "alternative_text", "password_hash"),
)

ENVIRONMENT = {
    "SHOP_PASSWORD": "CAN",
    "SHOP_URL": "redis://:CAN@cache:6379/0",
    "SHOP_JSON": '{"region": "eu", "api_key": "CAN"}',
    "SHOP_FLAGS": "--token CAN --port 5",
    "http_proxy": "http://app:CAN@127.0.0.1:1",
    "PYTHONWARNINGS": "ignore:token=CAN",
}

PAGE = """\
{"user": "ada", "password": "CAN", "next": "https://app:CAN@host/x?token=CAN"}"""
