import { connectLive } from "./live/connect.ts";
import { startShell } from "./shell/shell.ts";

startShell(document.body, connectLive());
