import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A CLI, and how it is used without a person in front of it. The prompt comes on stdin. */
export interface Agent {
  readonly name: "claude" | "codex" | "opencode";
  readonly command: string;
  /** Writes down in `home` which model there is. */
  prepare(home: string, modelUrl: string): void;
  variables(modelUrl: string): { readonly [name: string]: string };
  readonly start: readonly string[];
  resume(id: string): readonly string[];
  fork(id: string): readonly string[];
  /** A line of a script that runs a shell command. */
  shell(command: string): string;
  /** A line of a script that starts a subagent. */
  spawn(title: string, prompt: string): string;
}

const DESCRIPTION = "a scripted command";

const CLAUDE_ARGUMENTS = ["-p", "--dangerously-skip-permissions"];

export const CLAUDE: Agent = {
  name: "claude",
  command: "claude",
  prepare: () => {},
  variables: (modelUrl) => ({
    ANTHROPIC_BASE_URL: modelUrl,
    ANTHROPIC_API_KEY: "sk-ant-test-0000000000",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    DISABLE_TELEMETRY: "1",
    // It refuses to go without asking as root elsewhere.
    IS_SANDBOX: "1",
  }),
  start: CLAUDE_ARGUMENTS,
  resume: (id) => [...CLAUDE_ARGUMENTS, "--resume", id],
  fork: (id) => [...CLAUDE_ARGUMENTS, "--resume", id, "--fork-session"],
  shell: (command) => call("Bash", { command, description: DESCRIPTION }),
  spawn: (description, prompt) => call("Task", { description, prompt, subagent_type: "general-purpose" }),
};

const CODEX_OPTIONS = ["--skip-git-repo-check", "--json"];

export const CODEX: Agent = {
  name: "codex",
  command: "codex",
  prepare: (home, modelUrl) => {
    mkdirSync(join(home, ".codex"), { recursive: true });
    writeFileSync(
      join(home, ".codex/config.toml"),
      [
        'model = "mock"',
        'model_provider = "mock"',
        'approval_policy = "never"',
        'sandbox_mode = "danger-full-access"',
        "check_for_update_on_startup = false",
        "[analytics]",
        "enabled = false",
        // Its sandbox makes `.git`, `.codex` and `.agents` in each folder that it lets be written, also in that of all others.
        "[sandbox_workspace_write]",
        "exclude_slash_tmp = true",
        "exclude_tmpdir_env_var = true",
        "[model_providers.mock]",
        'name = "mock"',
        `base_url = "${modelUrl}/v1"`,
        'wire_api = "responses"',
        "",
      ].join("\n"),
    );
  },
  variables: () => ({}),
  start: ["exec", ...CODEX_OPTIONS, "-"],
  resume: (id) => ["exec", "resume", ...CODEX_OPTIONS, id, "-"],
  fork: (id) => ["exec", "fork", ...CODEX_OPTIONS, id, "-"],
  shell: (command) => call("exec_command", { cmd: command }),
  spawn: (_title, message) => call("multi_agent_v1.spawn_agent", { message, agent_type: "default" }),
};

export const OPENCODE: Agent = {
  name: "opencode",
  command: "opencode",
  prepare: (home, modelUrl) => {
    const folder = join(home, ".config/opencode");
    mkdirSync(folder, { recursive: true });
    const model = { tool_call: true, limit: { context: 100_000, output: 8_000 } };
    const provider = {
      npm: "@ai-sdk/openai-compatible",
      options: { baseURL: `${modelUrl}/v1`, apiKey: "x" },
      models: { mock: model },
    };
    const config = { model: "mock/mock", small_model: "mock/mock", autoupdate: false, provider: { mock: provider } };
    writeFileSync(join(folder, "opencode.json"), JSON.stringify(config));
  },
  variables: () => ({ OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" }),
  start: ["run"],
  resume: (id) => ["run", "--session", id],
  fork: (id) => ["run", "--session", id, "--fork"],
  shell: (command) => call("bash", { command, description: DESCRIPTION }),
  spawn: (description, prompt) => call("task", { description, prompt, subagent_type: "general" }),
};

function call(tool: string, input: object): string {
  return `@call ${tool} ${JSON.stringify(input)}`;
}
