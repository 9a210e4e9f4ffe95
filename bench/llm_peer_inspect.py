"""Run by a Python that has inspect_ai: `llm_peer_inspect.py URL MODEL CONCURRENCY FOLDER < QUESTIONS`.

QUESTIONS: JSON list of [system, user]. Prints one line of JSON: seconds, processor seconds without those of starting,
and how many were answered.
"""

import json
import sys
import time

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, GenerateConfig, get_model
from inspect_ai.scorer import pattern
from inspect_ai.solver import generate


def main() -> None:
    url, name, concurrency, folder = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    samples = [
        Sample(input=[ChatMessageSystem(content=system), ChatMessageUser(content=user)], target="A")
        for system, user in json.load(sys.stdin)
    ]
    config = GenerateConfig(max_connections=concurrency, max_tokens=40, temperature=0)
    model = get_model(f"openai-api/scripted/{name}", base_url=url, api_key="none", config=config)
    task = Task(dataset=MemoryDataset(samples), solver=generate(), scorer=pattern(r"(A|B)"))
    started, spent = time.perf_counter(), time.process_time()
    # Without display and without waiting for its own view: the fastest that its documentation offers.
    [log] = eval(task, model=model, display="none", max_samples=concurrency, log_dir=folder, log_realtime=False)
    seconds, processor = time.perf_counter() - started, time.process_time() - spent
    answered = log.results.completed_samples if log.results else 0
    print("\n" + json.dumps({"seconds": seconds, "processor": processor, "answered": answered}))


if __name__ == "__main__":
    main()
