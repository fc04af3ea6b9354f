// Loaded before a process begins: shifts its wall clock by what a file says, in ms, as if somebody had set the clock of its machine.
import { readFileSync } from 'node:fs';

const lookMs = 50;
const RealDate = Date;
let shiftMs = 0;

setInterval(() => {
  try {
    shiftMs = Number(readFileSync(process.env.CEP_CHAOS_CLOCK, 'utf8'));
  } catch {
    shiftMs = 0; // Nobody has set it.
  }
}, lookMs).unref();

globalThis.Date = class extends RealDate {
  constructor(...parts) {
    if (parts.length === 0) super(RealDate.now() + shiftMs);
    else super(...parts);
  }

  static now() {
    return RealDate.now() + shiftMs;
  }
};
