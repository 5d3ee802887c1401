"""The gate for programs of other people: plain calls, OpenAI clients and TinyTroupe agents."""
