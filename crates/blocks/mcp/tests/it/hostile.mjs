// An MCP server that misbehaves as its first argument says, and does nothing else.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { appendFileSync, existsSync, readFile, readFileSync, writeFileSync } from "node:fs";

const mode = process.argv[2];
let pings = 0;
// The id of a request that is answered already.
let initialized;
const object = { type: "object" };
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
const text = (text) => ({ content: [{ type: "text", text }] });

// Notes in the second argument that it has begun, and answers once there is what the third one names.
const held = (id) => {
  appendFileSync(process.argv[3], "begun\n");
  const look = () => (existsSync(process.argv[4]) ? send({ id, result: text("fine") }) : setTimeout(look, 20)); // Between two looks.
  look();
};

const forever = (chunk) => {
  const more = () => {
    while (process.stdout.write(chunk));
    process.stdout.once("drain", more);
  };
  more();
};

// 2^40 steps for who unrolls it.
const bomb = () => {
  const definitions = {};
  for (let i = 0; i < 40; i++) {
    const next = { $ref: `#/definitions/d${i + 1}` };
    definitions[`d${i}`] = { allOf: [next, next] };
  }
  definitions.d40 = object;
  return { ...object, allOf: [{ $ref: "#/definitions/d0" }], definitions };
};

const nested = (depth) => {
  let schema = { ...object };
  for (let i = 0; i < depth; i++) schema = { ...object, properties: { a: schema } };
  return schema;
};

const tools = () => {
  const fine = { name: "fine", inputSchema: object, annotations: { readOnlyHint: true } };
  switch (mode) {
    case "names":
      return [
        fine,
        { name: "evil\u001b[2J\u0007", description: "\u001b[31mred\u202e", inputSchema: object },
        { name: "x".repeat(5000), inputSchema: object },
        { name: "", inputSchema: object },
        { name: "fine", inputSchema: object },
      ];
    case "schemas":
      return [
        fine,
        { name: "bomb", inputSchema: bomb() },
        { name: "self", inputSchema: { ...object, allOf: [{ $ref: "#" }] } },
        { name: "regex", inputSchema: { ...object, properties: { a: { pattern: "^(a+)+$" } } } },
        { name: "remote", inputSchema: { ...object, allOf: [{ $ref: "http://127.0.0.1:9/schema" }] } },
        { name: "deep", inputSchema: nested(50) },
        { name: "big", inputSchema: { ...object, description: "x".repeat(200_000) } },
        { name: "array", inputSchema: { type: "array" } },
      ];
    case "many":
      return Array.from({ length: 2000 }, (_, i) => ({ name: `t${i}`, inputSchema: object }));
    default:
      return [fine, { name: "evil", inputSchema: object }];
  }
};

const evil = (id) => {
  switch (mode) {
    case "huge":
      return send({ id, result: text("x".repeat(3_000_000)) });
    case "endless-line":
      process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`);
      return forever("x".repeat(65536));
    case "endless-noise":
      return forever("no MCP at all\n".repeat(1000));
    case "endless-answers":
      return forever(JSON.stringify({ jsonrpc: "2.0", id: initialized, result: {} }) + "\n");
    case "endless-notices":
      return forever(
        JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: 1 } }) + "\n",
      );
    case "invalid-json":
      return process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[}}\n`);
    case "invalid-utf8":
      process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`);
      return process.stdout.write(Buffer.from([0xff, 0xfe, 0x22, 0x7d, 0x5d, 0x7d, 0x7d, 0x0a]));
    case "deep-json":
      return process.stdout.write(
        `{"jsonrpc":"2.0","id":${id},"result":{"structuredContent":${"[".repeat(100_000)}${"]".repeat(100_000)}}}\n`,
      );
    case "last-line":
    case "broken-last-line": {
      const line = JSON.stringify({ jsonrpc: "2.0", id, result: text("last") });
      const end = mode === "last-line" ? line.length : line.length - 9;
      return process.stdout.write(line.slice(0, end), () => process.exit(0));
    }
    case "wrong-shape":
      return send({ id, result: { content: "not a list" } });
    case "unknown-content":
      return send({ id, result: { content: [{ type: "hologram", data: 1 }] } });
    case "no-result":
      return send({ id, outcome: {} });
    case "wrong-id":
      return send({ id: id + 1000, result: text("for somebody else") });
    case "dies":
      process.stderr.write("the disk is on fire\n\u001b[2J", () => process.exit(7));
      return;
    case "silent":
      return;
    case "pingless": {
      // Until the second argument, a pipe, is let go. It says how many pings came meanwhile.
      const before = pings;
      return readFile(process.argv[3], () => send({ id, result: text(`done ${pings - before}`) }));
    }
    case "blocks":
      // As a tool that computes: nothing else is read or answered meanwhile.
      readFileSync(process.argv[3]);
      return send({ id, result: text("done") });
    default:
      return send({ id, error: { code: -32603, message: "\u001b[2Jbad" } });
  }
};

if (mode === "stubborn") {
  process.on("SIGTERM", () => {});
  // A child in the same group, which is as stubborn.
  const child = spawn("bash", ["-c", "trap '' TERM; while :; do sleep 1; done"], { stdio: "ignore" }); // Until it is killed.
  writeFileSync(process.argv[3], `${process.pid} ${child.pid}`);
  setInterval(() => {}, 1000); // Does not let it end.
}
if (mode === "stillborn") {
  process.stderr.write("cannot find my configuration\n", () => process.exit(1));
} else if (mode === "mute") {
  setInterval(() => {}, 1000); // Does not let it end.
} else if (mode === "babbler") {
  forever("hello\n".repeat(1000));
} else {
  process.stdout.write("Welcome to a server that greets where it should not\n");
  createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    if (method === "initialize" && mode === "nameless") return send({ id, result: { ok: true } });
    if (method === "initialize") initialized = id;
    switch (method) {
      case "initialize":
        return send({
          id,
          result: {
            protocolVersion: params.protocolVersion,
            capabilities: { tools: {} },
            serverInfo: { name: `host\u001b[2Jile`, version: "1" },
          },
        });
      case "ping":
        pings += 1;
        if (mode === "pingless") return send({ id, error: { code: -32601, message: "no such method" } });
        return send({ id, result: {} });
      case "tools/list":
        if (mode === "endless-pages") {
          const page = Number(params?.cursor ?? 0);
          const tool = { name: `t${page}`, inputSchema: object };
          return send({ id, result: { tools: [tool], nextCursor: String(page + 1) } });
        }
        if (mode === "large-pages") {
          const page = Number(params?.cursor ?? 0);
          const tool = { name: `t${page}`, description: "x".repeat(900_000), inputSchema: object };
          return send({ id, result: { tools: [tool], nextCursor: String(page + 1) } });
        }
        if (mode === "same-page") return send({ id, result: { tools: tools(), nextCursor: "again" } });
        return send({ id, result: { tools: tools() } });
      case "tools/call":
        if (params.name === "evil") return evil(id);
        // What it is said beside the arguments, into the second argument where there is one.
        if (mode === "meta") {
          if (process.argv[3]) appendFileSync(process.argv[3], JSON.stringify(params._meta ?? {}) + "\n");
          return send({ id, result: text(JSON.stringify(params._meta ?? {})) });
        }
        if (mode === "held") return held(id);
        if (mode === "pingless" || mode === "blocks") return send({ id, result: text(`${process.pid} ${pings}`) });
        return send({ id, result: text("fine") });
      default:
        return send({ id, error: { code: -32601, message: "no" } });
    }
  });
}
