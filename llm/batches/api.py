"""A server's Batch and Files API: one request each, by the openai library on the transports of the live calls.

Pure code, apart from the connections. Every method raises BatchApiError, with the server's words, when it fails.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, BinaryIO
from uuid import UUID

import openai

from llm.batches.lines import ENDPOINT, METADATA_KEY, ServerBatch, read_batch, read_page
from llm.servers.client import TRANSPORT_ERRORS, fault_of, open_client
from llm.servers.endpoint_config import EndpointConfig
from llm.servers.replies import Reply, load_json, redacted, transport_fault
from llm.servers.transport import MAX_BODY_BYTES, FileTransport

MAX_RESULT_BYTES = 2 * 2**30  # of one file; with log probabilities an answer can have a few kilobytes
FILE_SECONDS = 900.0
WINDOW = "24h"
PAGE = 100
MAX_PAGES = 200
CLOCKS_APART_SECONDS = 24 * 3600.0  # between the server's clock and ours, at most

Work = Callable[[openai.AsyncOpenAI], Awaitable[Any]]


class BatchApiError(Exception):
    """A request to the Batch API that brought nothing; `reply` says why and whether asking again can help."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.error)
        self.reply = reply

    @property
    def status_code(self) -> int | None:
        return self.reply.status_code

    @property
    def passing(self) -> bool:
        """Whether asking again can help."""
        return self.reply.retryable


class BatchApi:
    """For use outside of an event loop: each method opens a connection and closes it."""

    def __init__(self, endpoint: EndpointConfig) -> None:
        self._endpoint = endpoint

    def upload(self, file: BinaryIO, name: str) -> str:
        """Send a file of requests; its id at the server."""

        async def work(client: openai.AsyncOpenAI) -> str:
            sent = await client.files.with_raw_response.create(file=(name, file), purpose="batch")
            found = load_json(sent.text)
            if not isinstance(found, dict) or not isinstance(found.get("id"), str):
                raise BatchApiError(_unexpected("file"))
            return str(found["id"])

        return str(self._do(work, files_of=MAX_BODY_BYTES))

    def create(self, input_file: str, key: UUID) -> ServerBatch:
        """Have a batch made of an uploaded file. The key is its metadata, and for servers that know such a header what
        makes a second request for the same batch harmless."""
        body = {
            "input_file_id": input_file,
            "endpoint": ENDPOINT,
            "completion_window": WINDOW,
            "metadata": {METADATA_KEY: str(key)},
        }
        headers = {"Idempotency-Key": str(key)}
        return self._batch(lambda client: client.post("/batches", cast_to=str, body=body, options={"headers": headers}))

    def look(self, server_id: str) -> ServerBatch:
        return self._batch(lambda client: client.get(f"/batches/{server_id}", cast_to=str))

    def cancel(self, server_id: str) -> None:
        self._do(lambda client: client.post(f"/batches/{server_id}/cancel", cast_to=str))

    def delete(self, file_id: str) -> None:
        self._do(lambda client: client.delete(f"/files/{file_id}", cast_to=str))

    def find(self, key: UUID, *, since: float) -> ServerBatch | None:
        """The batch that was made with the key, which the server did not tell us. `since`: seconds since 1970, when it
        can have been made at the earliest; servers list the newest first."""
        after = ""
        for _ in range(MAX_PAGES):
            batches, more = self._page(after)
            for batch in batches:
                if batch.key == str(key):
                    return batch
            made = [batch.created_at for batch in batches if batch.created_at is not None]
            if not more or not batches or (made and max(made) < since - CLOCKS_APART_SECONDS):
                return None
            after = batches[-1].id
        return None

    def download(self, file_id: str, file: BinaryIO) -> None:
        """Write a file of results to the end of another."""

        async def work(client: openai.AsyncOpenAI) -> None:
            async with client.files.with_streaming_response.content(file_id) as answer:
                async for part in answer.iter_bytes():
                    file.write(part)

        self._do(work, files_of=MAX_RESULT_BYTES)

    def _page(self, after: str) -> tuple[list[ServerBatch], bool]:
        query: dict[str, object] = {"limit": PAGE} | ({"after": after} if after else {})
        text = self._do(lambda client: client.get("/batches", cast_to=str, options={"params": query}))
        try:
            return read_page(load_json(text))
        except ValueError as error:
            raise BatchApiError(_unexpected("list of batches")) from error

    def _batch(self, work: Work) -> ServerBatch:
        batch = read_batch(load_json(self._do(work)))
        if batch is None:
            raise BatchApiError(_unexpected("batch"))
        return batch

    def _do(self, work: Work, *, files_of: int = 0) -> Any:
        """`files_of`: the bytes that may come, for what is streamed."""
        return asyncio.run(self._attempt(work, files_of))

    async def _attempt(self, work: Work, files_of: int) -> Any:
        transport = FileTransport(self._endpoint.base_url, most=files_of) if files_of else None
        endpoint = replace(self._endpoint, timeout_seconds=FILE_SECONDS) if files_of else self._endpoint
        try:
            async with open_client(endpoint, transport=transport) as client, asyncio.timeout(endpoint.timeout_seconds):
                return await work(client)
        except TRANSPORT_ERRORS as error:
            raise BatchApiError(redacted(fault_of(error, endpoint), endpoint.api_key)) from error


def _unexpected(what: str) -> Reply:
    return transport_fault(f"The server's answer is no {what}.")
