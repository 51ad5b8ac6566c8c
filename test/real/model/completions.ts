import { type Body, type Dialect, freshId, pieces, send, textOf } from "./dialect.ts";

/** OpenAI's Chat Completions, as OpenCode's provider for compatible servers speaks it. */
export const COMPLETIONS: Dialect = {
  messages: (body) =>
    body.messages.flatMap((message: Body) => {
      if (message.role === "tool") return [{ kind: "results", count: 1 }];
      return message.role === "user" ? [{ kind: "user", text: textOf(message.content) }] : [];
    }),

  answer(body, response) {
    const head = {
      id: freshId("chatcmpl"),
      object: "chat.completion.chunk",
      created: Math.floor(Date.now() / 1000),
      model: body.model,
    };
    let called = false;
    const chunk = (delta: object, finish: string | null = null, rest: object = {}): void =>
      send(response, { ...head, choices: [{ index: 0, delta, finish_reason: finish }], ...rest });
    chunk({ role: "assistant", content: "" });
    return {
      say: (text) => {
        for (const piece of pieces(text)) chunk({ content: piece });
      },
      call: (tool, input) => {
        called = true;
        const asked = { name: tool, arguments: JSON.stringify(input) };
        chunk({ tool_calls: [{ index: 0, id: freshId("call"), type: "function", function: asked }] });
      },
      end: () => {
        const usage = {
          prompt_tokens: 160,
          completion_tokens: 42,
          total_tokens: 202,
          prompt_tokens_details: { cached_tokens: 50 },
        };
        chunk({}, called ? "tool_calls" : "stop", { usage });
        response.end("data: [DONE]\n\n");
      },
    };
  },

  error: (message) => ({ error: { message, type: "invalid_request_error", code: "scripted" } }),
};
