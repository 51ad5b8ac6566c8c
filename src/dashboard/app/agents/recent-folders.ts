import { read } from "../api.ts";
import type { ProjectPage, RowPage } from "../wire.ts";

const MOST = 30;

/** Folders in which agents worked lately, the last first. @throws Refused, Unreachable */
export async function recentFolders(signal: AbortSignal): Promise<readonly string[]> {
  const [projects, rows] = await Promise.all([
    read<ProjectPage>("/api/projects", { limit: MOST }, signal),
    read<RowPage>("/api/transcripts", { limit: MOST }, signal),
  ]);
  const paths = [...projects.projects.map(({ project }) => project), ...rows.transcripts.map(({ cwd }) => cwd)];
  return [...new Set(paths)].filter((path) => path !== "").slice(0, MOST);
}
