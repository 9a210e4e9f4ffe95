"""Run by a Python that has edsl: `llm_peer_edsl.py URL MODEL CONCURRENCY FOLDER < QUESTIONS`.

QUESTIONS: JSON list of [system, user]. Prints one line of JSON: seconds, processor seconds without those of starting,
and how many were answered.
"""

import json
import os
import sys
import time

url, name, concurrency, folder = sys.argv[1:5]
# Read when edsl is imported. Its limits are set beyond reach and its files go where the benchmark's are.
os.environ |= {
    "OPENAI_COMPATIBLE_BASE_URL": url,
    "OPENAI_COMPATIBLE_API_KEY": "none",
    "EDSL_SERVICE_RPM_BASELINE": "1000000",
    "EDSL_SERVICE_TPM_BASELINE": "1000000000",
    "EDSL_MAX_CONCURRENT_TASKS": concurrency,
    "EDSL_DATABASE_PATH": f"sqlite:///{folder}/edsl-cache.db",
    "EDSL_SQLLIST_DB_PATH": f"sqlite:///{folder}/edsl-list.db",
    "EDSL_LOG_DIR": folder,
    "EDSL_FETCH_TOKEN_PRICES": "False",
    "EXPECTED_PARROT_URL": "https://127.0.0.1:9",  # nothing leaves this machine
}

from edsl import Cache, Model, QuestionMultipleChoice, Scenario, ScenarioList  # noqa: E402


def main() -> None:
    scenarios = ScenarioList([Scenario({"system": system, "user": user}) for system, user in json.load(sys.stdin)])
    question = QuestionMultipleChoice(
        question_name="answer",
        question_text="{{ scenario.system }}\n{{ scenario.user }}",
        question_options=["A", "B"],
        include_comment=False,
    )
    limits = {"rpm": 1_000_000, "tpm": 1_000_000_000}
    model = Model(name, service_name="openai_compatible", temperature=0, max_tokens=40, **limits)
    job = question.by(scenarios).by(model)
    started, spent = time.perf_counter(), time.process_time()
    results = job.run(
        cache=Cache(),
        disable_remote_cache=True,
        disable_remote_inference=True,
        offload_execution=False,
        progress_bar=False,
        print_exceptions=False,
        verbose=False,
    )
    seconds, processor = time.perf_counter() - started, time.process_time() - spent
    answered = sum(answer is not None for answer in results.select("answer.answer").to_list())
    print("\n" + json.dumps({"seconds": seconds, "processor": processor, "answered": answered}))


if __name__ == "__main__":
    main()
