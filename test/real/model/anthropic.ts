import { type Body, type Dialect, freshId, pieces, send, textOf } from "./dialect.ts";

/** Anthropic's Messages, as Claude Code speaks it. */
export const ANTHROPIC: Dialect = {
  messages: (body) =>
    body.messages.flatMap((message: Body) => {
      if (message.role !== "user") return [];
      const blocks: Body[] = Array.isArray(message.content) ? message.content : [];
      const results = blocks.filter((block) => block.type === "tool_result").length;
      const text = textOf(typeof message.content === "string" ? message.content : blocks.filter(isText));
      return [
        ...(results > 0 ? [{ kind: "results", count: results }] : []),
        ...(text === "" ? [] : [{ kind: "user", text }]),
      ];
    }),

  answer(body, response) {
    let index = 0;
    let called = false;
    const event = (type: string, data: object): void => send(response, { type, ...data }, type);
    const block = (start: object, deltas: readonly object[]): void => {
      event("content_block_start", { index, content_block: start });
      for (const delta of deltas) event("content_block_delta", { index, delta });
      event("content_block_stop", { index });
      index += 1;
    };
    const usage = { input_tokens: 100, cache_creation_input_tokens: 10, cache_read_input_tokens: 50, output_tokens: 1 };
    event("message_start", {
      message: {
        id: freshId("msg"),
        type: "message",
        role: "assistant",
        model: body.model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage,
      },
    });
    return {
      say: (text) =>
        block(
          { type: "text", text: "" },
          pieces(text).map((piece) => ({ type: "text_delta", text: piece })),
        ),
      call: (tool, input) => {
        called = true;
        block({ type: "tool_use", id: freshId("toolu"), name: tool, input: {} }, [
          { type: "input_json_delta", partial_json: JSON.stringify(input) },
        ]);
      },
      end: () => {
        const delta = { stop_reason: called ? "tool_use" : "end_turn", stop_sequence: null };
        event("message_delta", { delta, usage: { output_tokens: 42 } });
        event("message_stop", {});
        response.end();
      },
    };
  },

  error: (message) => ({ type: "error", error: { type: "invalid_request_error", message } }),
};

function isText(block: Body): boolean {
  return block.type === "text";
}
