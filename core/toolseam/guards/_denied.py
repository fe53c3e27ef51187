"""Names of files and folders that no tool reads, whatever the operating system allows."""

from __future__ import annotations

_BEGINNINGS = ("id_rsa", "id_ed25519", "id_ecdsa")
_ENDINGS = (
    *(".pem", ".key", ".p12", ".pfx", ".jks", ".keystore"),
    *(".kdbx", ".ppk", ".asc", ".gpg"),
)
_WHOLE = frozenset({"_netrc", ".netrc", ".pgpass", ".htpasswd", "auth.json", "kubeconfig"})
_SECRETS = (".yml", ".yaml", ".json", ".toml")


def is_denied_name(name: str) -> bool:
    """Tell whether a file or folder of this name is hidden, or holds keys or credentials.

    Args:
        name: one segment of a path, in any case.
    """
    return name.startswith(".") or holds_keys(name)


def holds_keys(name: str) -> bool:
    """Tell whether a file or folder of this name holds keys or credentials, hidden or not.

    Args:
        name: one segment of a path, in any case.
    """
    folded = name.casefold()
    return (
        folded.lstrip(".").startswith(_BEGINNINGS)
        or folded.endswith(_ENDINGS)
        or folded in _WHOLE
        or "credential" in folded
        or ".tfstate" in folded
        or ("secret" in folded and folded.endswith(_SECRETS))
        or (folded.startswith("service-account") and folded.endswith(".json"))
    )
