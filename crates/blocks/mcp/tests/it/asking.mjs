// An MCP server of 2026-07-28 that asks before it answers. Its first argument says which versions it speaks.
import { createInterface } from "node:readline";

const mode = process.argv[2] ?? "newer";
const newest = "2026-07-28";
const seen = [];
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
const done = (value) => ({ resultType: "complete", content: [{ type: "text", text: JSON.stringify(value) }] });
const ask = (inputRequests, requestState) => ({ resultType: "input_required", inputRequests, requestState });

const form = (message, properties) => ({
  method: "elicitation/create",
  params: {
    mode: "form",
    message,
    requestedSchema: { type: "object", properties, required: Object.keys(properties) },
  },
});
const page = { method: "elicitation/create", params: { mode: "url", message: "Sign in.", url: "https://example.com/in" } };
const model = {
  method: "sampling/createMessage",
  params: { maxTokens: 10, messages: [{ role: "user", content: { type: "text", text: "What is up?" } }] },
};
const folders = { method: "roots/list" };
const name = form("Your \u001b[31mname?", { name: { type: "string" } });

// What each tool answers to the answers and the state that it is handed back.
const tools = {
  seen: () => done(seen),
  twice: (answers, state) => {
    if (state === undefined) return ask({ name }, "0");
    if (state === "0") return ask({ age: form("Your age?", { age: { type: "integer" } }) }, JSON.stringify(answers));
    return done([JSON.parse(state), answers]);
  },
  page: (answers) => (answers ? done(answers) : ask({ page }, "s")),
  nobody: (answers) => (answers ? done(answers) : ask({ model, folders }, "s")),
  mixed: (answers) => (answers ? done(answers) : ask({ model, name }, "s")),
  again: (answers, state = "0") => (state === "3" ? done({ answers, state }) : ask(undefined, String(Number(state) + 1))),
  forever: () => ask({ name }, "s"),
  restless: () => ask({ folders }, "s"),
  garbage: () => ask({ name: { method: "tools/call", params: {} } }, "s"),
  shapeless: () => ({ resultType: "input_required", inputRequests: "all" }),
  many: () => ask(Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`k${i}`, folders])), "s"),
  hoard: () => ask({ name }, "x".repeat(100_000)),
  script: () => ask({ page: { ...page, params: { ...page.params, url: "javascript:alert(1)" } } }, "s"),
};

const answer = (method, params) => {
  switch (method) {
    case "tools/list":
      return {
        resultType: "complete",
        ttlMs: 0,
        cacheScope: "private",
        tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: "object" } })),
      };
    case "tools/call":
      return tools[params.name](params.inputResponses, params.requestState);
    case "resources/read":
      if (!params.inputResponses) return ask({ name }, "s");
      return {
        resultType: "complete",
        ttlMs: 0,
        cacheScope: "private",
        contents: [{ uri: params.uri, text: JSON.stringify(params.inputResponses) }],
      };
  }
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  seen.push(method);
  const refuse = (code, message) => send({ id, error: { code, message } });
  const speaks = params?._meta?.["io.modelcontextprotocol/protocolVersion"];
  if (method === "server/discover") {
    if (mode === "ends") return process.exit(1);
    if (mode === "older") return refuse(-32601, "Method not found");
    const supportedVersions = [mode === "knows" ? "2025-11-25" : newest];
    const capabilities = { tools: {}, resources: {} };
    return send({
      id,
      result: { resultType: "complete", supportedVersions, capabilities, ttlMs: 0, cacheScope: "private" },
    });
  }
  if (method === "initialize" && mode !== "newer") {
    const result = {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "older", version: "1" },
    };
    return send({ id, result });
  }
  if (mode === "newer" && speaks !== newest) return refuse(-32022, "Unsupported protocol version");
  const result = answer(method, params);
  return result ? send({ id, result }) : refuse(-32601, "Method not found");
});
