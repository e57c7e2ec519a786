"""Build the site strictly into OUT/_build/html: any warning, and any notebook that fails, is an error.

python tools/build_site.py             from the committed outputs, in seconds
python tools/build_site.py --execute   with every notebook run afresh; the committed notebooks stay as they are
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

from gaplib.book import chapters

ROOT = Path(__file__).resolve().parent.parent

# What a full run changes in _config.yml; everything else is said once, there.
EXECUTE = {"execute_notebooks": "force", "raise_on_error": True, "timeout": 600}


def derived_config(source: Path, execute: bool, url: str | None, baseurl: str | None) -> dict:
    """Return the settings of `source/_config.yml`, changed for this build."""
    config = yaml.safe_load((source / "_config.yml").read_text())
    if execute:
        config["execute"] |= EXECUTE
    if url is not None:
        config["repository"]["url"] = url
    if baseurl is not None:
        config["html"]["baseurl"] = baseurl
    # The derived file lies elsewhere, and these paths alone are taken relative to the file they stand in.
    extensions = config["sphinx"]["local_extensions"]
    config["sphinx"]["local_extensions"] = {name: str(source / path) for name, path in extensions.items()}
    return config


def build(source: Path, out: Path, execute: bool = False, url: str | None = None, baseurl: str | None = None) -> Path:
    """Build, and return where the first page is. Raises `CalledProcessError` if anything is not as it should be."""
    folder = out / "_build"
    shutil.rmtree(folder / "html", ignore_errors=True)  # or a page that was renamed would live on
    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "_config.yml"
    config.write_text(yaml.safe_dump(derived_config(source, execute, url, baseurl)))
    command: list[str | Path] = [
        Path(sys.executable).with_name("jupyter-book"),
        "build",
        str(source),
        "--all",
        "-n",
        "-W",
        "--keep-going",
    ]
    environment = os.environ | {chapters.FOLDER: str(source / "notebooks")}  # for the kernels of --execute
    subprocess.run([*command, "--config", str(config), "--path-output", str(out)], check=True, env=environment)
    return folder / "html" / "index.html"


def main() -> None:
    """Build as the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--execute", action="store_true", help="run every notebook")
    parser.add_argument("--url", help="the address of the repository, in place of repository.url of _config.yml")
    parser.add_argument("--baseurl", help="where the site will stand, in place of html.baseurl of _config.yml")
    parser.add_argument("--source", type=Path, default=ROOT, help="folder of the book (default: this one)")
    parser.add_argument("--out", type=Path, help="folder that gets _build (default: the folder of the book)")
    args = parser.parse_args()
    source = args.source.resolve()
    try:
        page = build(source, (args.out or source).resolve(), args.execute, args.url, args.baseurl)
    except subprocess.CalledProcessError:
        sys.exit("The site was not built: see the messages above.")
    print(f"The site is in {page}")


if __name__ == "__main__":
    main()
