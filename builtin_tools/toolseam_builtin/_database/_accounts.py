"""The gate of the accounts tools: the one table that the workspace names, and nothing else."""

from __future__ import annotations

import attrs

from toolseam_builtin._database._gate import TableGate, holds_secrets, matches


@attrs.frozen(kw_only=True)
class AccountsGate(TableGate):
    """Permits exactly one table, which every other tool is denied; what anybody denies stays so.

    The operator need not allow it, since that would open it to all tools; only a table whose name
    says that it holds secrets needs his word, for who names the accounts may be anybody. Views
    are never permitted, since they show other tables.

    Args:
        table: as `[workspace.accounts]` names it, with its schema or without.
    """

    table: str

    def permits(self, name: str, schema: str | None = None) -> bool:
        """Tell whether it is the table."""
        home = self.default_schema if schema is None else schema
        own = {f"{home}.{name}".casefold()}
        if home == self.default_schema:
            own.add(name.casefold())
        return self.table.casefold() in own and not self.denies(name, home)

    def denies(self, name: str, schema: str | None = None) -> bool:
        """Tell whether somebody denies a table, or its own name does."""
        home = self.default_schema if schema is None else schema
        if matches(self.deny, name.casefold(), f"{home}.{name}".casefold()):
            return True
        return holds_secrets(name) and not self._listed(name, home)

    def names(self, name: str, schema: str | None = None) -> bool:  # noqa: ARG002
        """Tell that no view is permitted."""
        return False
