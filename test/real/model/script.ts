/** What the model does next. */
export type Step =
  | { readonly op: "say"; readonly text: string }
  | { readonly op: "call"; readonly tool: string; readonly input: unknown }
  | { readonly op: "hold"; readonly name: string }
  | { readonly op: "error"; readonly status: number };

/** What a request says has happened so far, oldest first. */
export type Message =
  | { readonly kind: "user"; readonly text: string }
  | { readonly kind: "results"; readonly count: number };

const LINE = /^\s*@(say|call|hold|error)\s+(.*)$/;

/**
 * What the model answers to `messages`. The last text of the user that holds a script is played: its lines are
 * `@say TEXT`, `@call TOOL JSON`, `@hold NAME` (wait until the test releases it) and `@error STATUS`. A call ends a turn;
 * the results that came since tell which turn is due.
 */
export function nextTurn(messages: readonly Message[]): readonly Step[] {
  let results = 0;
  for (const message of messages.toReversed()) {
    if (message.kind === "results") {
      results += message.count;
      continue;
    }
    const turns = turnsOf(message.text);
    if (turns.length > 0) return turns[results] ?? [{ op: "say", text: "The script is over." }];
  }
  return [{ op: "say", text: "There is no script." }];
}

function turnsOf(text: string): Step[][] {
  const turns: Step[][] = [];
  let turn: Step[] = [];
  for (const line of text.split("\n")) {
    const [, op, argument = ""] = LINE.exec(line) ?? [];
    if (op === undefined) continue;
    if (turn.length === 0) turns.push(turn);
    turn.push(stepOf(op, argument.trim()));
    if (op === "call") turn = [];
  }
  return turns;
}

function stepOf(op: string, argument: string): Step {
  switch (op) {
    case "say":
      return { op, text: argument };
    case "hold":
      return { op, name: argument };
    case "error":
      return { op, status: Number(argument) };
    default: {
      const [tool = ""] = argument.split(" ", 1);
      return { op: "call", tool, input: JSON.parse(argument.slice(tool.length) || "{}") };
    }
  }
}
