import type { AttributeName, RowReference, TrendCall } from '../../../../../shared/language/plan/plan.ts';
import { NamedColumns } from '../../columns.ts';
import { functionForm } from '../../function-form.ts';
import type { Body, ModuleText } from '../../module-text.ts';
import type { StreamPlace } from '../../place.ts';
import { printTyped } from '../../print-typed.ts';
import type { ProgramFusion } from '../../program-fusion.ts';
import { CannotFuse, NULL_TYPED, named, type Readable, representationOf, type Typed } from '../../typed.ts';
import type { TrendForm } from './trend-form.ts';

type Constants = Pick<ModuleText<never>, 'constant' | 'names'>;

/** What reads the result of a window works on. */
interface Ended {
  readonly window: string;
  readonly type: string;
  readonly last: string;
  readonly start: string;
  readonly end: string;
}

/**
 * Prints what hands on the result of a window, with all that follows it: a name for its constants and the function that reads them;
 * null where the engine is to make it a row.
 */
export function printClose(form: TrendForm, kernel: string, fusion: StreamPlace): string | null {
  const { program } = fusion;
  const back = program.mark();
  try {
    if (form.held !== null) throw new CannotFuse('results read the last event of a step');
    return shared(printEnd(form, kernel, fusion), program);
  } catch (error) {
    if (!(error instanceof CannotFuse)) throw error;
    back();
    program.decisions.operator(fusion.index, 1, { by: 'rows', why: error.message });
    return null;
  }
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

function printEnd(form: TrendForm, kernel: string, fusion: StreamPlace): string {
  const { module } = fusion.program;
  const [window, type, last] = [module.names.mint('r'), module.names.mint('a'), module.names.mint('o')];
  const [start, end] = [module.names.mint('t'), module.names.mint('t')];
  return module.function(
    () => [window, type, last, start, end],
    (body) => {
      const bare = rowOf(form, kernel, { window, type, last, start, end }, body, module);
      const numbers = body.bind(`${window}.numbers`);
      const results = form.plan.calls.map((call, at) => bound(resultOf(form, call, at, numbers), body));
      const readable = new ResultReadable(bare, results);
      const fields = new Map<string, Typed>();
      for (const { name, value } of form.plan.items) {
        const typed = printTyped(value, { module, body, readable });
        if (typed.canFail) throw new CannotFuse('a value of the result may fail');
        fields.set(name, bound(typed, body));
      }
      for (const [name, key] of bare.fields) if (!fields.has(name)) fields.set(name, key);
      const refused = fusion.chain(bare.with([...fields]), body);
      if (refused !== null) throw new CannotFuse(refused.why);
    },
  );
}

function rowOf(form: TrendForm, kernel: string, { window, type, last, start, end }: Ended, body: Body, module: Constants): NamedColumns {
  const keys = form.stream.partition.keys.map(({ name, value }, at) => {
    const key = named(body.bind(`${window}.pane.keys[${at}]`), representationOf(value.type), true);
    return [name, key] as const;
  });
  const attributes = new Map<AttributeName, Typed>([
    ['window_start', named(start, 'timestamp')],
    ['window_end', named(end, 'timestamp')],
    ['is_final', named('true', 'boolean')],
  ]);
  const first = body.bind(`${window}.first`);
  return new NamedColumns({
    fields: keys,
    time: body.bind(`momentBefore(${end})`),
    order: body.bind(`${kernel}.order()`),
    type,
    typeName: null,
    causes: () => `causesBetween(${first},${last})`,
    attributes: () => `windowAttributes(${start},${end},true)`,
    attribute: (name) => attributes.get(name) ?? NULL_TYPED,
    module,
  });
}

function bound(value: Typed, body: Body): Typed {
  return value.isSimple ? value : { ...value, text: body.bind(value.text), isSimple: true, canFail: false };
}

/** The result of a call, from the numbers of the completed trends. */
function resultOf(form: TrendForm, call: TrendCall, at: number, numbers: string): Typed {
  const read = (kind: 'events' | 'sum' | 'min' | 'max'): string => `${numbers}[${form.completed + form.at(form.columnOf(at, kind) ?? 0)}]`;
  const number = (text: string, isNullable = false): Typed => ({ ...named(text, 'number', isNullable), isSimple: false });
  switch (call.function) {
    case 'count_trends':
      return number(`${numbers}[${form.completed}]`);
    case 'count_events':
      return number(read('events'));
    case 'sum_trends':
      return number(read('sum'));
    case 'avg_trends':
      return number(`(${read('events')}===0?null:${read('sum')}/${read('events')})`, true);
    case 'min_trends':
    case 'max_trends': {
      const kind = call.function === 'min_trends' ? 'min' : 'max';
      const as = form.columns[form.columnOf(at, kind) ?? 0]?.as ?? 'number';
      return { ...named(`(${read(kind)}===${read(kind)}?${read(kind)}:null)`, as, true), isSimple: false };
    }
  }
}

/** What the items of a `.trend_aggregate` may read. */
class ResultReadable implements Readable {
  readonly #columns: NamedColumns;
  readonly #results: readonly Typed[];
  readonly time: string;

  constructor(columns: NamedColumns, results: readonly Typed[]) {
    this.#columns = columns;
    this.#results = results;
    this.time = columns.time;
  }

  field(of: RowReference, name: string): Typed | undefined {
    return this.#columns.field(of, name);
  }

  attribute(of: RowReference, name: AttributeName): Typed | undefined {
    return this.#columns.attribute(of, name);
  }

  aggregate(index: number): Typed | undefined {
    return this.#results[index];
  }
}
