"""URLs of object stores, such as s3://BUCKET/KEY?endpoint_override=http://host:9000, and the options in them. src/io/storage_url.hpp has the same rules."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from urllib.parse import quote, unquote

SCHEMES = ("s3://", "gs://")
_WITHOUT_EFFECT = ("allow_bucket_creation", "allow_bucket_deletion")
_OPTIONS = {"s3": ("endpoint_override", "scheme", "region", *_WITHOUT_EFFECT), "gs": ("endpoint_override", "scheme")}
_VALUES = {"scheme": ("http", "https"), **dict.fromkeys(_WITHOUT_EFFECT, ("true", "false", "1", "0"))}
_ANONYMOUS = "anonymous"
_BEGINS_WITH_OPTION = re.compile(r"[A-Za-z_]+=")


@dataclass(frozen=True)
class StoreUrl:
    """The URL of an object or of a prefix of keys. An option that the URL lacks is "" or False."""

    scheme: str  # "s3" or "gs"
    bucket: str
    key: str = ""
    endpoint: str = ""  # URL of the store
    region: str = ""
    is_anonymous: bool = False  # whether requests are unsigned

    @property
    def has_options(self) -> bool:
        return bool(self.endpoint or self.region or self.is_anonymous)

    def below(self, name: str) -> StoreUrl:
        """Returns the URL of `name` in the folder of this URL."""
        return replace(self, key=f"{self.key.rstrip('/')}/{name}" if self.key.strip("/") else name)

    def __str__(self) -> str:
        options = {"endpoint_override": self.endpoint, "region": self.region}
        query = "&".join(f"{name}={quote(value, safe=':/.')}" for name, value in options.items() if value)
        return (f"{self.scheme}://{_ANONYMOUS + '@' if self.is_anonymous else ''}{self.bucket}{'/' + self.key if self.key else ''}"
                f"{'?' + query if query else ''}")


def is_store_url(text: str) -> bool:
    """Returns whether `text` begins like the URL of an object store."""
    return text.startswith(SCHEMES)


def parsed(text: str) -> StoreUrl:
    """Returns the components of a URL. Raises ValueError, which lists the valid values, for another scheme, for an unknown option and for a URL with
    access keys, which the error does not quote."""
    scheme, _, rest = text.partition("://")
    if scheme not in _OPTIONS:
        raise ValueError(f"{without_keys(text)!r}: must be {' or '.join(SCHEMES)}BUCKET/KEY")
    path, _, query = _divided(rest)
    bucket, _, key = path.partition("/")
    user, at, bucket = bucket.rpartition("@")
    if at and user != _ANONYMOUS and not user.startswith(_ANONYMOUS + "&") and not _BEGINS_WITH_OPTION.match(user):
        raise _access_keys_error(f"{scheme}://...@{bucket}")
    if ":" in bucket:  # a secret key may contain "/"
        raise _access_keys_error(f"{scheme}://...")
    options = _options_in(scheme, [word for part in (user, query) for word in part.split("&") if word and word != _ANONYMOUS])
    if "@" in options.get("endpoint_override", ""):
        raise _access_keys_error(f"{scheme}://...?endpoint_override=...")
    return StoreUrl(scheme, bucket, key, _endpoint(options), options.get("region", ""), _ANONYMOUS in user.split("&"))


def without_keys(text: str) -> str:
    """Returns a URL for a message: without the text before its last '@', which may be access keys."""
    return re.sub(r"://.*@", "://...@", text, flags=re.DOTALL)


def _access_keys_error(shown: str) -> ValueError:
    return ValueError(f"{shown}: the URL contains access keys, which would be recorded. Remove them from the URL, and set "
                      f"AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or use RunConfig(storage_filesystem=...), which may have keys")


def _divided(rest: str) -> tuple[str, str, str]:
    """Divides a URL at the last question mark before the name of an option and '='. Other question marks belong to the key, as in patterns."""
    marks = [found.start() for found in re.finditer(r"\?(?=[A-Za-z_]+=)", rest)]
    return (rest[:marks[-1]], "?", rest[marks[-1] + 1:]) if marks else (rest, "", "")


def _options_in(scheme: str, words: list[str]) -> dict[str, str]:
    found = {}
    for word in words:
        name, _, value = word.partition("=")
        if name not in _OPTIONS[scheme]:
            raise ValueError(f"unknown option {name!r} in the URL of an object store; valid options: {', '.join(_OPTIONS[scheme])}")
        value = unquote(value)
        if value not in _VALUES.get(name, (value,)):
            raise ValueError(f"invalid option {name}={value} in the URL of an object store; valid values: {', '.join(_VALUES[name])}")
        found[name] = value
    return found


def _endpoint(options: dict[str, str]) -> str:
    """Returns the URL of the store that the options name, or ""."""
    endpoint, scheme = options.get("endpoint_override", ""), options.get("scheme", "")
    if not endpoint:
        if scheme == "http":
            raise ValueError("scheme=http in the URL of an object store needs endpoint_override=HOST:PORT")
        return ""
    if "://" not in endpoint:
        return f"{scheme or 'https'}://{endpoint}"
    if scheme and not endpoint.startswith(scheme + "://"):
        raise ValueError(f"scheme={scheme} contradicts endpoint_override={endpoint} in the URL of an object store")
    return endpoint
