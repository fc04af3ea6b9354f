import { readFileSync } from 'node:fs';

/** What a process has used. */
export interface ProcessUsage {
  /** Time of processors since its start, ms. */
  readonly cpuMs: number;
  readonly memoryBytes: number;
}

/** The kernel counts time in hundredths of a second for every program, whatever it uses itself. */
const TICK_MS = 10;
const KIB = 1_024;

/** Undefined where the system does not tell, and for a process that is gone. */
export function usageOf(pid: number): ProcessUsage | undefined {
  try {
    // Behind the name, which stands in brackets and may hold anything: user and system time are fields 14 and 15 of all.
    const fields = (readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1) ?? '').split(' ');
    const resident = /^VmRSS:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    const usage = { cpuMs: TICK_MS * (Number(fields[11]) + Number(fields[12])), memoryBytes: KIB * Number(resident) };
    return Number.isFinite(usage.cpuMs + usage.memoryBytes) ? usage : undefined;
  } catch {
    return undefined;
  }
}
