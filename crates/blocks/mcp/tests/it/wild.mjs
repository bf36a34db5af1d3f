// An MCP server that answers one method as a case of ../wild says, over what its second argument names:
// stdio, json or sse. It appends a line to the file that its third argument names for each call.
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { appendFileSync, readFileSync } from "node:fs";

const [, , path, transport, calls] = process.argv;
const wild = JSON.parse(readFileSync(path, "utf8"));

const usual = ({ method, params }) => {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "wild", version: "1" },
      };
    case "ping":
      return {};
    case "tools/list":
      return { tools: [{ name: "write", inputSchema: { type: "object" } }] };
    case "tools/call":
      return { content: [{ type: "text", text: "fine" }] };
  }
};

// The lines of what is sent back. A text of a case is sent as it is, with the id in place of $ID.
const answers = (message) => {
  const { id, method } = message;
  if (id === undefined && method !== wild.method) return [];
  if (method === "tools/call") appendFileSync(calls, "called\n");
  if (method !== wild.method) {
    const result = usual(message);
    const error = { code: -32601, message: "no such method" };
    return [JSON.stringify({ jsonrpc: "2.0", id, ...(result ? { result } : { error }) })];
  }
  if (typeof wild.answer !== "string") return [JSON.stringify({ jsonrpc: "2.0", id, result: wild.answer })];
  return wild.answer.split("\n").map((line) => line.replaceAll("$ID", id));
};

const overHttp = (request, response) => {
  let body = "";
  request.on("data", (chunk) => (body += chunk));
  request.on("end", () => {
    if (request.method !== "POST") return response.writeHead(405).end();
    const lines = answers(JSON.parse(body));
    if (lines.length === 0) return response.writeHead(202).end();
    if (transport === "json") {
      return response.writeHead(200, { "content-type": "application/json" }).end(lines.join("\n"));
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(lines.map((line) => `data: ${line}\n\n`).join(""));
  });
};

if (transport === "stdio") {
  createInterface({ input: process.stdin }).on("line", (line) => {
    for (const answer of answers(JSON.parse(line))) process.stdout.write(answer + "\n");
  });
} else {
  const server = createServer(overHttp).listen(0, "127.0.0.1", () => {
    process.stdout.write(`http://127.0.0.1:${server.address().port}/mcp\n`);
  });
  process.stdin.resume().on("end", () => process.exit());
}
