import { ms, type TestEvent, type Timeline, watermarkAt } from '../windows/timeline.ts';

export interface JoinShape {
  readonly join: 'inner' | 'left' | 'right' | 'full';
  /** The event type of each side; a type may stand on several sides. */
  readonly sides: readonly string[];
  /** Null: `.window(n)`. */
  readonly withinUs: number | null;
  /** How many of each side and key are kept; null = all. */
  readonly newest: number | null;
  readonly latenessUs: number;
  /** Partners' values must rise from side to side. */
  readonly isRising: boolean;
}

/** An event on one side. */
interface Arrival {
  readonly event: TestEvent;
  readonly side: number;
  /** The time that has been reached when the join sees it. */
  readonly nowUs: number;
}

type Chosen = readonly (Arrival | null)[];

/**
 * Every output of a join over a whole input. For each arrival all combinations of earlier ones are tried; an event is
 * there while the time has not passed its own by more than the window.
 */
export function joinOutputs(timeline: Timeline, shape: JoinShape): readonly string[] {
  const seen: Arrival[] = [];
  const matched = new Set<Arrival>();
  const ended = new Set<Arrival>();
  const outputs: string[] = [];
  const end = (nowUs: number): void => {
    const due = seen.filter((arrival) => !ended.has(arrival) && hasEnded(arrival, nowUs, shape)).sort(byEnd(seen));
    for (const arrival of due) {
      ended.add(arrival);
      if (!matched.has(arrival) && isOuter(arrival.side, shape)) outputs.push(alone(arrival, shape));
    }
  };
  for (const step of stepsOf(timeline, shape)) {
    end(step.nowUs);
    if (step.arrival === null) continue;
    const { arrival } = step;
    const held = seen.filter((other) => !hasEnded(other, step.nowUs, shape) && isKept(other, seen, shape));
    seen.push(arrival);
    for (const chosen of combinations(arrival, held, shape)) {
      for (const one of chosen) if (one !== null) matched.add(one);
      outputs.push(output(chosen, Math.max(...chosen.map((one) => one?.event.us ?? -Infinity))));
    }
    end(step.nowUs);
  }
  end(Infinity);
  return outputs;
}

interface Step {
  readonly nowUs: number;
  readonly arrival: Arrival | null;
}

/** What the join sees: events as they arrive, or with `out_of_order` by their time once the watermark has reached it. */
function stepsOf(timeline: Timeline, shape: JoinShape): readonly Step[] {
  const steps: Step[] = [];
  let waiting: TestEvent[] = [];
  const release = (watermark: number): void => {
    const due = waiting.filter((event) => event.us <= watermark).sort((a, b) => a.us - b.us || a.index - b.index);
    waiting = waiting.filter((event) => event.us > watermark);
    for (const event of due) steps.push(...arrivals(event, event.us, shape));
  };
  for (const event of timeline.events) {
    const nowUs = watermarkAt(timeline, event.index);
    if (timeline.outOfOrderUs > 0) {
      release(nowUs);
      if (event.us >= nowUs) waiting.push(event);
      release(nowUs);
    }
    steps.push({ nowUs, arrival: null });
    if (timeline.outOfOrderUs === 0) steps.push(...arrivals(event, nowUs, shape));
  }
  release(Infinity);
  return steps;
}

function arrivals(event: TestEvent, nowUs: number, { sides }: JoinShape): readonly Step[] {
  return sides.flatMap((type, side) => (type === event.type ? [{ nowUs, arrival: { event, side, nowUs } }] : []));
}

function hasEnded({ event }: Arrival, nowUs: number, { withinUs, latenessUs }: JoinShape): boolean {
  return nowUs > event.us + (withinUs ?? Infinity) + latenessUs;
}

/** Not replaced by newer ones of its side and key. */
function isKept(arrival: Arrival, seen: readonly Arrival[], { newest }: JoinShape): boolean {
  if (newest === null) return true;
  const newer = seen.slice(seen.indexOf(arrival) + 1).filter(({ side, event }) => side === arrival.side && event.k === arrival.event.k);
  return newer.length < newest;
}

function combinations(arrival: Arrival, held: readonly Arrival[], shape: JoinShape): readonly Chosen[] {
  if (arrival.event.k === null) return [];
  const choose = (side: number, chosen: Chosen): readonly Chosen[] => {
    if (side === shape.sides.length) return fits(chosen, shape) ? [chosen] : [];
    const candidates = side === arrival.side ? [arrival] : held.filter((other) => other.side === side && other.event.k === arrival.event.k);
    return candidates.flatMap((candidate) => choose(side + 1, [...chosen, candidate]));
  };
  return choose(0, []);
}

function fits(chosen: Chosen, { withinUs, isRising }: JoinShape): boolean {
  const events = chosen.map((one) => (one as Arrival).event);
  const areNear = events.every((a) => events.every((b) => Math.abs(a.us - b.us) <= (withinUs ?? Infinity)));
  const values = events.map(({ v }) => v);
  const [first, last] = [values[0] ?? null, values.at(-1) ?? null];
  return areNear && (!isRising || (first !== null && last !== null && first < last));
}

function isOuter(side: number, { join, sides }: JoinShape): boolean {
  return join === 'full' || (join === 'left' && side === 0) || (join === 'right' && side === sides.length - 1);
}

function byEnd(seen: readonly Arrival[]): (a: Arrival, b: Arrival) => number {
  return (a, b) => a.event.us - b.event.us || seen.indexOf(a) - seen.indexOf(b);
}

function alone(arrival: Arrival, shape: JoinShape): string {
  const chosen = shape.sides.map((_, side) => (side === arrival.side ? arrival : null));
  return output(chosen, arrival.event.us + (shape.withinUs as number));
}

function output(chosen: Chosen, timeUs: number): string {
  const fields = Object.fromEntries(chosen.map((one, side) => [`s${side}`, one?.event.index ?? null]));
  return `J@${ms(timeUs)} ${JSON.stringify(fields)}`;
}
