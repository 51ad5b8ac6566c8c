import { type Body, type Dialect, freshId, pieces, send, textOf } from "./dialect.ts";

/** OpenAI's Responses, as Codex speaks it. */
export const RESPONSES: Dialect = {
  messages: (body) =>
    body.input.flatMap((item: Body) => {
      if (/_output$/.test(item.type ?? "")) return [{ kind: "results", count: 1 }];
      return item.role === "user" ? [{ kind: "user", text: textOf(item.content) }] : [];
    }),

  answer(body, response) {
    const output: object[] = [];
    let sent = 0;
    const event = (type: string, data: object): void => {
      send(response, { type, sequence_number: sent, ...data }, type);
      sent += 1;
    };
    const head = { id: freshId("resp"), object: "response", model: body.model };
    event("response.created", { response: { ...head, status: "in_progress", output: [] } });
    const item = (started: object, finished: object, between: (index: number) => void): void => {
      const index = output.length;
      event("response.output_item.added", { output_index: index, item: { ...finished, ...started } });
      between(index);
      event("response.output_item.done", { output_index: index, item: finished });
      output.push(finished);
    };
    return {
      say: (text) => {
        const id = freshId("msg");
        const content = [{ type: "output_text", text, annotations: [] }];
        const finished = { type: "message", id, role: "assistant", status: "completed", content };
        item({ status: "in_progress", content: [] }, finished, (index) => {
          const place = { item_id: id, output_index: index, content_index: 0 };
          event("response.content_part.added", { ...place, part: { type: "output_text", text: "" } });
          for (const piece of pieces(text)) event("response.output_text.delta", { ...place, delta: piece });
          event("response.output_text.done", { ...place, text });
        });
      },
      call: (tool, input) => {
        const [name = "", namespace] = tool.split(".").reverse();
        const finished = {
          type: "function_call",
          id: freshId("fc"),
          call_id: freshId("call"),
          ...(namespace !== undefined && { namespace }),
          name,
          arguments: JSON.stringify(input),
          status: "completed",
        };
        item({ status: "in_progress" }, finished, () => {});
      },
      end: () => {
        const usage = {
          input_tokens: 160,
          input_tokens_details: { cached_tokens: 50 },
          output_tokens: 42,
          output_tokens_details: { reasoning_tokens: 5 },
          total_tokens: 202,
        };
        event("response.completed", { response: { ...head, status: "completed", output, usage } });
        response.end();
      },
    };
  },

  error: (message) => ({ error: { message, type: "invalid_request_error", code: "scripted" } }),
};
