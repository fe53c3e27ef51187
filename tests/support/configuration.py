"""Configuration in each format, with a secret in each."""

FILES = {
    "config/site.toml": """\
title = "Harbour"
languages = ["en", "de"]

[mail]
host = "mail.example"
port = 587
password = "Tulip-77"
relay = "smtp://bob:Fern_33@relay.example/x"

[[servers]]
host = "a.example"

[[servers]]
host = "b.example"
api_key = "Hazel9"
""",
    "config/site.local.toml": '[mail]\nport = 25\npassword = "Moss-12"\n',
    "config/legacy.ini": "[a]\nurl = %(home)s/x\nsmtp_password = Aster-9\n",
    "config/data.json": '{"headers": [["X-Auth-Token", "Alder+88"]], "n": 1.10}',
    "settings.py": 'DEBUG = True\nSECRET_KEY = "Birch_5"\nHOSTS = ["a", f()]\n',
    ".env": "NAME=Cedar-4\nEMPTY_TOKEN=\nNOTE=${HOME}\n",
    ".env.local": "NAME=Cedar-4\n",
    "compose.yaml": "db:\n  password: Maple=6\n  on: no\n",
}
"""Relative name to text."""

SECRETS = (
    *("Tulip-77", "Fern_33", "Hazel9", "Moss-12", "Aster-9", "Alder+88", "Birch_5"),
    *("Cedar-4", "Maple=6"),
)
"""What no answer may hold."""
