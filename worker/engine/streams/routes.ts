import type { InputPlan, Plan } from '../../../shared/language/plan/plan.ts';
import { inputsOf } from './plan-inputs.ts';
import type { Inlet, Route } from './queue.ts';

const NOWHERE: Route = [];
const EVENT = 'event:';

/**
 * An origin of rows as a text: `event:<type>`, `stream:<index>`, `late:<index>`, `branch:<index>:<name>`. It is what a
 * pattern knows its candidates by.
 */
function originOf(from: Exclude<InputPlan['from'], { kind: 'event' }>): string {
  return from.kind === 'branch' ? `branch:${from.stream}:${from.branch}` : `${from.kind}:${from.stream}`;
}

/** By inputs, which streams of a loop share. */
const known = new WeakMap<readonly InputPlan[], ReadonlyMap<string, readonly number[]>>();

/** The inputs of a stream by origin: every origin once, with the positions of the inputs that read it. */
export function originsOf(inputs: readonly InputPlan[]): ReadonlyMap<string, readonly number[]> {
  const found = known.get(inputs) ?? foundOrigins(inputs);
  known.set(inputs, found);
  return found;
}

function foundOrigins(inputs: readonly InputPlan[]): ReadonlyMap<string, readonly number[]> {
  const origins = new Map<string, number[]>();
  inputs.forEach(({ from }, position) => {
    const names = from.kind === 'event' ? from.types.map((type) => EVENT + type) : [originOf(from)];
    for (const name of new Set(names)) {
      const positions = origins.get(name);
      if (positions === undefined) origins.set(name, [position]);
      else positions.push(position);
    }
  });
  return origins;
}

type Readers = Map<string, Map<number, readonly number[]>>;

/** By the streams of a plan, which several ask for when its engine is made. */
const readers = new WeakMap<Plan['streams'], Readers>();

/** By origin, the streams that read it, in order of declaration, with the positions of the inputs. */
export function readersOf({ streams }: Pick<Plan, 'streams'>): ReadonlyMap<string, ReadonlyMap<number, readonly number[]>> {
  const found = readers.get(streams) ?? foundReaders(streams);
  readers.set(streams, found);
  return found;
}

function foundReaders(streams: Plan['streams']): Readers {
  const all: Readers = new Map();
  let last: readonly InputPlan[] | null = null;
  let read: readonly { readonly streams: Map<number, readonly number[]>; readonly positions: readonly number[] }[] = [];
  streams.forEach(({ source }, index) => {
    const inputs = inputsOf(source);
    // Streams of a loop share them.
    if (inputs !== last) read = Array.from(originsOf(inputs), ([origin, positions]) => ({ streams: streamsOf(all, origin), positions }));
    last = inputs;
    for (const { streams, positions } of read) streams.set(index, positions);
  });
  return all;
}

function streamsOf(all: Readers, origin: string): Map<number, readonly number[]> {
  const known = all.get(origin) ?? new Map<number, readonly number[]>();
  all.set(origin, known);
  return known;
}

/** Who takes the rows of which origin, in order of declaration. A route is made when the first row wants to take it: most rows never do. */
export class Routes {
  readonly #readers: ReturnType<typeof readersOf>;
  readonly #byOrigin = new Map<string, Route>();
  /** Those of events again, by type: asked for with every event. */
  readonly #byType = new Map<string, Route>();
  readonly #inlets: (stream: number, origin: string) => readonly Inlet[];

  /** `inlets`: what the stream offers for an origin, one inlet or several. Streams are added in order of declaration. */
  constructor(plan: Plan, inlets: (stream: number, origin: string) => readonly Inlet[]) {
    this.#inlets = inlets;
    this.#readers = readersOf(plan);
  }

  /** Whether some stream reads the events of a type. */
  isRead(type: string): boolean {
    return this.#readers.has(EVENT + type);
  }

  ofEvent(type: string): Route {
    const known = this.#byType.get(type);
    if (known !== undefined) return known;
    const route = this.of(EVENT + type);
    // Of types that nobody reads there is no end.
    if (route !== NOWHERE) this.#byType.set(type, route);
    return route;
  }

  of(origin: string): Route {
    const known = this.#byOrigin.get(origin);
    if (known !== undefined) return known;
    const readers = this.#readers.get(origin);
    if (readers === undefined) return NOWHERE;
    const route = [...readers.keys()].flatMap((stream) => this.#inlets(stream, origin));
    this.#byOrigin.set(origin, route);
    return route;
  }

  /** Who takes a row that comes out at several origins at once. */
  ofAll(origins: readonly string[]): Route {
    return origins.flatMap((origin) => this.of(origin)).sort((a, b) => a.stream - b.stream);
  }
}
