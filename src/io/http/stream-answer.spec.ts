import { expect, it } from "vitest";
import { StreamAnswer } from "./stream-answer.js";

it.each([
  ["large pieces", 64 * 1024, 8],
  ["pieces of a byte", 1, 5_000],
])("an answer whose reader stops pauses its stream after a few hundred kilobytes of memory: %s", (_, size, most) => {
  let paused = false;
  const answer = new StreamAnswer(200, {}, { pause: () => (paused = true), resume: () => (paused = false), leave() {} });
  let pushed = 0;
  for (; !paused && pushed < most; pushed++) answer.push(new Uint8Array(size));
  expect(paused).toBe(true);
  while (answer.take() !== undefined) pushed--;
  expect([paused, pushed]).toEqual([false, 0]);
});
