"""Build the site strictly into OUT/_build/html: any warning, and any notebook that fails, is an error.

python tools/build_site.py             from the committed outputs, in seconds
python tools/build_site.py --execute   with every notebook run afresh; the committed notebooks stay as they are
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import outputs
import yaml

from gaplib.book import chapters

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "book" / "_ext"))

import addresses  # noqa: E402  an extension of the site checks with it too, for who builds without this tool

# What a full run changes in _config.yml; everything else is said once, there.
EXECUTE = {"execute_notebooks": "force", "raise_on_error": True, "timeout": 600}


def derived_config(source: Path, execute: bool, url: str | None, baseurl: str | None) -> dict:
    """Return the settings of `source/_config.yml`, changed for this build."""
    config = yaml.safe_load((source / "_config.yml").read_text())
    if execute:
        config["execute"] |= EXECUTE
    # The derived file lies elsewhere, and these paths alone are taken relative to the file they stand in.
    extensions = config["sphinx"]["local_extensions"]
    config["sphinx"]["local_extensions"] = {name: str(source / path) for name, path in extensions.items()}
    settings = config["sphinx"]["config"]
    settings["templates_path"] = [str(source / path) for path in settings["templates_path"]]
    repository, html = config["repository"] or {}, config["html"]
    config["repository"] = repository | {"url": addresses.repository(repository.get("url") if url is None else url)}
    html["baseurl"] = addresses.site(html.get("baseurl") if baseurl is None else baseurl)
    return config


def build(source: Path, out: Path, execute: bool = False, url: str | None = None, baseurl: str | None = None) -> Path:
    """Build, and return where the first page is. What is there stays until the new site is complete.

    Raises
    ------
    ValueError
        If an address is not what a link can be made of.
    FileExistsError
        If the folder of the site has files of others, or leads elsewhere.
    subprocess.CalledProcessError
        If anything on a page is not as it should be.
    """
    config = derived_config(source, execute, url, baseurl)
    html = out / "_build" / "html"
    outputs.refuse_link(html.parent)
    with outputs.new_version(html, "build_site") as new, tempfile.TemporaryDirectory(dir=new.parent) as temporary:
        stage = Path(temporary)
        (stage / "_config.yml").write_text(yaml.safe_dump(config))
        run_jupyter_book(source, stage, out)
        (stage / "_build" / "html").rename(new)
    return html / "index.html"


def run_jupyter_book(source: Path, stage: Path, out: Path) -> None:
    """Build into a folder, and call it `out` in what is printed. Raises `CalledProcessError` on any warning."""
    program = Path(sys.executable).with_name("jupyter-book")
    options = ["--all", "-n", "-W", "--keep-going", "--config", stage / "_config.yml", "--path-output", stage]
    # The folder is for the kernels of --execute.
    environment = os.environ | {chapters.FOLDER: str(source / "notebooks"), "PYTHONUNBUFFERED": "1"}
    command = list(map(str, [program, "build", source, *options]))
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout or ():
            for shown in (str, os.path.relpath):
                line = line.replace(shown(stage), shown(out))
            print(line, end="", flush=True)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)


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
        page = build(source, (args.out or source).absolute(), args.execute, args.url, args.baseurl)
    except subprocess.CalledProcessError:
        sys.exit("The site was not built: see the messages above.")
    except (OSError, ValueError) as error:
        sys.exit(f"The site was not built: {error}")
    print(f"The site is in {page}")


if __name__ == "__main__":
    main()
