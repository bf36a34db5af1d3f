"""Asks a server through Anthropic's own client and prints what it understood, one JSON value a line.

    official_client.py BASE_URL NAME...

A name is the model that is asked, whole and as a stream. One that starts with "!" or "~" is expected to
fail, without and with a stream; one with "#" is counted for and asked about.
"""

import json
import sys

import anthropic

base_url, *names = sys.argv[1:]
client = anthropic.Anthropic(
    base_url=base_url,
    api_key="sk-ant-nothing",
    max_retries=0,
    timeout=86400,  # Nothing ends by it.
    _strict_response_validation=True,
)
messages = [{"role": "user", "content": "hello"}]


def ask(name):
    return {"model": name, "max_tokens": 1000, "messages": messages}


def show(value):
    return value.model_dump(mode="json", exclude_unset=True, by_alias=True)


def failure(call):
    try:
        call()
    except anthropic.APIStatusError as error:
        body = error.body if isinstance(error.body, dict) else {}
        return {
            "error": type(error).__name__,
            "status": error.status_code,
            "type": body.get("error", {}).get("type"),
        }
    raise SystemExit("nothing failed")


def stream(name):
    with client.beta.messages.stream(**ask(name)) as events:
        return events.get_final_message()


for name in names:
    kind, rest = name[0], name[1:]
    if kind == "!":
        shown = failure(lambda: client.messages.create(**ask(rest)))
    elif kind == "~":
        shown = failure(lambda: stream(rest))
    elif kind == "#":
        count = client.messages.count_tokens(model=rest, messages=messages)
        model = client.models.retrieve(rest)
        shown = {"input_tokens": count.input_tokens, "model": show(model)}
    else:
        whole = client.beta.messages.create(**ask(name))
        shown = {"name": name, "whole": show(whole), "streamed": show(stream(name))}
    print(json.dumps(shown))
