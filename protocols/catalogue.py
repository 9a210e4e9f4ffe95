"""The protocols that can be started, each a module with its PROTOCOL, imported when it is asked for."""

from importlib import import_module

from protocols.stages import Protocol, StageError

PROTOCOLS = {"pact": "protocols.pact.protocol", "care": "protocols.care.protocol", "sense": "protocols.sense.protocol"}


def find_protocol(name: str) -> Protocol:
    """Raises StageError."""
    if name not in PROTOCOLS:
        raise StageError(f"There is no protocol {name}; there are {', '.join(PROTOCOLS)}.")
    protocol: Protocol = import_module(PROTOCOLS[name]).PROTOCOL
    return protocol


def all_protocols() -> list[Protocol]:
    return [find_protocol(name) for name in PROTOCOLS]
