"""The two public addresses of `_config.yml`: what is allowed, and the form that links are made of."""

import re

# People paste what a hosting service shows them for a browser, for `git clone` over https, and over ssh.
REPOSITORY = re.compile(
    r"(?:(?:https?|git|ssh|git\+ssh)://)?(?:[^@/\s]+@)?(?:www\.|ssh\.|altssh\.)?(github\.com|gitlab\.com)(?::\d+)?[:/]/*"
    r"(\w[\w.-]*)/(?!\.git/*$)([\w.-]*?[\w-][\w.-]*?)(?:\.git)?/*",
    re.IGNORECASE | re.ASCII,
)
SITE = re.compile(r"https?://\w[\w.-]*(?::\d+)?(?:/[^\s?#]*)?", re.IGNORECASE)


def repository(value: object) -> str:
    """Return the address of a repository as `https://HOST/OWNER/NAME`, or an empty text for none.

    Parameters
    ----------
    value : object
        The setting `repository.url`: empty, or an address on GitHub or GitLab in any form that git takes.

    Raises
    ------
    ValueError
        If the value is anything else. Links to other hosts cannot be made, and a group within a group of GitLab has no
        link to Binder.
    """
    if value is None or value == "":
        return ""
    match = REPOSITORY.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError(
            "repository.url in _config.yml must be empty, or the address of a repository on GitHub or GitLab such as "
            f"https://github.com/OWNER/NAME or https://gitlab.com/OWNER/NAME, got {value!r}"
        )
    host, owner, name = match.groups()
    return f"https://{host.lower()}/{owner}/{name}"


def site(value: object) -> str:
    """Return the address of the site with a slash at its end, or an empty text for none.

    Parameters
    ----------
    value : object
        The setting `html.baseurl`: empty, or the address of the folder in which the site will stand.

    Raises
    ------
    ValueError
        If the value is anything else.
    """
    if value is None or value == "":
        return ""
    if not isinstance(value, str) or not SITE.fullmatch(value) or value.lower().endswith((".html", ".htm")):
        raise ValueError(
            "html.baseurl in _config.yml must be empty, or the address of the folder of the site with http:// or "
            f"https:// such as https://example.org/gap/, got {value!r}"
        )
    return value.rstrip("/") + "/"
