"""Plays a short game in a framework against a local server and records it with the example, in ``frameworks.txt``."""

import asyncio
import os
import runpy
import sys
from pathlib import Path

os.environ.update({"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "CREWAI_TRACING_ENABLED": "false"})
ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT))

from evaluation import Recorder  # noqa: E402
from tests.judge_server import JudgeServer  # noqa: E402

EXAMPLES = runpy.run_path(str(ROOT / "examples" / "record_frameworks.py"))
NAMES = ("Ann", "Ben")


def autogen(url: str, recorder: Recorder) -> None:
    from autogen_agentchat.agents import AssistantAgent
    from autogen_agentchat.conditions import MaxMessageTermination
    from autogen_agentchat.teams import RoundRobinGroupChat
    from autogen_ext.models.openai import OpenAIChatCompletionClient

    can = dict.fromkeys(("vision", "function_calling", "json_output", "structured_output"), False)
    model = OpenAIChatCompletionClient(
        model="local", base_url=url, api_key="none", model_info={**can, "family": "unknown"}
    )
    agents = [AssistantAgent(name, model, system_message=f"You are {name}.") for name in NAMES]
    team = RoundRobinGroupChat(agents, termination_condition=MaxMessageTermination(3))
    asyncio.run(EXAMPLES["record_autogen"](team.run_stream(task="Play."), recorder))


def langgraph(url: str, recorder: Recorder) -> None:
    from langchain_openai import ChatOpenAI
    from langgraph.graph import END, START, MessagesState, StateGraph

    model = ChatOpenAI(model="local", base_url=url, api_key="none")
    graph = StateGraph(MessagesState)
    for name in NAMES:
        told = ("system", f"You are {name}.")
        graph.add_node(name, lambda state, told=told: {"messages": [model.invoke([told, *state["messages"]])]})
    for before, after in zip((START, *NAMES), (*NAMES, END), strict=True):
        graph.add_edge(before, after)
    steps = graph.compile().stream({"messages": [("user", "Play.")]}, stream_mode="updates")
    EXAMPLES["record_langgraph"](steps, recorder)


def crewai(url: str, recorder: Recorder) -> None:
    from crewai import LLM, Agent, Crew, Task

    model = LLM(model="openai/local", base_url=url, api_key="none")
    agents = [Agent(role=name, goal="Win.", backstory=f"You are {name}.", llm=model) for name in NAMES]
    tasks = [Task(description="Speak.", expected_output="A sentence.", agent=agent) for agent in agents]
    Crew(agents=agents, tasks=tasks, task_callback=EXAMPLES["record_crewai"](recorder)).kickoff()


if __name__ == "__main__":
    framework, folder = sys.argv[1:]
    server = JudgeServer(content=lambda body: f"I have heard {len(body['messages'])} things, and I suspect you.")
    with server.in_thread(), Recorder(folder, game_id=framework) as recorder:
        {"autogen": autogen, "langgraph": langgraph, "crewai": crewai}[framework](server.url, recorder)
