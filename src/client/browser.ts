import { spawn } from "node:child_process";

/** Opens `url` in the user's browser, which outlives this process; `failed` is called when none can be started. */
export function openInBrowser(url: string, platform: NodeJS.Platform, failed: () => void): void {
  const [command, ...args] = opener(platform);
  const child = spawn(command, [...args, url], { stdio: "ignore", detached: true });
  child.on("error", failed);
  child.on("exit", (code) => {
    if (code !== 0) failed();
  });
  child.unref();
}

/** The words that open what follows them. */
function opener(platform: NodeJS.Platform): [string, ...string[]] {
  if (platform === "darwin") return ["open"];
  if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler"];
  return ["xdg-open"];
}
