import assert from "node:assert/strict";
import { test } from "node:test";
import { Refused } from "../../../src/dashboard/app/api.ts";
import { turns } from "../../support/turns.ts";
import { HubDriver } from "./hub-driver.ts";

const chat = (id: string) => ({ agent: "claude", id }) as const;
const page = (text: string, next: string, more: object = {}): object => ({ items: [{ text }], next, ...more });

test("chats that one URL has no room for are asked for, those first that were followed last", async () => {
  const driver = new HubDriver();
  const tab = driver.tab();
  for (let i = 0; i < 102; i++) tab.follow(chat(`n${i}`), "0");
  driver.time.pass(30);
  driver.last.hello();
  assert.equal(driver.last.chats.length, 100);
  assert.equal(tab.news().filter((word) => word.endsWith("following")).length, 102);
  driver.answers.set("/api/transcripts/claude/n0/chat?from=0", page("one", "j:1:0"));
  driver.answers.set("/api/transcripts/claude/n0/chat?from=j%3A1%3A0", { items: [], next: "j:1:0" });
  driver.time.pass(0);
  await turns();
  assert.deepEqual(tab.news(), ["n0 one"]);
  const asked = driver.asked.splice(0).map((url) => url.replace("/api/transcripts/claude/", ""));
  assert.deepEqual(asked, ["n1/chat?from=0", "n0/chat?from=0", "n0/chat?from=j%3A1%3A0"]);
  driver.time.pass(2_000);
  await turns();
  assert.equal(driver.asked.length, 2);
  tab.live.post({ kind: "visible", visible: false });
  driver.time.pass(60_000);
  await turns();
  assert.equal(driver.asked.length, 2);
});

test("a URL stays under 8 KiB", () => {
  const driver = new HubDriver();
  const tab = driver.tab();
  for (let i = 0; i < 80; i++) tab.follow(chat(`${i}${"x".repeat(120)}`), "j:1:0");
  driver.time.pass(30);
  assert.ok(driver.last.url.length < 8_192);
  assert.ok(driver.last.chats.length > 40);
});

test("a chat that makes the server refuse the connection is asked for alone, and told why; others go on", async () => {
  const driver = new HubDriver();
  const tab = driver.tab();
  tab.follow(chat("good"), "0");
  driver.time.pass(30);
  driver.last.hello();
  driver.answers.set("/api/transcripts/claude/b%40d/chat?from=0", new Refused(404, "no such transcript"));
  driver.answers.set("/api/transcripts/claude/late/chat?from=0", page("one", "0"));
  tab.follow(chat("b@d"), "0");
  tab.follow(chat("late"), "0");
  driver.time.pass(30);
  tab.news();
  driver.last.refuses(400, "no chat");
  driver.time.pass(0);
  assert.deepEqual(driver.last.chats, ["claude/good@0"]);
  driver.last.hello();
  driver.time.pass(0);
  await turns();
  assert.deepEqual(tab.news(), ["late following", "b@d following", "late one", "b@d error: no such transcript"]);
});

test("a polled chat that is another one now is told so", async () => {
  const driver = new HubDriver();
  const tab = driver.tab();
  tab.follow(chat("a"), "j:9:0");
  driver.time.pass(30);
  driver.last.refuses(414);
  driver.time.pass(0);
  driver.last.hello();
  tab.news();
  driver.answers.set("/api/transcripts/claude/a/chat?from=j%3A9%3A0", page("one", "j:1:0", { reset: true }));
  driver.time.pass(0);
  await turns();
  assert.deepEqual(tab.news(), ["a reset"]);
});
