"""Agents: programs that ask a model several times. Each of their requests is recorded, shown, counted and scored."""

from typing import Final

from ais_prompt.extension import Extension

EXTENSION: Final = Extension(
    parts={
        "models": {
            "CommandModel": "command",
            "FunctionAgentModel": "function_agent",
            "ServerAgentModel": "server_agent",
        },
        "inferencers": {
            "ToolLoopInferencer": "tool_loop",
        },
        "evaluators": {
            "StateEvaluator": "evaluators",
            "TrajectoryEvaluator": "evaluators",
        },
    },
    packages=("mcp",),
    steps={"finished": "mcp_tools:end_servers"},
)
