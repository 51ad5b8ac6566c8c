import assert from "node:assert/strict";
import { test } from "node:test";
import { HubDriver } from "./hub-driver.ts";

const A = { agent: "claude", id: "a" } as const;
const B = { agent: "claude", id: "b" } as const;
const CHILD = { ...A, child: "c" };
const ALL = ["transcripts", "runs", "sessions", "peers"];

test("all tabs share one connection, and each hears everything", () => {
  const driver = new HubDriver();
  const [one, two] = [driver.tab(), driver.tab()];
  assert.deepEqual([driver.opened.length, driver.last.url], [1, "/api/events"]);
  driver.last.hello();
  driver.last.say("runs", { generation: 2, ids: ["r"] });
  driver.last.say("transcripts", { generation: 2, ids: ["x"], more: true });
  for (const tab of [one, two]) assert.deepEqual(tab.news(), ["connecting", "live", ...ALL, "runs r", "transcripts"]);
  const late = driver.tab();
  assert.deepEqual(late.news(), ["live", ...ALL]);
  assert.equal(driver.opened.length, 1);
});

test("a chat is followed on a connection that is opened before the old one is closed", () => {
  const driver = new HubDriver();
  const tab = driver.tab();
  driver.last.hello();
  const [first] = driver.opened;
  tab.news();
  tab.follow(A, "j:1:0");
  tab.follow(CHILD, "j:2:0");
  driver.time.pass(30);
  assert.deepEqual(driver.last.chats, ["claude/a/c@j:2:0", "claude/a@j:1:0"]);
  assert.deepEqual([first?.isOpen, tab.news()], [true, []]);
  driver.last.hello();
  assert.deepEqual(tab.news(), ["a following", "a following"]);
  driver.last.page(A, "one", "j:9:0");
  driver.last.page(CHILD, "two", "j:8:0");
  first?.say("sessions", {});
  assert.deepEqual(tab.news(), ["a one", "a two", "sessions"]);
  driver.time.pass(1_000);
  assert.equal(first?.isOpen, false);
});

test("a connection opened anew tells of no list, but of transcripts when their generation is another one", () => {
  const driver = new HubDriver();
  const tab = driver.tab();
  driver.last.hello(1);
  driver.last.say("transcripts", { generation: 4, ids: ["x"] });
  tab.news();
  tab.follow(A, "0");
  driver.time.pass(30);
  driver.last.hello(4);
  assert.deepEqual(tab.news(), ["a following"]);
  tab.follow(B, "0");
  driver.time.pass(30);
  driver.last.hello(5);
  assert.deepEqual(tab.news(), ["transcripts", "b following"]);
});

test("who follows a chat that another tab follows joins it at once", () => {
  const driver = new HubDriver();
  const [one, two] = [driver.tab(), driver.tab()];
  one.follow(A, "j:1:0");
  driver.time.pass(30);
  two.follow(A, "j:5:0");
  assert.deepEqual(two.news(), ["connecting"]);
  driver.last.hello();
  assert.deepEqual(two.news(), ["live", ...ALL, "a following"]);
  const three = driver.tab();
  three.follow(A, "j:3:0");
  driver.last.page(A, "one", "j:9:0");
  assert.deepEqual(three.news(), ["live", ...ALL, "a following", "a one"]);
  assert.deepEqual(two.news(), ["a one"]);
  driver.time.pass(10_000);
  assert.equal(driver.openCount, 1);
});

test("pages of a chat that nobody follows any more are dropped, and then it is followed no more", () => {
  const driver = new HubDriver();
  const tab = driver.tab();
  const off = tab.follow(A, "0");
  tab.follow(B, "0");
  driver.time.pass(30);
  driver.last.hello();
  off();
  tab.news();
  driver.last.page(A, "one", "j:9:0");
  driver.time.pass(2_000);
  driver.last.page(A, "two", "j:10:0");
  driver.time.pass(1_000);
  assert.deepEqual([driver.last.chats, tab.news()], [["claude/b@0"], []]);
});

test("a chat followed anew is not told what an older connection has of it", () => {
  const driver = new HubDriver();
  const tab = driver.tab();
  const off = tab.follow(A, "0");
  driver.time.pass(30);
  driver.last.hello();
  const old = driver.last;
  off();
  tab.follow(B, "0");
  driver.time.pass(30);
  tab.follow(A, "j:90:0");
  tab.news();
  old.page(A, "old", "j:2:0");
  driver.time.pass(30);
  assert.deepEqual(driver.last.chats, ["claude/a@j:90:0", "claude/b@0"]);
  driver.last.hello();
  assert.deepEqual(tab.news(), ["a following", "b following"]);
});

test("a transcript that is another one is told, and followed on from there", () => {
  const driver = new HubDriver();
  const tab = driver.tab();
  tab.follow(A, "j:90:0");
  driver.time.pass(30);
  driver.last.hello();
  tab.news();
  driver.last.page(A, "one", "j:2:0", { reset: true });
  driver.last.breaks();
  driver.time.pass(0);
  assert.deepEqual([tab.news(), driver.last.chats], [["a reset"], ["claude/a@j:2:0"]]);
});

