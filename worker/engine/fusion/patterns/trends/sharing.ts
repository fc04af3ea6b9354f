import { fingerprint } from '../../../../../shared/language/plan/fingerprint.ts';
import type { Plan, StreamPlan } from '../../../../../shared/language/plan/plan.ts';
import { inputsOf } from '../../../streams/plan-inputs.ts';
import { originsOf } from '../../../streams/routes.ts';
import type { ProgramFusion } from '../../program-fusion.ts';
import { CannotFuse } from '../../typed.ts';
import { TrendForm } from './trend-form.ts';

/** A stream with the index that it has in the program. */
export interface SharingStream {
  readonly index: number;
  readonly form: TrendForm;
}

/** The streams whose windows of trends begin and end together, in order of declaration; this one is among them. @throws CannotFuse */
export function sharingOf(stream: StreamPlan, program: Pick<ProgramFusion, 'derived'>): readonly SharingStream[] {
  const found = program.derived(sharingIn).get(stream);
  if (found === undefined) throw new CannotFuse('the trends have conditions, times or values that only rows can tell');
  return found;
}

/** By stream that counts trends in a form of generated code: those that share its windows. */
function sharingIn(plan: Plan): ReadonlyMap<StreamPlan, readonly SharingStream[]> {
  const groups = new Map<string, SharingStream[]>();
  plan.streams.forEach((stream, index) => {
    const form = formOf(stream);
    if (form === null) return;
    const key = mayShare(index, plan) ? fingerprint([form.plan.windowMs, stream.time, stream.partition]) : `alone ${index}`;
    groups.set(key, [...(groups.get(key) ?? []), { index, form }]);
  });
  return new Map([...groups.values()].flatMap((streams) => streams.map(({ form }) => [form.stream, streams] as const)));
}

function formOf(stream: StreamPlan): TrendForm | null {
  try {
    return new TrendForm(stream);
  } catch (error) {
    if (!(error instanceof CannotFuse)) throw error;
    return null;
  }
}

/** One clock moves all streams, and nobody sees in which order late events leave them. */
function mayShare(index: number, { sources, streams }: Plan): boolean {
  const late = `late:${index}`;
  return sources.length <= 1 && !streams.some(({ source }) => originsOf(inputsOf(source)).has(late));
}
