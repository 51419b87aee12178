"""Agents: programs that ask a model several times. Each of their requests is recorded, shown, counted and scored."""

from typing import Final

from ais_prompt.extension import Extension, VerbEntry

EXTENSION: Final = Extension(
    parts={
        "models": {
            "CommandModel": "command_model",
            "FunctionAgentModel": "called_agents",
            "ServerAgentModel": "called_agents",
        },
        "inferencers": {
            "ToolLoopInferencer": "tool_loop",
        },
        "evaluators": {
            "StateEvaluator": "trajectory_scores",
            "TrajectoryEvaluator": "trajectory_scores",
        },
    },
    verbs={
        "agents": VerbEntry(
            "Compare",
            "agents_command:agents",
            "Compare agents: score, steps, tokens, cost, seconds.",
            "agents_table:AgentsDocument",
        ),
    },
    documents={"compare": "compared:TrajectoryFields"},
    exporters={"otel": "otel:write_traces"},
    packages=("mcp",),
    steps={
        "compare": "compared:compare_agents",
        "finished": "mcp_tools:end_servers",
        "translate": "proxied:translate",
    },
)
