import type { Fields } from '../../shared/events/event.ts';
import { toText } from '../../shared/events/text.ts';
import type { TestStepPlan } from '../../shared/language/checker/tests.ts';
import type { OperatorPlan, Origin, Plan, StreamPlan } from '../../shared/language/plan/plan.ts';
import type { Engine } from '../../worker/engine/engine.ts';
import { blockedAttempt, briefExplanation } from '../explaining/brief-explanation.ts';

type Expectation = Extract<TestStepPlan, { kind: 'expect' }>;

/** Why there was no output. */
export interface Miss {
  readonly text: string;
  /** Those of the event that was held back; null where another reason is told. */
  readonly heldBack: Fields | null;
}

/** Keeps, for each expectation of a test, why its stream gave no output: as it stood when the test came to the expectation. */
export class NearestMiss {
  readonly #plan: Plan;
  readonly #answers = new Map<Origin, Miss>();

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  /** The test has come to this step; `engine` is one that explains itself. */
  expectation({ output, fields, origin }: Expectation, engine: Engine): void {
    const stream = this.#streamOf(output);
    if (stream === undefined) return;
    const explanation = engine.explain(stream.name, keyOf(stream, fields));
    const text = briefExplanation(explanation);
    if (text !== null) this.#answers.set(origin, { text, heldBack: blockedAttempt(explanation)?.event.fields ?? null });
  }

  /** The answer for a step; null when there is none. */
  of(origin: Origin): Miss | null {
    return this.#answers.get(origin) ?? null;
  }

  #streamOf(output: string): StreamPlan | undefined {
    return streamOf(this.#plan, output);
  }
}

/** The stream that is called so, or emits this type. */
function streamOf({ streams }: Plan, output: string): StreamPlan | undefined {
  return streams.find(({ name }) => name === output) ?? streams.find(({ operators }) => operators.some((one) => emits(one, output)));
}

function emits(operator: OperatorPlan, type: string): boolean {
  if (operator.kind === 'fork') return operator.branches.some(({ operators }) => operators.some((one) => emits(one, type)));
  return operator.kind === 'emit' && operator.type === type;
}

/** Fields of the outputs that tell of which partition they are, as far as an expectation can name them. */
export function keyFieldsOf(plan: Plan, output: string): readonly string[] {
  return streamOf(plan, output)?.partition.keys.map(({ name }) => name) ?? [];
}

/** The partition key that the expected fields name; undefined when they do not name all of it. */
function keyOf({ partition }: StreamPlan, fields: Expectation['fields']): string | undefined {
  const values = partition.keys.map(({ name }) => fields.get(name) ?? null);
  return values.length === 0 || values.includes(null) ? undefined : values.map(toText).join(', ');
}
