"""Which hosts and network addresses may be asked for answers.

Pure code. Models on the own machine or network are an ordinary use, so private and loopback addresses are allowed; who
may not reach them is for the network to say. Refused are the addresses under which clouds hand out their machines'
credentials.
"""

import ipaddress
import re
from urllib.parse import urlsplit

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

METADATA_NAMES = frozenset({"metadata", "metadata.google.internal", "instance-data"})
_METADATA_ADDRESSES = frozenset(
    ipaddress.ip_address(text) for text in ("fd00:ec2::254", "100.100.100.200", "192.0.0.192")
)
# IPv6 addresses whose last 32 bits are an IPv4 address that the network may deliver to (RFC 6052, 8215, 4291).
_EMBEDDING = tuple(
    ipaddress.ip_network(text) for text in ("64:ff9b::/96", "64:ff9b:1::/48", "::/96", "::ffff:0:0:0/96")
)
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?", re.ASCII)
# A last label like this makes the C library read the whole host as a number, in forms that only it understands.
_NUMERIC = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)


def url_fault(url: str) -> str:
    """Why the URL cannot be a model server's, in one sentence; empty when it can.

    >>> url_fault("http://0xA9FEA9FE/v1")
    '0xa9fea9fe is no address in the usual form; write a name or an IP address like 192.0.2.1.'
    >>> url_fault("http://models.example.org:8080/v1")
    ''
    """
    if not url.isprintable() or any(character.isspace() for character in url):
        return "The base URL holds a space, a line break or another character that cannot be seen; remove it."
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
        _ = parts.port
    except ValueError as error:
        return f"The base URL cannot be read: {str(error).rstrip('.')}."
    if parts.scheme not in ("http", "https") or not host:
        return "The base URL must start with http:// or https://, like https://api.example.org/v1."
    if parts.username or parts.password:
        return "The base URL holds a user or password; give the key in its own field."
    return _host_fault(host)


def is_metadata_address(address: IPAddress) -> bool:
    """Whether it is link-local or a cloud's metadata service, also when it is an IPv4 address within an IPv6 one."""
    if address.is_link_local or address in _METADATA_ADDRESSES:
        return True
    return isinstance(address, ipaddress.IPv6Address) and any(map(is_metadata_address, _embedded(address)))


def _host_fault(host: str) -> str:
    name = host.removesuffix(".")
    address = _address(name)
    if name in METADATA_NAMES or (address and is_metadata_address(address)):
        return f"{name} is an address for machines' own metadata, not a model server."
    if address:
        return ""
    if not host.isascii():
        return f"{host} holds letters or digits beyond ASCII; write the host in its ASCII form (xn--...)."
    labels = name.split(".")
    if _NUMERIC.fullmatch(labels[-1]):
        return f"{host} is no address in the usual form; write a name or an IP address like 192.0.2.1."
    if len(name) > 253 or not all(map(_LABEL.fullmatch, labels)):
        return f"{host[:100]} is neither a host's name nor an IP address; write one of them."
    return ""


def _address(host: str) -> IPAddress | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _embedded(address: ipaddress.IPv6Address) -> list[ipaddress.IPv4Address]:
    found = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if any(address in network for network in _EMBEDDING):
        found.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return [inner for inner in found if inner is not None]
