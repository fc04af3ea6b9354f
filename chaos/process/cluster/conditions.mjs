// Loaded before a process begins: its clocks, its main thread and its memory are as a file says, as if the machine were like that.
import { readFileSync } from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { getHeapStatistics } from 'node:v8';
import { isMainThread } from 'node:worker_threads';

const lookMs = 50;
const heldItems = 131_072;
const RealDate = Date;
const realNow = performance.now.bind(performance);
const realInterval = globalThis.setInterval;
const realTimeout = globalThis.setTimeout;
const promised = createRequire(import.meta.url)('node:timers/promises');
const realSleep = promised.setTimeout;
// Not of processes that this one starts, nor of its other threads.
const isPart = isMainThread && String(process.ppid) === process.env.CEP_CHAOS_RUNNER;

/** As the machine is: see `Conditions` in machine.ts. */
let conditions = { shiftMs: 0, speed: 1, blockedMs: 0, heldShare: 0 };
const turned = { at: 0, to: 0 };
/** Intervals that are there, with the time that they were made with. */
const intervals = new Map();
const held = [];

const shownNow = () => turned.to + (realNow() - turned.at) * conditions.speed;
const shownMs = (ms) => (typeof ms === 'number' ? ms / conditions.speed : ms);
const wallNow = () => {
  const drift = conditions.speed === 1 ? 0 : (realNow() - turned.at) * (conditions.speed - 1);
  return RealDate.now() + conditions.shiftMs + Math.round(drift);
};

performance.now = shownNow;
globalThis.setTimeout = Object.assign((act, ms, ...rest) => realTimeout(act, shownMs(ms), ...rest), realTimeout);
promised.setTimeout = (ms, ...rest) => realSleep(shownMs(ms), ...rest);
globalThis.setInterval = (act, ms, ...rest) => {
  const timer = realInterval(act, shownMs(ms), ...rest);
  for (const reference of intervals.keys()) if (reference.deref() === undefined) intervals.delete(reference);
  intervals.set(new WeakRef(timer), ms);
  return timer;
};
syncBuiltinESMExports();

globalThis.Date = class extends RealDate {
  constructor(...parts) {
    if (parts.length === 0) super(wallNow());
    else super(...parts);
  }

  static now() {
    return wallNow();
  }
};

realInterval(() => {
  const before = conditions;
  conditions = read();
  if (conditions.speed !== before.speed) turn(before);
  if (!isPart) return;
  if (conditions.blockedMs > 0 && before.blockedMs === 0) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, conditions.blockedMs);
  }
  if (conditions.heldShare === 0) held.length = 0;
  else hold(conditions.heldShare);
}, lookMs).unref();

function read() {
  try {
    return { shiftMs: 0, speed: 1, blockedMs: 0, heldShare: 0, ...JSON.parse(readFileSync(process.env.CEP_CHAOS_CONDITIONS, 'utf8')) };
  } catch {
    return { shiftMs: 0, speed: 1, blockedMs: 0, heldShare: 0 }; // It is as any machine, or the file is being written.
  }
}

/** Goes on from what the clock shows now. What was begun with a time to wait keeps it; intervals change. */
function turn(before) {
  const now = realNow();
  turned.to += (now - turned.at) * before.speed;
  turned.at = now;
  for (const [reference, ms] of intervals) {
    const timer = reference.deref();
    // What Node puts a timer back with.
    if (timer !== undefined && timer._repeat !== null) timer._repeat = Math.max(1, ms / conditions.speed);
  }
}

/** Until so much of the heap is in use. A share of more than one ends the process. */
function hold(share) {
  const limit = getHeapStatistics().heap_size_limit * share;
  while (getHeapStatistics().used_heap_size < limit) held.push(new Array(heldItems).fill(Math.random()));
}
