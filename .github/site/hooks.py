"""What the site has beyond docs/: pages of the repository's root, and the schemas at addresses that do not change."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[2]
CODE = "https://github.com/planform/planform/blob/main/"
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md", "CHANGELOG.md": "changes.md"}
SCHEMAS = {
    "planform.schema.json": "schema/planform.schema.json",
    "plan.schema.json": "internal/plan/planfile/plan.schema.json",
}
LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)#]+)")


def on_files(files, config):
    """Adds the pages of the root to those of docs/."""
    for source, page in PAGES.items():
        files.append(File.generated(config, page, content=text_of(ROOT / source)))
    return files


def on_page_markdown(markdown, page, config, files):
    """Leads links of docs/ that leave it to the page that the site has of the file, or to the file on GitHub."""
    if page.file.generated_by:
        return markdown
    return follow(markdown, (ROOT / "docs" / page.file.src_uri).parent)


def text_of(source):
    return follow(source.read_text(encoding="utf-8"), source.parent)


def follow(markdown, folder):
    def link(match):
        path = (folder / match[1]).resolve().relative_to(ROOT).as_posix()
        if not (ROOT / path).exists():
            raise SystemExit(f"a page links to {path}, which is not there")
        page = path.removeprefix("docs/") if path.startswith("docs/") else PAGES.get(path)
        return os.path.relpath(page, folder.relative_to(ROOT / "docs") if folder != ROOT else ".") if page else CODE + path

    return "".join(
        part if part.startswith("```") else LINK.sub(link, part) for part in re.split(r"(?ms)(^```.*?^```$)", markdown)
    )


def on_post_build(config):
    """Serves the pages as plain text too, and the schemas: v1/ is the newest of the manifest's version 1, v1.2.3/ that of a release."""
    for source in (ROOT / "docs").rglob("*.md"):
        shutil.copyfile(source, Path(config.site_dir) / source.relative_to(ROOT / "docs"))
    for source, page in PAGES.items():
        (Path(config.site_dir) / page).write_text(text_of(ROOT / source), encoding="utf-8")
    target = Path(config.site_dir) / "schema"
    for name, source in SCHEMAS.items():
        (target / "v1").mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / source, target / "v1" / name)
    for tag in git("tag", "--list", "v*.*.*").split():
        for name, source in SCHEMAS.items():
            (target / tag).mkdir(exist_ok=True)
            (target / tag / name).write_text(git("show", f"{tag}:{source}"), encoding="utf-8")


def git(*arguments):
    return subprocess.run(["git", "-C", ROOT, *arguments], check=True, capture_output=True, text=True).stdout
