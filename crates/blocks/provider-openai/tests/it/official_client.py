"""Reads the answers of a fake server with OpenAI's own client, and prints what it made of them.

Called with a base URL, an API (`chat` or `responses`) and how many answers there are: each has a folder of
its own below the URL. Everything is validated strictly, whole and streamed.
"""

import json
import sys

import openai


def chat(client):
    whole = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hello"}])
    yield chat_result(whole.choices[0].message, whole.usage)

    text, calls, usage = "", {}, None
    chunks = client.chat.completions.create(
        model="m",
        messages=[{"role": "user", "content": "hello"}],
        stream=True,
        stream_options={"include_usage": True},
    )
    for chunk in chunks:
        usage = chunk.usage or usage
        for choice in chunk.choices:
            text += (choice.delta.content or "") + (choice.delta.refusal or "")
            for call in choice.delta.tool_calls or []:
                known = calls.setdefault(call.index, {"id": call.id, "name": call.function.name, "arguments": ""})
                known["arguments"] += call.function.arguments or ""
    yield {"text": text, "calls": [calls[index] for index in sorted(calls)], "input_tokens": usage.prompt_tokens}


def chat_result(message, usage):
    calls = [
        {"id": call.id, "name": call.function.name, "arguments": call.function.arguments}
        for call in message.tool_calls or []
    ]
    return {"text": (message.content or "") + (message.refusal or ""), "calls": calls, "input_tokens": usage.prompt_tokens}


def responses(client):
    yield responses_result(client.responses.create(model="m", input="hello"))

    text, arguments, last = "", {}, None
    for event in client.responses.create(model="m", input="hello", stream=True):
        if event.type in ("response.output_text.delta", "response.refusal.delta"):
            text += event.delta
        elif event.type in ("response.function_call_arguments.delta", "response.custom_tool_call_input.delta"):
            arguments[event.output_index] = arguments.get(event.output_index, "") + event.delta
        elif event.type in ("response.completed", "response.incomplete"):
            last = event.response
    result = responses_result(last)
    assert result["text"] == text, (result, text)
    assert [call["arguments"] for call in result["calls"]] == [arguments[index] for index in sorted(arguments)]
    yield result


def responses_result(response):
    text, calls = "", []
    for item in response.output:
        if item.type == "message":
            for part in item.content:
                text += part.text if part.type == "output_text" else part.refusal
        elif item.type in ("function_call", "custom_tool_call"):
            arguments = item.arguments if item.type == "function_call" else item.input
            calls.append({"id": item.call_id, "name": item.name, "arguments": arguments})
    return {"text": text, "calls": calls, "input_tokens": response.usage.input_tokens}


base_url, api, count = sys.argv[1:]
for index in range(int(count)):
    client = openai.OpenAI(
        base_url=f"{base_url}/{index}",
        api_key="a key",
        max_retries=0,
        timeout=86400,  # Nothing ends by it.
        _strict_response_validation=True,
    )
    for result in {"chat": chat, "responses": responses}[api](client):
        print(json.dumps(result), flush=True)
