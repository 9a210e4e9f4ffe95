"""`python -m bench.llm_floor URL CALLS CONCURRENCY < BODY`: the same requests with nothing but aiohttp around them.

Prints one line of JSON: seconds, and processor seconds without those of starting.
"""

import asyncio
import json
import sys
import time

import aiohttp


async def ask_all(url: str, body: bytes, *, calls: int, concurrency: int) -> None:
    left = iter(range(calls))
    headers = {"Content-Type": "application/json"}

    async def work(session: aiohttp.ClientSession) -> None:
        for _ in left:
            async with session.post(f"{url}/chat/completions", data=body, headers=headers) as response:
                response.raise_for_status()
                json.loads(await response.read())

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=concurrency)) as session:
        await asyncio.gather(*(work(session) for _ in range(concurrency)))


def main() -> None:
    url, calls, concurrency = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    body = sys.stdin.buffer.read()
    started, spent = time.perf_counter(), time.process_time()
    asyncio.run(ask_all(url, body, calls=calls, concurrency=concurrency))
    print(json.dumps({"seconds": time.perf_counter() - started, "processor": time.process_time() - spent}))


if __name__ == "__main__":
    main()
