"""Hold conversations with agents of OpenCompass and lagent, and print the turns: a program for their environment.

``PYTHON their_agents.py CASES`` takes the file of the cases. Nothing of this program is imported. Their inferencer,
agent, protocol and interpreter run as they are; only the model answers from the script.
"""

import copy
import importlib.util
import json
import sys

import lagent
import opencompass.models.lagent as agents
from lagent.agents.react import ReAct, ReActProtocol
from opencompass.models.base import BaseModel, LMTemplateParser
from opencompass.models.base_api import APITemplateParser
from opencompass.openicl.icl_inferencer.icl_agent_inferencer import AgentInferencer, AgentInferencerOutputHandler

CLASSES = {"PythonInterpreter": lagent.PythonInterpreter, "ReActProtocol": ReActProtocol, "ReAct": ReAct}
ROLES = {"HUMAN": "user", "BOT": "assistant", "SYSTEM": "system"}


class Scripted(BaseModel):
    def __init__(self, answers, is_text, roles):
        self.template_parser = LMTemplateParser(roles) if is_text else APITemplateParser(roles)
        self.is_api, self.max_seq_len = not is_text, 10**6
        self.answers, self.asked = list(answers), []

    def generate(self, inputs, max_out_len):
        [prompt] = inputs
        if not isinstance(prompt, str):
            prompt = [{"role": ROLES[turn["role"]], "content": turn["prompt"]} for turn in prompt]
        self.asked.append({"prompt": copy.deepcopy(prompt), "max_out_len": max_out_len})
        return [self.answers.pop(0)]


def with_classes(value):
    if isinstance(value, dict):
        return {
            key: CLASSES.get(one, one) if key in ("type", "agent_type") else with_classes(one)
            for key, one in value.items()
        }
    return [with_classes(one) for one in value] if isinstance(value, list) else value


def turns_of(question, case):
    """Return what was asked, the prediction and the steps of a case."""
    llm = {"type": Scripted, "answers": case["answers"], "is_text": case.get("is_text"), "roles": case.get("roles")}
    agent = getattr(agents, case.get("kind", "CodeAgent"))(llm=llm, **with_classes(case.get("agent", {})))
    model = agent.agent._llm
    chat = [*case.get("history", []), {"role": "user", "content": question}, {"role": "assistant", "content": "42"}]
    kept = AgentInferencerOutputHandler()
    AgentInferencer(agent).infer_last(chat, 0, kept)
    [result] = kept.results_dict.values()
    return {"asked": model.asked, "prediction": result["prediction"], "steps": result["steps"]}


def main():
    spec = importlib.util.spec_from_file_location("agent_cases", sys.argv[1])
    cases = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(cases)
    found = {name: turns_of(cases.QUESTION, case) for name, case in cases.CASES.items()}
    print(json.dumps(found))


main()
