// An MCP server with 400 tools, each with a word of its own. They change nothing, and answer with their names and arguments.
import { createInterface } from "node:readline";

const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
const areas = ["invoices", "parcels", "holidays", "meetings", "servers", "contracts", "tickets", "recipes"];
const acts = ["list", "count", "show", "search", "compare", "export", "check", "group", "sort", "plot"];
const years = [2021, 2022, 2023, 2024, 2025];

const tools = areas.flatMap((area) =>
  acts.flatMap((act) =>
    years.map((year) => ({
      name: `${act}_${area}_of_${year}`,
      description: `Has the ${area} of the year ${year} and does this with them: ${act}. It needs the name of the customer.`,
      inputSchema: {
        type: "object",
        properties: { customer: { type: "string", description: "Whose they are." } },
        required: ["customer"],
      },
      annotations: { readOnlyHint: true },
    })),
  ),
);

const answer = (method, params) => {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "many", version: "1" },
      };
    case "tools/list": {
      // In pages of 150.
      const from = Number(params?.cursor ?? 0);
      const to = from + 150;
      return { tools: tools.slice(from, to), ...(to < tools.length && { nextCursor: String(to) }) };
    }
    case "tools/call":
      return { content: [{ type: "text", text: `${params.name} for ${params.arguments.customer}` }] };
  }
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = answer(method, params);
  send(result ? { id, result } : { id, error: { code: -32601, message: "Method not found" } });
});
