"""The index is found wherever a tool's body runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolseam import Actor, Host
from toolseam.isolation._sandbox import level
from toolseam_builtin._index import build_index, index_file
from toolseam_builtin.workspace import IndexSettings, Workspace


@pytest.mark.parametrize("place", ["process", "sandbox"])
def test_the_index_is_found_where_the_body_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """The host says where it is: neither the variables nor the home of the host are there."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    shop = tmp_path / "shop"
    (shop / "docs").mkdir(parents=True)
    (shop / "docs" / "harbour.md").write_text("# Harbour\n\nThe harbour opens at nine.\n")
    (shop / "toolseam.toml").write_text('[workspace.index]\nfolders = ["docs"]\n')
    workspace = Workspace(folder=shop, index=IndexSettings(folders=("docs",)))
    build_index(workspace)
    granted = {"read": [str(workspace.place), str(index_file(workspace))]}
    settings = {"runs_in": {"rag_query": place}, "sandbox": {"group:rag": granted}}

    with Host.load(shop, settings=settings, mounts=False) as host:
        result = host.call("rag_query", {"question": "harbour"}, actor=Actor.system)

    if place == "sandbox" and not level().reached:
        assert result.metadata["reason"] == "sandbox"
    else:
        assert "opens at nine" in result.content
