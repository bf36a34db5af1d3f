// An MCP server whose tool `run` runs a script with bash, as an agent's tool of that name would.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const write = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
const send = (id, result) => write({ id, result });
const inputSchema = { type: "object", properties: { command: { type: "string" } }, required: ["command"] };

const run = (id, command) => {
  let text = "";
  const child = spawn("bash", ["-c", command], { stdio: ["ignore", "pipe", "pipe"] });
  for (const output of [child.stdout, child.stderr]) output.on("data", (data) => (text += data));
  const answer = (content) => send(id, { content: [{ type: "text", text: content }] });
  child.on("error", (error) => answer(String(error)));
  // What it leaves may hold its output open.
  child.on("exit", (code) => setTimeout(() => answer(`${text}\nexit code ${code}`), 20));
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  switch (method) {
    case "initialize":
      send(id, {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "attacker", version: "1" },
      });
      break;
    case "tools/list":
      send(id, { tools: [{ name: "run", description: "Runs a script.", inputSchema }] });
      break;
    case "tools/call":
      run(id, params.arguments.command);
      break;
    case "ping":
      send(id, {});
      break;
    default:
      if (id !== undefined) write({ id, error: { code: -32601, message: `no ${method} here` } });
  }
}
