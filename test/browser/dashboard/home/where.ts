/** The ids of sessions that tests look for, by what is in them. */
export const WHERE = {
  rich: "1b0e4c52-8f6d-4b7e-9a41-0d5f3c2e7a10",
  world: "2c7f9d13-4a5b-4c8d-8e62-1f6a4d3b8c21",
  hostile: "3d8a0e24-5b6c-4d9e-9f73-2a7b5e4c9d32",
  live: "4e9b1f35-6c7d-4eaf-8a84-3b8c6f5dae43",
  calls: "5fac2a46-7d8e-4fb0-9b95-4c9d7a6ebf54",
  empty: "6abd3b57-8e9f-40c1-8ca6-5dae8b7fc065",
  codex: "01a22bba-e509-7511-9cf4-1541e52b67b7",
  opencode: "ses_dd44112a1ffek4HD0BE8R5UVMO",
  unreadable: "ses_dd44ebb49ffeRLnkUrx3x1OYnJ",
  hermes: "20261130_101500_a1b2c3",
  recorded: "sess_11aa22bb",
} as const;

/** Their addresses in the page, and those of the other views. */
export const ADDRESSES = {
  home: "#/",
  projects: "#/?by=project",
  rich: `#/claude/${WHERE.rich}`,
  world: `#/claude/${WHERE.world}`,
  hostile: `#/claude/${WHERE.hostile}`,
  live: `#/claude/${WHERE.live}`,
  calls: `#/claude/${WHERE.calls}`,
  subagent: `#/claude/${WHERE.rich}/a1f0c2d4e6b80912a`,
  codex: `#/codex/${WHERE.codex}`,
  opencode: `#/opencode/${WHERE.opencode}`,
  hermes: `#/hermes/${WHERE.hermes}`,
  recorded: `#/daemon/${WHERE.recorded}`,
  unreadable: `#/opencode/${WHERE.unreadable}`,
  missing: "#/claude/99999999-0000-4000-8000-000000000000",
  runs: "#/runs",
  agents: "#/agents",
  start: "#/start",
  nowhere: "#/no/such/place/at-all",
} as const;