test("a chat that can't be followed is told why, and not named again", () => {
  const driver = new HubDriver();
  const tab = driver.tab();
  tab.follow(A, "0");
  tab.follow(B, "0");
  driver.time.pass(30);
  driver.last.hello();
  tab.news();
  driver.last.say("chat-error", { ...A, error: "this transcript is gone" });
  driver.last.breaks();
  driver.time.pass(0);
  assert.deepEqual([tab.news(), driver.last.chats], [["a error: this transcript is gone"], ["claude/b@0"]]);
});

test("a break is mended with the newest cursors, and then any list may have changed", () => {
  const driver = new HubDriver();
  const tab = driver.tab();
  tab.follow(A, "0");
  driver.time.pass(30);
  driver.last.hello();
  driver.last.page(A, "one", "j:2:0");
  tab.news();
  driver.last.breaks();
  driver.time.pass(0);
  assert.deepEqual([driver.last.chats, tab.news()], [["claude/a@j:2:0"], []]);
  driver.last.hello();
  assert.deepEqual(tab.news(), [...ALL, "a following"]);
});

test("who comes to a chat while the connection is broken is told when it is there again", () => {
  const driver = new HubDriver();
  const [one, two] = [driver.tab(), driver.tab()];
  one.follow(A, "0");
  driver.time.pass(30);
  driver.last.hello();
  driver.last.breaks();
  two.news();
  two.follow(A, "j:1:0");
  driver.time.pass(0);
  assert.deepEqual(two.news(), []);
  driver.last.hello();
  assert.deepEqual(two.news(), [...ALL, "a following"]);
});

test("a server that is gone is asked again and again, with growing pauses, and at once when somebody wants it", () => {
  const driver = new HubDriver();
  const tab = driver.tab();
  driver.last.hello();
  tab.news();
  driver.last.breaks();
  driver.time.pass(0);
  for (const pause of [500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]) {
    driver.last.breaks();
    const count = driver.opened.length;
    driver.time.pass(pause - 1);
    assert.equal(driver.opened.length, count);
    driver.time.pass(1);
    assert.equal(driver.opened.length, count + 1);
  }
  driver.last.breaks();
  for (const wanted of [() => tab.live.retry(), () => tab.live.post({ kind: "visible", visible: true })]) {
    const count = driver.opened.length;
    wanted();
    assert.equal(driver.opened.length, count + 1);
    driver.last.breaks();
  }
  assert.deepEqual(tab.news(), ["gone"]);
  tab.live.retry();
  driver.last.hello();
  assert.deepEqual(tab.news(), ["live", ...ALL]);
});

test("a connection that breaks over and over is not opened over and over at once", () => {
  const driver = new HubDriver();
  driver.tab();
  for (let i = 0; i < 50; i++) {
    driver.last.hello();
    driver.last.breaks();
    driver.time.pass(0);
  }
  assert.equal(driver.opened.length, 2);
});

test("a key that was reset is told in the server's words, and a new one makes it go on", () => {
  const driver = new HubDriver();
  const tab = driver.tab();
  tab.follow(A, "j:1:0");
  driver.time.pass(30);
  driver.last.hello();
  tab.news();
  driver.last.breaks();
  driver.time.pass(0);
  driver.last.refuses(403, "run agent-bridge link");
  assert.deepEqual(tab.news(), ["shut-out: run agent-bridge link"]);
  const count = driver.opened.length;
  driver.time.pass(9_999);
  assert.equal(driver.opened.length, count);
  driver.time.pass(1);
  driver.last.refuses(403, "run agent-bridge link");
  tab.live.retry();
  assert.deepEqual([driver.last.chats, tab.news()], [["claude/a@j:1:0"], []]);
  driver.last.hello();
  assert.deepEqual(tab.news(), ["live", ...ALL, "a following"]);
  assert.equal(tab.live.reason, undefined);
});

test("a tab that leaves, or vanishes, follows nothing more; with the last one the connection ends", () => {
  const driver = new HubDriver();
  const [one, two] = [driver.tab(), driver.tab()];
  one.follow(A, "0");
  two.follow(B, "0");
  driver.time.pass(30);
  driver.last.hello();
  one.vanish();
  two.follow({ ...A, id: "x" }, "0");
  driver.time.pass(30);
  assert.deepEqual(driver.last.chats, ["claude/x@0", "claude/b@0"]);
  driver.last.hello();
  two.live.close();
  driver.time.pass(1_000);
  assert.deepEqual([driver.openCount, driver.time.pending], [0, 0]);
  const again = driver.tab();
  assert.deepEqual([driver.openCount, driver.last.chats, again.news()], [1, [], ["connecting"]]);
});

test("a tab that goes to another hub goes on there where it was", () => {
  const driver = new HubDriver();
  const tab = driver.tab();
  tab.follow(A, "0");
  driver.time.pass(30);
  driver.last.hello();
  driver.last.page(A, "one", "j:2:0");
  tab.live.connect();
  driver.time.pass(30);
  assert.deepEqual([driver.openCount, driver.last.chats], [1, ["claude/a@j:2:0"]]);
});
