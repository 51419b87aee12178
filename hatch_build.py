"""Give the package the addresses of the repository that it is built from, so that each copy names its own home."""

from __future__ import annotations

import re
import subprocess
from typing import Any
from urllib.parse import urlsplit

from hatchling.metadata.plugin.interface import MetadataHookInterface


class ProjectUrls(MetadataHookInterface):
    """Fills ``project.urls``. Without a repository on a server there are none."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the addresses; those of an archive of sources are kept."""
        home = "" if "urls" in metadata else home_of(origin(self.root))
        if home:
            metadata["urls"] = {
                "Homepage": home,
                "Documentation": f"{home}/tree/main/docs",
                "Changelog": f"{home}/blob/main/CHANGELOG.md",
                "Issues": f"{home}/issues",
            }


def origin(folder: str) -> str:
    """Return where a clone is from; empty for other folders, also those inside of another clone."""
    command = ["git", "--git-dir", f"{folder}/.git", "config", "--get", "remote.origin.url"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:  # there is no git
        return ""


def home_of(remote: str) -> str:
    """Return the page of a repository, without user or password; empty for a folder."""
    short = re.fullmatch(r"(?:[^@/:]+@)?([^/:]+\.[^/:]+):([^/].*)", remote)  # git@host:owner/name.git
    host, path = short.groups() if short else (urlsplit(remote).hostname, urlsplit(remote).path)
    return f"https://{host}/{path.strip('/').removesuffix('.git')}" if host else ""
