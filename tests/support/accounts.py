"""A table of people and one of groups, with what must never be shown."""

from toolseam_builtin.workspace import AccountSettings

CANARY = "CANARYc4n4ry7Q2w9Zx"
PEOPLE = f"""
create table people (id integer primary key, phone text, "lastLogin" text, email text,
  username text, password_hash text, mfa_secret text, is_admin int, disabled int,
  password_copy text generated always as (password_hash), about text);
insert into people (id, phone, "lastLogin", email, username, password_hash, mfa_secret, is_admin,
  disabled, about) values
  (1, '555', '2026-01-02', 'ada@museum.example', 'ada', '{CANARY}', '{CANARY}', 1, 0, null),
  (2, '556', null, 'bob@museum.example', 'bob', '{CANARY}', '{CANARY}', 0, 1,
   '{{"api_key": "{CANARY}", "likes": "boats"}}');
create table team (id integer primary key, name text, description text, invite_token text);
insert into team values (1, 'editors', 'They write.', '{CANARY}');
create table people_notes (id integer primary key, body text);
create view everybody as select username, password_hash as note from people;
"""
NAMED = AccountSettings(users="people", groups="team")
