"""One question for each builtin that reads, chosen so that it has to work for its answer."""

from __future__ import annotations

from typing import Any

_GROUPS: dict[str, dict[str, dict[str, Any]]] = {
    "content": {
        "read_records": {"table": "event", "where": {"kind": "kind7"}, "offset": 10_000},
        "count_records": {"table": "event", "group_by": "kind"},
        "search_records": {"query": "no such words anywhere"},
        "get_record_content": {"table": "page", "key": "5"},
        "get_record_history": {"table": "page", "key": "5"},
    },
    "structure": {
        "list_tables": {},
        "get_table_schema": {"table": "page"},
        "get_json_column_schema": {"table": "page", "column": "meta", "sample": 1000},
        "validate_schema": {},
        "get_record_tree": {"table": "page", "depth": 5},
        "read_file_meta": {"file": "99/file99999.txt"},
        "resolve_url": {"url": "/part1999/7"},
    },
    "configuration": {
        "get_config": {"file": "config.toml"},
        "get_settings": {},
        "check_config": {},
        "get_workspace_config": {},
        "resolve_template": {"name": "page.html"},
    },
    "code": {
        "get_last_exception": {},
        "read_source": {"path": "p0/m0.py"},
        "search_code": {"pattern": "no such words anywhere"},
    },
    "files": {
        "list_storages": {},
        "browse_folder": {"folder": "/7"},
        "search_files": {"query": "file7777"},
        "find_missing_files": {},
        "get_file_references": {"file": "99/file99999.txt"},
    },
    "system": {
        "fetch_logs": {"level": "error"},
        "list_deprecations": {},
        "get_env": {},
        "get_env_raw": {},
        "get_python_info": {},
        "get_python_info_raw": {},
        "get_system_status": {},
        "list_middlewares": {},
        "list_packages": {},
        "list_scheduled_tasks": {},
    },
    "accounts": {
        "list_users": {},
        "list_users_raw": {},
        "list_groups": {},
    },
    "rag": {
        "rag_query": {"question": "where is the harbour"},
        "rag_fetch_source": {"source_id": "page.body:5"},
    },
}

QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    tool: (f"toolseam_builtin.{group}.{tool}", arguments)
    for group, tools in _GROUPS.items()
    for tool, arguments in tools.items()
}
"""Tool to module and arguments: all but those that write, and the one that asks the network."""
