import type { TrendCall } from '../../../../../shared/language/plan/plan.ts';
import type { NamedColumns } from '../../columns.ts';
import { functionForm } from '../../function-form.ts';
import type { StreamContext } from '../../fusion-context.ts';
import { Body } from '../../module-text.ts';
import type { ProgramFusion } from '../../program-fusion.ts';
import { named, Refusal, representationOf, type Typed } from '../../typed.ts';
import { decideItems, windowColumns } from '../../windows/print-window.ts';
import type { NumberedTrends } from './decide-trends.ts';

/** What a result is made of: names of a function's parameters. */
interface Ended {
  readonly window: string;
  readonly type: string;
  readonly last: string;
  readonly start: string;
  readonly end: string;
}

/**
 * Decides what hands on the result of a window, with all that follows it. Gives what prints it: a name for its constants and the function
 * that reads them; `null` where the kernel is to make it a row.
 */
export function decideClose(trends: NumberedTrends, kernel: string, fusion: StreamContext): () => string {
  const { program } = fusion;
  const decided = trends.held.size > 0 ? new Refusal('results read the last event of a step') : decideEnd(trends, kernel, fusion);
  return () => {
    if (typeof decided === 'string') return shared(decided, program);
    program.decisions.operator(fusion.index, 1, { by: 'rows', why: decided.why });
    return 'null';
  };
}

/** Streams whose results go the same way, but for constants, have one function: it is hot when each of them is cold. */
function shared(name: string, program: ProgramFusion): string {
  const { module } = program;
  const printed = module.functionOf(name);
  const names = program.once('close', () => (['p', 's', 'a', 'o', 't', 't'] as const).map((prefix) => module.names.mint(prefix)).join(','));
  const [constantsName = '', ...given] = names.split(',');
  const form = functionForm({ ...printed, arguments: given }, []);
  module.leaveOut(name);
  const text = `(${names})=>{${form.body((at) => `${constantsName}.x${at + 1}`)}}`;
  const close = program.once(`close:${text}`, () => {
    const made = module.names.mint('f');
    module.declare(`const ${made}=${text};`);
    return made;
  });
  const own = module.names.mint('g');
  module.declare(`const ${own}={${[close, ...form.constants].map((constant, at) => `x${at}:${constant}`).join(',')}};`);
  return own;
}

/** The name of the function. */
function decideEnd(trends: NumberedTrends, kernel: string, fusion: StreamContext): string | Refusal {
  const { stream, plan } = trends;
  const { module } = fusion.program;
  const [window, type, last] = [module.names.mint('r'), module.names.mint('a'), module.names.mint('o')];
  const [start, end] = [module.names.mint('t'), module.names.mint('t')];
  const body = new Body(module.names);
  const bare = rowOf(trends, kernel, { window, type, last, start, end }, body, fusion);
  const numbers = body.bind(`${window}.numbers`);
  const results = plan.calls.map((call, at): Typed => {
    const result = resultOf(trends, call, at, numbers);
    return { ...result, text: body.bind(result.text), isSimple: true };
  });
  const items = decideItems(plan.items, bare, results, { body, module, stream });
  if (items instanceof Refusal) return items;
  if (items.canFail) return new Refusal('a value of the result may fail');
  return fusion.chain(items.columns, body) ?? module.define(() => [window, type, last, start, end], body);
}

function rowOf({ stream }: NumberedTrends, kernel: string, ended: Ended, body: Body, { program: { module } }: StreamContext): NamedColumns {
  const { window, type, last, start, end } = ended;
  const keys = stream.partition.keys.map(({ name, value }, at) => {
    const key = named(body.bind(`${window}.pane.keys[${at}]`), representationOf(value.type), true);
    return [name, key] as const;
  });
  const first = body.bind(`${window}.first`);
  const time = body.bind(`momentBefore(${end})`);
  const order = body.bind(`${kernel}.order()`);
  return windowColumns({ fields: keys, order, type, typeName: null, first, last, module }, { time, start, end, isFinal: 'true' });
}

/** The result of a call, from the numbers of the completed trends. */
function resultOf({ columns, numbers: layout }: NumberedTrends, call: TrendCall, at: number, numbers: string): Typed {
  const read = (kind: 'events' | 'sum' | 'min' | 'max'): string =>
    `${numbers}[${layout.completed + layout.at(columns.of(at, kind) as number)}]`;
  const number = (text: string, isNullable = false): Typed => ({ ...named(text, 'number', isNullable), isSimple: false });
  switch (call.function) {
    case 'count_trends':
      return number(`${numbers}[${layout.completed}]`);
    case 'count_events':
      return number(read('events'));
    case 'sum_trends':
      return number(read('sum'));
    case 'avg_trends':
      return number(`(${read('events')}===0?null:${read('sum')}/${read('events')})`, true);
    case 'min_trends':
    case 'max_trends': {
      const kind = call.function === 'min_trends' ? 'min' : 'max';
      const as = layout.representations[columns.of(at, kind) as number] ?? 'number';
      return { ...named(`(${read(kind)}===${read(kind)}?${read(kind)}:null)`, as, true), isSimple: false };
    }
  }
}
