"""Reads the answers of a fake server with Ollama's own client, and prints what it made of them.

Called with a base URL: the whole answer, then the streamed one, then what the server says of the model, then
the error of a model that is called `missing`.
"""

import json
import sys

import ollama


def read(parts):
    text, thinking, calls, last = "", "", [], None
    for part in parts:
        text += part.message.content or ""
        thinking += part.message.thinking or ""
        calls += [
            {"name": call.function.name, "arguments": call.function.arguments}
            for call in part.message.tool_calls or []
        ]
        last = part
    assert last.done
    return {
        "text": text,
        "thinking": thinking,
        "calls": calls,
        "model": last.model,
        "done_reason": last.done_reason,
        "input_tokens": last.prompt_eval_count,
        "output_tokens": last.eval_count,
    }


def main():
    client = ollama.Client(host=sys.argv[1])
    hello = [{"role": "user", "content": "hello"}]
    whole = read([client.chat(model="qwen3", messages=hello)])
    streamed = read(client.chat(model="qwen3", messages=hello, stream=True))
    shown = client.show("qwen3")
    try:
        client.chat(model="missing", messages=hello)
        error = None
    except ollama.ResponseError as refused:
        error = {"status": refused.status_code, "message": refused.error}
    print(json.dumps([whole, streamed, shown.capabilities, error]))


main()
