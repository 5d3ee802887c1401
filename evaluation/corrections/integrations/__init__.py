"""The gate for programs of other people: plain calls, OpenAI clients and TinyTroupe agents."""

from evaluation.corrections.integrations._message_gate import MessageGate

__all__ = ["MessageGate"]
