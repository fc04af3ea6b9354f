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

/** Who takes the rows of which origin, in order of declaration. */
export class Routes {
  readonly #byOrigin = new Map<string, Inlet[]>();
  /** Those of events again, by type: asked for with every event. */
  readonly #byType: ReadonlyMap<string, Route>;

  /** `inlets`: what the stream offers for an origin, one inlet or several. Streams are added in order of declaration. */
  constructor(plan: Plan, inlets: (stream: number, origin: string, positions: readonly number[]) => readonly Inlet[]) {
    plan.streams.forEach((stream, index) => {
      for (const [origin, positions] of originsOf(inputsOf(stream.source))) {
        const route = this.#byOrigin.get(origin) ?? [];
        route.push(...inlets(index, origin, positions));
        this.#byOrigin.set(origin, route);
      }
    });
    const ofEvents = [...this.#byOrigin].filter(([origin]) => origin.startsWith(EVENT));
    this.#byType = new Map(ofEvents.map(([origin, route]) => [origin.slice(EVENT.length), route]));
  }

  ofEvent(type: string): Route {
    return this.#byType.get(type) ?? NOWHERE;
  }

  of(origin: string): Route {
    return this.#byOrigin.get(origin) ?? NOWHERE;
  }

  /** Who takes the results of a stream or those of one of its branches. */
  ofBranch(stream: number, branch: string): Route {
    const route = [...this.of(`stream:${stream}`), ...this.of(`branch:${stream}:${branch}`)];
    return route.sort((a, b) => a.stream - b.stream);
  }
}
