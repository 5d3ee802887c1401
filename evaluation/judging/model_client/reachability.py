"""Check before a live run that the judge's server can be reached, within seconds."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from http.client import HTTPException
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from evaluation.errors import JudgeError
from evaluation.judging.judge_config import JudgeConfig, has_key
from evaluation.judging.model_client._secrets import without_password

PROBE_SECONDS = 4.0
"""How long a server may take to give any sign of life, names and proxies included."""

_ADDRESSES = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com/v1",
    "deepseek": "https://api.deepseek.com",
    "gemini": "https://generativelanguage.googleapis.com/v1beta",
    "groq": "https://api.groq.com/openai/v1",
    "mistral": "https://api.mistral.ai/v1",
    "openrouter": "https://openrouter.ai/api/v1",
}
# What a gateway says whose server is away. Any other status is a server that talks.
_AWAY = frozenset({502, 503, 504})


def probe(config: JudgeConfig, *, seconds: float = PROBE_SECONDS, environment: Mapping[str, str] | None = None) -> None:
    """Returns once the judge's server gave any answer at all; asks no model and costs nothing.

    A provider whose address is not known here is not probed: its first call will tell.

    Args:
        config: Of a live judge.
        seconds: How long to wait.
        environment: Where keys are looked for; the process's own when left out.

    Raises:
        JudgeError: There is neither a key nor an address, or nothing answers.
    """
    address = config.base_url or _address_of(config.model)
    if address is None:
        return
    if config.base_url is None and not has_key(config.model, environment if environment is not None else os.environ):
        raise JudgeError(
            f"There is no key for {config.model} in the environment.",
            remedy="Set the provider's key (for example OPENAI_API_KEY), or give --base-url.",
        )
    problem = _asked(f"{address}/models", seconds)
    if problem:
        raise JudgeError(
            f"The judge cannot be reached: {problem}.",
            place=without_password(address),
            remedy="Look at the network and at --base-url: is the server running?",
        )


def _address_of(model: str) -> str | None:
    provider, slash, _ = model.partition("/")
    return _ADDRESSES.get(provider if slash else "openai")


def _asked(url: str, seconds: float) -> str:
    """Why the server does not answer; empty when it does. A thread looks up the name, as that has no time limit."""
    found = [f"no answer within {seconds:g} s"]

    def ask() -> None:
        found[0] = _problem(url, seconds)

    thread = threading.Thread(target=ask, name="judge-probe", daemon=True)
    thread.start()
    thread.join(seconds)
    return found[0]


def _problem(url: str, seconds: float) -> str:
    try:
        with urlopen(Request(url, headers={"User-Agent": "dramaturg"}), timeout=seconds):
            return ""
    except HTTPError as error:
        error.close()
        return f"HTTP {error.code}" if error.code in _AWAY else ""
    except TimeoutError:
        return f"no answer within {seconds:g} s"
    except URLError as error:
        return str(error.reason)
    except (HTTPException, OSError):
        # Somebody took the connection, and speaks another way than expected here.
        return ""
    except ValueError as error:
        return str(error)
