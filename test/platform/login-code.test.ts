import assert from "node:assert/strict";
import { test } from "node:test";
import type { EpochMs } from "../../src/platform/clock.ts";
import { LOGIN_CODE_MS, loginLink, makeLoginCheck, makeLoginCode } from "../../src/platform/login-code.ts";

/** A clock that the test moves. */
class TestClock {
  #now = 1_796_000_000_000;
  now(): EpochMs {
    return this.#now as EpochMs;
  }
  pass(ms: number): void {
    this.#now += ms;
  }
}

const secret = { key: "k".repeat(48), bootNonce: "b".repeat(32) };

test("a code works once", () => {
  const clock = new TestClock();
  const check = makeLoginCheck(clock);
  const [first, second] = [makeLoginCode(secret, clock), makeLoginCode(secret, clock)];
  assert.equal(check(first, secret), true);
  assert.equal(check(first, secret), false);
  assert.equal(check(second, secret), true);
});

test("a code works within ten minutes", () => {
  const clock = new TestClock();
  const check = makeLoginCheck(clock);
  const [early, late] = [makeLoginCode(secret, clock), makeLoginCode(secret, clock)];
  clock.pass(LOGIN_CODE_MS - 1);
  assert.equal(check(early, secret), true);
  clock.pass(1);
  assert.equal(check(late, secret), false);
  assert.equal(check(early, secret), false);
});

test("a code works under the key and the start it was made for only", () => {
  const clock = new TestClock();
  const check = makeLoginCheck(clock);
  const code = makeLoginCode(secret, clock);
  assert.equal(check(code, { ...secret, key: "x".repeat(48) }), false);
  assert.equal(check(code, { ...secret, bootNonce: "x".repeat(32) }), false);
  assert.equal(check(code, secret), true);
});

test("what was altered, or is no code, is refused", () => {
  const clock = new TestClock();
  const check = makeLoginCheck(clock);
  const code = makeLoginCode(secret, clock);
  const [expiry = "", nonce = "", ...signature] = code.split("-");
  const signed = signature.join("-");
  const altered = [
    "",
    "x",
    "--",
    `${Number(expiry) + 1}-${nonce}-${signed}`,
    `${expiry}-${"0".repeat(16)}-${signed}`,
    `${expiry}-${nonce}-${"A".repeat(43)}`,
    `${expiry}-${nonce}-`,
    `${expiry}-${nonce}-${signed}A`,
    `${expiry}-${nonce.toUpperCase()}x-${signed}`,
    ` ${code}`,
    `${code}\n`,
    `9999999999999999-${nonce}-${signed}`,
  ];
  for (const wrong of altered) assert.equal(check(wrong, secret), false, wrong);
  assert.equal(check(code, secret), true);
});

test("a link holds the code and never the key", () => {
  const code = makeLoginCode(secret, new TestClock());
  assert.equal(loginLink("http://127.0.0.1:4777", code), `http://127.0.0.1:4777/?t=${code}`);
  assert.match(code, /^[0-9]+-[0-9a-f]{16}-[A-Za-z0-9_-]{43}$/);
  assert.doesNotMatch(code, /k{8}/);
});
