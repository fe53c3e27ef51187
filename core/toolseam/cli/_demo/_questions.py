"""A question for each builtin tool that the demo's workspace answers."""

from __future__ import annotations

from typing import Any, Final

SITE = "{site}"
"""Stands for the address of the demo's web site while it is served."""

VARIABLE = "MUSEUM_DATABASE_URL"
"""Set, with a made-up password, while the questions are asked."""

QUESTIONS: Final[dict[str, dict[str, dict[str, Any]]]] = {
    "content": {
        "get_record_content": {"table": "pages", "key": "2"},
        "get_record_history": {"table": "pages", "key": "7"},
        "read_records": {"table": "pages", "where": {"language": "de"}, "fields": ["title"]},
        "count_records": {"table": "pages", "group_by": "language"},
        "search_records": {"query": "sea"},
    },
    "editing": {
        "update_record_metadata": {
            "table": "pages",
            "key": "7",
            "values": {"title": "Charts of the northern seas"},
        },
        "set_file_alternative_text": {
            "file": "riveters-1911.jpg",
            "text": "Four riveters on a half-built hull",
        },
        "move_record": {"table": "pages", "key": "4", "parent": "1", "after": "2"},
        "create_record_draft": {
            "table": "pages",
            "values": {"title": "Lost property", "slug": "lost-property", "language": "en"},
        },
        "create_translation_draft": {"table": "pages", "key": "4", "language": "de"},
    },
    "structure": {
        "list_tables": {},
        "get_table_schema": {"table": "pages"},
        "get_json_column_schema": {"table": "events", "column": "details"},
        "validate_schema": {},
        "get_record_tree": {"table": "pages"},
        "resolve_url": {"url": "/pages/visit?lang=en"},
        "read_file_meta": {"file": "harbour.svg"},
    },
    "configuration": {
        "get_config": {"file": "config/site.toml", "path": "mail"},
        "get_settings": {},
        "check_config": {},
        "get_workspace_config": {},
        "resolve_template": {"name": "parts/hours.html"},
    },
    "code": {
        "get_last_exception": {},
        "read_source": {"path": "prices.py"},
        "search_code": {"pattern": "price"},
    },
    "files": {
        "list_storages": {},
        "browse_folder": {},
        "search_files": {"query": "riveters"},
        "find_missing_files": {},
        "get_file_references": {"file": "harbour.svg"},
    },
    "system": {
        "fetch_logs": {"level": "warning", "limit": 5},
        "list_deprecations": {},
        "get_env": {"name": VARIABLE},
        "get_env_raw": {"name": VARIABLE},
        "get_python_info": {},
        "get_python_info_raw": {"filter": "sys.flags"},
        "get_system_status": {},
        "list_packages": {"filter": "toolseam"},
        "list_middlewares": {},
        "list_scheduled_tasks": {},
        "probe_url": {"url": f"{SITE}/health"},
    },
    "accounts": {
        "list_users": {},
        "list_users_raw": {},
        "list_groups": {},
    },
    "rag": {
        "rag_query": {"question": "When is the museum open?"},
        "rag_fetch_source": {"source_id": "pages.body:2"},
    },
}
"""Group to tool to arguments, in the order in which the groups are told."""
