"""All that a model server may answer, by the direct way and by litellm: both read it alike and name each cause."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from evaluation.judging._redaction import without_secrets
from evaluation.judging.live_judge import LiteLLMJudge
from evaluation.judging.model_client._responses import without_reasoning
from evaluation.judging.model_client.calls import CallRecord, RetryPolicy
from evaluation.judging.model_client.language_model import LLMClient
from evaluation.judging.model_client.provider import provider_of
from evaluation.judging.protocol import Judgement, JudgementStatus
from tests.judge_questions import claims
from tests.judge_server import Fault, JudgeServer

QUICK = RetryPolicy(retries=2, first_wait_seconds=0.01, longest_wait_seconds=0.05)
WAYS = ("direct", "litellm")
KEY = "sk-of-a-test-0123456789"


def mark(score: int = 7, reason: str = "The second message bears it out.") -> str:
    return json.dumps({"reason": reason, "score": score, "confidence": 0.8, "citations": [1]})


GOOD = mark()
DRAFT = mark(2, "A draft.")
USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def reply(content: Any, finish: str = "stop", *, usage: Any = USAGE, **fields: Any) -> bytes:
    message = {"role": "assistant", "content": content, **fields.pop("message", {})}
    choice = {"index": 0, "finish_reason": finish, "message": message, **fields}
    body = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    return json.dumps(body if usage is None else {**body, "usage": usage}).encode()


def error(message: str, **fields: Any) -> bytes:
    return json.dumps({"error": {"message": message, **fields}}).encode()


@contextmanager
def asked_of(
    way: str, respond: Callable[[dict[str, Any], int], Fault], monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[LLMClient, JudgeServer, list[CallRecord]]]:
    log: list[CallRecord] = []
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with JudgeServer(misbehave=respond).in_thread() as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        provider = provider_of("openai/local", server.url if way == "direct" else None)
        yield LLMClient(provider, timeout_seconds=20.0, retry=QUICK, log=log.append), server, log


class Asked(NamedTuple):
    judgement: Judgement
    outcomes: list[str]


def asked(way: str, body: bytes, monkeypatch: pytest.MonkeyPatch, status: int = 200) -> Asked:
    with asked_of(way, lambda _, __: Fault("told", status, body=body), monkeypatch) as (client, _, log):
        (judgement,) = asyncio.run(LiteLLMJudge(client).judge(claims(1)))
    return Asked(judgement, [record.outcome for record in log])


ANSWERS = {
    "a text": reply(GOOD),
    "parts": reply([{"type": "text", "text": GOOD[:20]}, {"type": "text", "text": GOOD[20:]}]),
    "parts of reasoning and text": reply([{"type": "thinking", "thinking": DRAFT}, {"type": "text", "text": GOOD}]),
    "reasoning in a field": reply(GOOD, message={"reasoning_content": DRAFT}),
    "reasoning in closed tags": reply(f"<think>{DRAFT}</think>\n{GOOD}"),
    "raw line breaks": reply(GOOD.replace("message bears", "message\nbears").replace("\\n", "\n")),
    "wrong escapes": reply(GOOD.replace("second", "\\_second\\_ \\'one\\'")),
    "no usage": reply(GOOD, usage=None),
    "odd usage": reply(GOOD, usage="many"),
    "tokens that are no numbers": reply(GOOD, usage={"prompt_tokens": float("nan"), "completion_tokens": 5}),
    "an empty refusal": reply(GOOD, message={"refusal": ""}),
    "a refusal beside an answer": reply(GOOD, message={"refusal": "I would rather not."}),
    "no error": reply(GOOD)[:-1] + b', "error": null}',
    "a byte-order mark": b"\xef\xbb\xbf" + reply(GOOD),
    "NaN beside it": reply(GOOD)[:-1] + b', "extra": NaN}',
    "status 201": reply(GOOD),
}


# pytest makes errors of warnings, after the client has switched this one off.
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_read_however_it_is_wrapped(name: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = asked(way, ANSWERS[name], monkeypatch, 201 if name == "status 201" else 200)
    assert (found.judgement.status, found.judgement.score) == (JudgementStatus.SCORED, 7), found.judgement.detail
    assert found.outcomes == ["answered"]
    assert found.judgement.parameters == {"temperature": 0.0, "max_tokens": 1_000}


MARKERS = {
    "think": ("<think>", "</think>"),
    "think with an attribute": ('<think type="x">', "</think>"),
    "thinking of a vendor": ("<antThinking>", "</antThinking>"),
    "escaped for HTML": ("&lt;think&gt;", "&lt;/think&gt;"),
    "brackets": ("[THINK]", "[/THINK]"),
    "triangles": ("\u25c1think\u25b7", "\u25c1/think\u25b7"),
    "Cohere": ("<|START_THINKING|>", "<|END_THINKING|>"),
    "bars around begin and end": ("<|begin_of_thought|>", "<|end_of_thought|>"),
    "DeepSeek": ("<\uff5cbegin\u2581of\u2581thinking\uff5c>", "<\uff5cend\u2581of\u2581thinking\uff5c>"),
    "content": ("<reasoning_content>", "</reasoning_content>"),
    "monologue": ("<inner_monologue>", "</inner_monologue>"),
    "start and end behind": ("<reasoning_start>", "<reasoning_end>"),
    "details": ('<details type="reasoning" done="true">', "</details>"),
    "harmony": ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    "Gemma": ("<|channel>thought", "<channel|>"),
}
"""Markers that models put around their reasoning."""


@pytest.mark.parametrize("name", MARKERS)
def test_a_draft_between_markers_never_counts(name: str) -> None:
    begin, end = MARKERS[name]
    assert without_reasoning(f"{begin}{DRAFT}{end}{GOOD}") == GOOD
    assert without_reasoning(f"{GOOD}{begin}{DRAFT}") == GOOD
    assert without_reasoning(f"{begin}{DRAFT}{end}") == without_reasoning(f"{begin}{DRAFT}") == ""


@pytest.mark.parametrize("score", ['"score": null, ', "", '"score": "n/a", ', '"score": 3, '])
def test_missing_data_is_a_marked_9_whatever_mark_stands_beside_it(score: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = asked("direct", reply(GOOD.replace('"score": 7, ', f'{score}"data_missing": true, ')), monkeypatch)
    assert (found.judgement.score, found.judgement.is_data_missing) == (9, True), found.judgement.detail
    assert found.outcomes == ["answered"]


class Cause(NamedTuple):
    status: int
    body: bytes
    outcome: str
    words: tuple[str, ...]


PASSING = {"server_error", "rate_limited", "broken_response"}
"""What is asked again, twice."""

CAUSES = {
    "filtered": Cause(200, reply(None, "content_filter"), "filtered", ("content filter", "another model")),
    "filtered prompt": Cause(
        400, error("It triggered our policy.", code="content_filter"), "filtered", ("triggered our policy",)
    ),
    "declined": Cause(
        200, reply(None, message={"refusal": "I cannot rate this."}), "declined", ("declined", "I cannot rate this.")
    ),
    "declined in parts": Cause(
        200, reply([{"type": "refusal", "refusal": "No way."}]), "declined", ("declined", "No way.")
    ),
    "declined beside a text": Cause(
        200, reply("I cannot", message={"refusal": "I must not."}), "declined", ("declined", "I must not.")
    ),
    "declined in a list": Cause(200, reply(None, message={"refusal": ["Never."]}), "declined", ("Never.",)),
    "an error that says 200": Cause(
        200, error("No provider is left.", code=502), "server_error", ("No provider is left.", "later")
    ),
    "an error beside no choices": Cause(
        200, b'{"choices": [], "error": {"message": "upstream died", "code": 503}}', "server_error", ("upstream",)
    ),
    "finished by an error": Cause(
        200, reply("Half", "error", error={"message": "upstream died", "code": 502}), "server_error", ("upstream",)
    ),
    "a limit that passes": Cause(
        429, error("You exceeded your current quota. Please retry in 34s."), "rate_limited", ("retry in 34s",)
    ),
    "a rate limit": Cause(429, error("Slow down."), "rate_limited", ("Slow down.", "--concurrency")),
    "quota": Cause(429, error("Nothing left.", code="insufficient_quota"), "quota_spent", ("Nothing left.", "credit")),
    "payment": Cause(402, error("Insufficient credits."), "quota_spent", ("Insufficient credits.", "credit")),
    "a wrong key": Cause(401, error("Incorrect API key."), "wrong_key", ("Incorrect API key.", "OPENAI_API_KEY")),
    "an unknown model": Cause(
        404, error("The model does not exist.", code="model_not_found"), "not_found", ("does not exist", "name")
    ),
    "an unknown model, said with 400": Cause(
        400, error("No such model.", code="model_not_found"), "not_found", ("No such model.", "name")
    ),
    "forbidden": Cause(403, error("Not for you."), "refused", ("Not for you.", "may use the model")),
    "too long": Cause(
        400,
        error("This model's maximum context length is 10 tokens.", code="context_length_exceeded", param="messages"),
        "prompt_too_long",
        ("maximum context length", "larger context"),
    ),
    "quota in others' words": Cause(
        403, error("Credit limit exceeded, please add credits."), "quota_spent", ("Credit limit", "credit")
    ),
    "more tokens than the model writes": Cause(
        400,
        error("max_tokens is too large: 1000. This model supports at most 512.", param="max_tokens"),
        "token_limit",
        ("at most 512", "--max-tokens"),
    ),
    "a tool instead of an answer": Cause(
        200, reply(None, "tool_calls"), "declined", ("called a tool", "another model")
    ),
    "a wrong key in a list": Cause(
        400,
        b'[{"error": {"code": 400, "message": "API key not valid. Please pass a valid API key."}}]',
        "wrong_key",
        ("API key not valid", "OPENAI_API_KEY"),
    ),
    "an error that says 200, as text": Cause(200, b'{"error": "kaputt"}', "server_error", ("failed: kaputt.",)),
    "an error beside an answer": Cause(
        200, reply(GOOD)[:-1] + b', "error": {"message": "boom", "code": 500}}', "server_error", ("failed", "boom.")
    ),
    "an error with its status as text": Cause(200, error("Slow down.", code="429"), "rate_limited", ("Slow down.",)),
    "choices that are no list": Cause(
        200, b'{"choices": {"0": 1}}', "broken_response", ("response: the answer is not one of OpenAI's protocol.",)
    ),
    "no words": Cause(418, b"", "refused", ("(HTTP 418): it did not say why.",)),
    "a redirection": Cause(307, b"", "broken_response", ("(HTTP 307): it did not say why.",)),
    "details": Cause(422, b'{"detail": [{"msg": "no"}]}', "refused", (': {"detail": [{"msg": "no"}]}.',)),
    "a page": Cause(200, b"<html>hello</html>", "broken_response", ("protocol", "--base-url")),
    "an empty body": Cause(200, b"", "broken_response", ("protocol", "--base-url")),
    "endless nesting": Cause(200, b"[" * 5_000, "broken_response", ("protocol", "--base-url")),
    "no message": Cause(200, b'{"choices": [{"message": null}]}', "broken_response", ("protocol",)),
    "no text": Cause(200, b'{"choices": [{"message": {"content": {"a": 1}}}]}', "broken_response", ("protocol",)),
    "no choices": Cause(200, b'{"choices": []}', "broken_response", ("protocol",)),
}


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.parametrize("name", CAUSES)
def test_each_cause_is_told_in_its_own_words(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cause = CAUSES[name]
    found, other = (asked(way, cause.body, monkeypatch, cause.status) for way in WAYS)
    assert other.judgement.detail == found.judgement.detail
    assert other.outcomes == found.outcomes
    assert found.judgement.status is JudgementStatus.ERROR
    assert found.outcomes == [cause.outcome] * (3 if cause.outcome in PASSING else 1)
    for words in cause.words:
        assert words in found.judgement.detail
    assert "litellm." not in found.judgement.detail


@pytest.mark.parametrize(
    ("content", "fields"),
    [("", {"reasoning_content": "..."}), (None, {"reasoning": "..."}), (f"<think>{DRAFT}", {})],
    ids=["in a field", "null", "in a tag"],
)
def test_an_answer_cut_off_while_reasoning_is_asked_with_more_room_and_then_named(
    content: Any, fields: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    rooms: list[int] = []

    def respond(body: dict[str, Any], _: int) -> Fault:
        rooms.append(body["max_tokens"])
        return Fault("told", body=reply(content, "length", message=fields))

    with asked_of("direct", respond, monkeypatch) as (client, _, _log):
        (judgement,) = asyncio.run(LiteLLMJudge(client, max_tokens=500).judge(claims(1)))
    assert rooms == [500, 1_000, 2_000]
    assert "cut off after 2,000 tokens while the model was still reasoning" in judgement.detail
    assert "--max-tokens" in judgement.detail


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("shape", ["named", "in words", "forbidden extra"])
def test_a_refused_parameter_is_left_out_for_the_run_and_stored(
    shape: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[set[str]] = []

    def refusal(name: str) -> Fault:
        if shape == "named":
            return Fault("refusal", 400, body=error(f"Unsupported parameter: '{name}'.", param=name))
        if shape == "in words":
            return Fault("refusal", 400, body=error(f"{name} is not supported with this model."))
        detail = [{"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs are not permitted"}]
        return Fault("refusal", 422, body=json.dumps({"detail": detail}).encode())

    def respond(body: dict[str, Any], _: int) -> Fault:
        sent.append(set(body) - {"model", "messages"})
        for name in ("max_tokens", "temperature"):
            if name in body:
                return refusal(name)
        return Fault("told", body=reply(GOOD))

    with asked_of(way, respond, monkeypatch) as (client, _, log):
        client.concurrency = 1
        judgements = asyncio.run(LiteLLMJudge(client).judge(claims(3)))
    assert [one.score for one in judgements] == [7, 7, 7]
    assert sent == [
        {"max_tokens", "temperature"},
        {"max_completion_tokens", "temperature"},
        *[{"max_completion_tokens"}] * 3,
    ]
    assert [record.outcome for record in log] == ["parameter_refused"] * 2 + ["answered"] * 3
    assert [dict(one.parameters) for one in judgements] == [{"max_completion_tokens": 1_000}] * 3
    # Marks at another temperature are those of another judge: nowhere compared with the others.
    assert {one.judged_by for one in judgements} == {"openai/local (at its own temperature)"}


def test_a_server_that_refuses_every_parameter_is_not_asked_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = Fault("refusal", 400, body=error("temperature, max_tokens, max_completion_tokens: not supported"))
    with asked_of("direct", lambda _, __: refusal, monkeypatch) as (client, server, log):
        (judgement,) = asyncio.run(LiteLLMJudge(client).judge(claims(1)))
    assert judgement.status is JudgementStatus.ERROR
    assert [record.outcome for record in log] == ["parameter_refused"] * 3 + ["refused"]
    assert server.tally.asked.total() == 4


@pytest.mark.parametrize("name", ["quota", "a wrong key", "an unknown model"])
def test_what_every_call_would_meet_ends_the_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cause = CAUSES[name]
    fault = Fault("told", cause.status, body=cause.body)
    with asked_of("direct", lambda _, __: fault, monkeypatch) as (client, server, _):
        client.concurrency = 1
        judgements = asyncio.run(LiteLLMJudge(client).judge(claims(12)))
    assert {one.status for one in judgements} == {JudgementStatus.ERROR}
    assert server.tally.asked.total() == 1


def test_an_answer_that_repeats_the_key_or_what_looks_like_one_is_stored_without_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = f'header Bearer {KEY} and sk-live-0123456789abcdef, or "Bearer 0123456789abc"'
    judgement = asked("direct", reply(f"<think>{KEY}</think>{mark(reason=told)}"), monkeypatch).judgement
    assert judgement.score == 7
    assert judgement.reason == 'header Bearer [key] and [key], or "[key]"'
    assert KEY not in repr(judgement)


LONG_SECRET = "zq-proj-4f7Hx9LmQ2vRt8WcYb3NkDs6PgJ1"


def test_keys_are_known_by_a_word_of_their_names_in_files_in_json_and_in_addresses(tmp_path: Path) -> None:
    file, account = tmp_path / "key", tmp_path / "account.json"
    file.write_text(f"{LONG_SECRET}\n")
    account.write_text(json.dumps({"type": "service_account", "private_key": LONG_SECRET, "private_key_id": "an-id-7"}))
    for environment in (
        *(
            {name: LONG_SECRET}
            for name in ("OPENAI_API_KEY_2", "API_KEYS", "OPENAI_KEY_BACKUP", "DB_PASS", "A_CREDENTIALS")
        ),
        {"OIDC_SECRET_FILE": str(file)},
        {"GOOGLE_CREDENTIALS": account.read_text()},
        {"GOOGLE_APPLICATION_CREDENTIALS": str(account)},
        {"HTTPS_PROXY": f"http://ann:{LONG_SECRET}@proxy:80"},
    ):
        told = f"a service_account, an-id-7, and {LONG_SECRET}"
        assert without_secrets(told, environment) == "a service_account, an-id-7, and [key]", environment
    others = {"MAX_TOKENS": "100000", "AWS_ACCESS_KEY_ID": "AN-OPEN-NAME", "COMPASS_POINTS": "northern"}
    assert without_secrets("100000 AN-OPEN-NAME northern", others) == "100000 AN-OPEN-NAME northern"


@pytest.mark.parametrize(
    "text",
    [
        "The Bearer of bad news has a key-value store, key-points and a risk-taker; sk-ip it.",
        "It starts with zz-01 and ends in 89, zq-proj or 4f7Hx9.",
        '{"reason": "zz-0123", "score": 4567, "confidence": 0.89}',
    ],
)
def test_what_is_no_key_stays(text: str) -> None:
    assert without_secrets(text, environment={"Y_TOKEN": LONG_SECRET}) == text


def test_scrubbing_a_long_hostile_text_takes_linear_time() -> None:
    def seconds(size: int) -> float:
        begun = time.process_time()
        without_secrets(f"{LONG_SECRET} and {LONG_SECRET[:-1]} " * (size // 70), environment={"X_API_KEY": LONG_SECRET})
        return time.process_time() - begun

    for piece in ("\\", "&#0", "z", "zz-0123/456 ", "%25", "-"):
        hostile = piece * (100_000 // len(piece))
        assert without_secrets(hostile, environment={"X_API_KEY": LONG_SECRET}) == hostile
    short, long = (min(seconds(size) for _ in range(3)) for size in (50_000, 200_000))
    assert long < 12 * short + 0.05


@pytest.mark.parametrize(
    ("text", "outside"),
    [
        ("no tags at all", "no tags at all"),
        ("<think>a</think>b<think>c</think>d", "bd"),
        ("<think>a<think>b</think>c</think>d", "d"),
        ("a</think>b</think>c", "c"),
        ("<THINK>a</Think>b", "b"),
        ('{"reason": "he wrote <think>"} <think>draft', '{"reason": "he wrote <think>"}'),
        ('{"reason": "he wrote </think>", "score": 1}', '{"reason": "he wrote </think>", "score": 1}'),
        ("1 < 2 and <thinker>", "1 < 2 and <thinker>"),
        ("<think >a</think >b", "b"),
        ("<details><summary>Mark</summary>b</details>", "<details><summary>Mark</summary>b</details>"),
        (
            "1 <think a lot> and [reasoning] and <analysis: none>",
            "1 <think a lot> and [reasoning] and <analysis: none>",
        ),
    ],
)
def test_only_what_stands_outside_of_reasoning_is_an_answer(text: str, outside: str) -> None:
    assert without_reasoning(text) == outside


def test_reasoning_tags_without_end_cost_linear_time() -> None:
    assert without_reasoning("<think>" * 20_000) == ""
    assert without_reasoning("</think>" * 20_000 + "a") == "a"
    for hostile in ("<details " * 20_000, "<a_b_c_" * 20_000, "<think a=b c=d " * 10_000, "&lt;" * 40_000):
        assert without_reasoning(hostile) == hostile
