import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ChatWindow, keyed } from "../../../src/dashboard/app/chat/window.ts";
import type { Item } from "../../../src/dashboard/app/wire.ts";

const said = (ref: string, text = ref, more: Partial<Item> = {}): Item => ({
  kind: "assistant",
  at: 1,
  ref,
  text,
  ...more,
});
const textsOf = (window: ChatWindow): (string | undefined)[] => window.items.map(({ item }) => item.text);

test("an item is told from others by its own id, else by its record and its number in that", () => {
  const items = [said("a"), said("a"), said("b", "b", { id: "x" }), said("a")];
  assert.deepEqual(
    keyed(items).map(({ key }) => key),
    ["a#0", "a#1", "x", "a#0"],
  );
});

test("a page that comes twice changes nothing", () => {
  const window = new ChatWindow();
  window.open({ items: [said("1"), said("2")], start: "s", end: "2e" });
  assert.equal(window.append([said("2"), said("3")], "3e"), 1);
  assert.equal(window.append([said("3")], "3e"), 0);
  window.prepend([said("0"), said("1")], null);
  assert.deepEqual(textsOf(window), ["0", "1", "2", "3"]);
  assert.deepEqual([window.start, window.end], [null, "3e"]);
});

test("an item that comes again, grown, is replaced in its place", () => {
  const window = new ChatWindow();
  window.open({ items: [said("1", "a", { id: "x" }), said("2")], start: null, end: "e" });
  assert.equal(window.append([said("1", "ab", { id: "x" })], "f"), 0);
  assert.deepEqual(textsOf(window), ["ab", "2"]);
  assert.equal(window.items[0]?.revision, 1);
  window.append([said("1", "ab", { id: "x" })], "f");
  assert.equal(window.items[0]?.revision, 1);
});

test("an item that is updated above what is held is not taken for a new one", () => {
  const window = new ChatWindow({ followsUpdates: true });
  window.open({ items: [said("5", "5", { at: 5, id: "five" })], start: "s", end: "e" });
  window.append([said("1", "1", { at: 1, id: "one" }), said("6", "6", { at: 6, id: "six" })], "f");
  assert.deepEqual(textsOf(window), ["5", "6"]);
});

test("a chat in the order of its file may go back in time", () => {
  const window = new ChatWindow();
  window.open({ items: [said("5", "5", { at: 5, id: "five" })], start: "s", end: "e" });
  assert.equal(window.append([said("1", "1", { at: 1, id: "one" })], "f"), 1);
  assert.deepEqual(textsOf(window), ["5", "1"]);
});

test("an item that has grown and begins further up waits until its place is read", () => {
  const window = new ChatWindow();
  window.open({ items: [said("9", "grown", { id: "e1", earlier: true }), said("10")], start: "9", end: "e" });
  assert.deepEqual(textsOf(window), ["10"]);
  window.prepend([said("1", "gro", { id: "e1" }), said("2")], null);
  assert.deepEqual(textsOf(window), ["grown", "2", "10"]);
  assert.equal(window.items[0]?.item.ref, "1");
  window.append([said("11", "grown more", { id: "e1", earlier: true })], "f");
  assert.deepEqual([textsOf(window), window.items[0]?.item.ref], [["grown more", "2", "10"], "1"]);
});

test("what is taken off is taken off by whole records, and the cursors say where to read it anew", () => {
  const window = new ChatWindow();
  window.open({
    items: [said("1"), said("2"), said("2"), said("3"), said("4"), said("4"), said("5")],
    start: null,
    end: "e",
  });
  window.dropStart(2);
  assert.deepEqual([window.start, textsOf(window)], ["2", ["2", "2", "3", "4", "4", "5"]]);
  window.dropEnd(4);
  assert.deepEqual([window.end, textsOf(window)], ["5", ["2", "2", "3", "4", "4"]]);
  assert.equal(window.placeOf("3#0"), 2);
  assert.equal(window.placeOf("5#0"), -1);
});

test("however the window moves, it holds an unbroken part of the chat, and knows its size", () => {
  const chat = Array.from({ length: 60 }, (_, number) => said(`r${Math.floor(number / 2)}`, `${number}`));
  const from = (ref: string): number => (ref === "end" ? chat.length : chat.findIndex((item) => item.ref === ref));
  const move = fc.oneof(
    fc.record({ kind: fc.constant("up" as const), count: fc.integer({ min: 1, max: 9 }) }),
    fc.record({ kind: fc.constant("down" as const), count: fc.integer({ min: 1, max: 9 }) }),
    fc.record({ kind: fc.constant("dropStart" as const), count: fc.integer({ min: 0, max: 40 }) }),
    fc.record({ kind: fc.constant("dropEnd" as const), count: fc.integer({ min: 0, max: 40 }) }),
  );
  fc.assert(
    fc.property(fc.array(move, { maxLength: 40 }), (moves) => {
      const window = new ChatWindow();
      window.open({ items: chat.slice(20, 30), start: "r10", end: "r15" });
      for (const { kind, count } of moves) {
        if (kind === "up" && window.start !== null) {
          const end = from(window.start);
          const start = Math.max(end - count * 2, 0);
          window.prepend(chat.slice(start, end), start === 0 ? null : (chat[start]?.ref ?? null));
        } else if (kind === "down") {
          const start = from(window.end);
          window.append(chat.slice(start, start + count * 2), chat[start + count * 2]?.ref ?? "end");
        } else if (kind === "dropStart") window.dropStart(count);
        else if (kind === "dropEnd") window.dropEnd(count);
        const first = Number(window.items[0]?.item.text);
        assert.deepEqual(
          textsOf(window),
          chat.slice(first, first + window.items.length).map(({ text }) => text),
        );
        assert.equal(window.start === null ? 0 : from(window.start), first);
        assert.equal(from(window.end), first + window.items.length);
        window.items.forEach(({ key }, place) => {
          assert.equal(window.placeOf(key), place);
        });
        assert.equal(
          window.characters,
          window.items.reduce((sum, { item }) => sum + (item.text?.length ?? 0) + 100, 0),
        );
      }
    }),
  );
});
