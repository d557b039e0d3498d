"""Put the version and the repository, where one is known, on the site.

    pyproject.toml, TREETHINK_REPOSITORY -> [ about ] -> footer, link in the header

`mkdocs.yml` lists this file as a hook. The repository is that of the environment variable or of
`[project.urls]`; without either, the site has no link to one.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

VARIABLE = "TREETHINK_REPOSITORY"


def on_config(config: Any) -> Any:
    """Set the footer and, where it is known, the repository. MkDocs calls this."""
    folder = Path(config["config_file_path"]).parent
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    config["copyright"] = f"{config['site_name']} {project['version']}"
    if repository := repository_of(project):
        config["repo_url"] = repository
        config["repo_name"] = repository.rstrip("/").rpartition("/")[2]
    return config


def repository_of(project: dict[str, Any]) -> str:
    """Return the address of the repository; empty if it is not known."""
    urls = {name.lower(): url for name, url in project.get("urls", {}).items()}
    return os.environ.get(VARIABLE, "") or str(urls.get("repository", ""))
