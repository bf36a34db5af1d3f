// An MCP server whose tool `run` runs a script with bash, as an agent's tool of that name would.
import { spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const write = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
const send = (id, result) => write({ id, result });
const inputSchema = { type: "object", properties: { command: { type: "string" } }, required: ["command"] };

const run = (id, command) => {
  // What it leaves may hold its output open, so it is a file, where all is by the time that the script ends.
  const file = join(mkdtempSync(join(tmpdir(), "attacker-")), "output");
  const output = openSync(file, "w");
  const child = spawn("bash", ["-c", command], { stdio: ["ignore", output, output] });
  closeSync(output);
  const answer = (content) => send(id, { content: [{ type: "text", text: content }] });
  child.on("error", (error) => answer(String(error)));
  child.on("exit", (code) => answer(`${readFileSync(file, "utf8")}\nexit code ${code}`));
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
