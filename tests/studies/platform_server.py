"""A recruitment platform for tests: real HTTP on loopback, written from what Prolific publishes of its interface.

In a test: `with PlatformServer() as platform: platform.base_url`. `platform.submissions` is what it knows, by id;
`platform.faults` are answers that are given first, each once: a status, "slow" (too slow for the client) or "cut" (the
request is carried out and the connection ends without an answer).
"""

import base64
import hashlib
import hmac
import json
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

TOKEN, STUDY, SECRET = "token-of-the-account", "study1", "secret-of-messages"
PAGE = 20
SLOW_SECONDS = 0.5


class SigningKey:
    def __init__(self, kid: str) -> None:
        self.kid = kid
        self.private = rsa.generate_private_key(public_exponent=65537, key_size=2048)

    @property
    def public(self) -> dict[str, Any]:
        key = jwt.algorithms.RSAAlgorithm.to_jwk(self.private.public_key(), as_dict=True)
        return key | {"kid": self.kid, "alg": "RS256", "use": "sig"}

    def sign(self, address: str, ids: dict[str, str], **changes: Any) -> str:
        """The `prolific_token` of a link to this address with these ids."""
        now = int(time.time())
        claims = {
            "iss": "https://www.prolific.com",
            "aud": address,
            "sub": ids["SESSION_ID"],
            "iat": now,
            "exp": now + 120,
            "prolific": ids | {"workspace_id": "w"},
        }
        return jwt.encode(claims | changes, self.private, algorithm="RS256", headers={"kid": self.kid})


def signed_headers(body: bytes, *, at: float, event: str, secret: str = SECRET, **others: str) -> dict[str, str]:
    """The headers of a message that was signed at this time (seconds since 1970)."""
    timestamp = str(int(at))
    signature = hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256).digest()
    return {
        "X-Prolific-Request-Timestamp": timestamp,
        "X-Prolific-Request-Signature": base64.b64encode(signature).decode(),
        "X-Event-ID": event,
        "X-Timestamp": timestamp,
    } | others


@dataclass
class PlatformServer:
    submissions: dict[str, dict[str, Any]] = field(default_factory=dict)
    faults: list[int | str] = field(default_factory=list)
    retry_after: str = "7"
    keys: list[dict[str, Any]] = field(default_factory=list)
    requests: list[tuple[str, str]] = field(default_factory=list)  # method and path
    prepared: dict[str, str] = field(default_factory=dict)  # lines of bonuses by id
    paid: list[str] = field(default_factory=list)  # ids of bonuses, once for each request that pays
    asked_to_return: list[tuple[str, Any]] = field(default_factory=list)

    def __enter__(self) -> Self:
        platform = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                platform.answer(self)

            def do_POST(self) -> None:
                platform.answer(self)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.handle_error = lambda *_: None  # type: ignore[method-assign]  # clients hang up on purpose
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def add(self, name: str, status: str = "ACTIVE", participant: str = "", **fields: Any) -> None:
        self.submissions[name] = {
            "id": name,
            "participant_id": participant or f"person-{name}",
            "status": status,
            "started_at": "2026-11-30T09:00:00Z",
            "completed_at": None,
            "study_code": None,
            "return_requested": None,
        } | fields

    def posts(self, ending: str) -> int:
        return sum(method == "POST" and path.endswith(ending) for method, path in self.requests)

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        self.requests.append((handler.command, handler.path))
        body = json.loads(handler.rfile.read(int(handler.headers.get("Content-Length") or 0)) or "{}")
        fault = self.faults.pop(0) if self.faults else ""
        if fault == "slow":
            time.sleep(SLOW_SECONDS)
        if isinstance(fault, int):
            status, found = fault, {"error": {"detail": "no such thing as 5f0c1a2b3c4d5e6f7a8b9c0d"}}
        else:
            status, found = self.carry_out(handler, body)
        if fault == "cut":
            return
        content = json.dumps(found).encode()
        handler.send_response(status)
        if status == 429 and self.retry_after:
            handler.send_header("Retry-After", self.retry_after)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    def carry_out(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        address = urlsplit(handler.path)
        parts = address.path.strip("/").split("/")
        if parts == [".well-known", "study", "jwks.json"]:
            return 200, {"keys": self.keys}
        if handler.headers.get("Authorization") != f"Token {TOKEN}":
            return 401, {"error": {"detail": "Invalid token."}}
        match [handler.command, *parts[2:]]:
            case ["GET", "submissions"]:
                return self.list_page(parse_qs(address.query))
            case ["POST", "submissions", "bonus-payments"]:
                number = f"bonus{len(self.prepared) + 1}"
                self.prepared[number] = body["csv_bonuses"]
                return 201, {"id": number, "study": body["study_id"]}
            case ["POST", "bulk-bonus-payments", number, "pay"] if number in self.prepared:
                self.paid.append(number)
                return 202, {}
            case ["POST", "submissions", name, "transition"] if name in self.submissions:
                self.submissions[name]["status"] = {"APPROVE": "APPROVED"}[body["action"]]
                return 200, self.submissions[name]
            case ["POST", "submissions", name, "request-return"] if name in self.submissions:
                self.asked_to_return.append((name, body["request_return_reasons"]))
                return 200, self.submissions[name]
        return 404, {"error": {"detail": "Not found."}}

    def list_page(self, query: dict[str, list[str]]) -> tuple[int, dict[str, Any]]:
        """A page of the list. Its link to the next names another host, as behind a proxy."""
        if query.get("study") != [STUDY]:
            return 404, {"error": {"detail": "Not found."}}
        page = int(query.get("page", ["1"])[0])
        found = list(self.submissions.values())
        more = len(found) > page * PAGE
        href = f"https://elsewhere.example/api/v1/submissions/?study={STUDY}&page={page + 1}" if more else None
        return 200, {
            "results": found[(page - 1) * PAGE : page * PAGE],
            "_links": {"next": {"href": href}},
            "meta": {"count": len(found)},
        }
