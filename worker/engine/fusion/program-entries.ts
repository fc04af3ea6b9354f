import { modelOf } from '../../../shared/language/plan/alike.ts';
import type { EventPlan, StreamPlan } from '../../../shared/language/plan/plan.ts';
import { isStatements } from '../operators/operator-facts.ts';
import { EventColumns } from './columns.ts';
import { Body } from './module-text.ts';
import type { ProgramFusion } from './program-fusion.ts';
import { RowColumns } from './row-columns.ts';
import type { StreamFollowers } from './stream-followers.ts';
import { type Follower, handOn } from './stream-fusion.ts';
import { Refusal, representationOf } from './typed.ts';

/** The entry of one type, printed. */
export interface PrintedEntry {
  readonly event: EventPlan;
  /** Names of the fields that the function takes, behind time and whether that is the time of arrival. */
  readonly reads: readonly string[];
  /** Those of them whose places it takes behind them. */
  readonly keys: readonly string[];
  /** Position of the function in what the module returns. */
  readonly position: number;
}

/** The function that takes whole events of a type. */
export interface PrintedRowEntry {
  readonly type: string;
  readonly position: number;
}

/** How the events of a type come in, as it is decided. */
interface DecidedEntry<P> {
  readonly followers: readonly Follower[];
  readonly print: () => P;
}

/** Why the events of a type come whole; what follows where they came by columns, if that was asked. */
interface WholeEvents {
  readonly why: string;
  readonly followers: readonly Follower[] | null;
}

interface EntryOptions {
  /** Each operator is to be seen at work, so all rows come whole to each of them. */
  readonly isWatched: boolean;
  /** As `PrintOptions` has it. */
  readonly keys: ReadonlyMap<string, string | null> | undefined;
}

const NO_KEYS: ReadonlyMap<string, string | null> = new Map();

/** Decides how events of all types come into a program, and with them all that follows; then prints it. */
export class ProgramEntries {
  /** By column. */
  readonly entries: readonly PrintedEntry[];
  /** By type whose events come whole: the function that takes them. */
  readonly rowEntries: readonly PrintedRowEntry[];
  readonly #program: ProgramFusion;
  readonly #followers: StreamFollowers;
  readonly #keys: NonNullable<EntryOptions['keys']>;

  constructor(program: ProgramFusion, followers: StreamFollowers, { isWatched, keys }: EntryOptions) {
    this.#program = program;
    this.#keys = keys ?? NO_KEYS;
    this.#followers = followers;
    const { plan, decisions } = program;
    const decided = plan.events.map((event) => {
      const entry = isWatched ? { why: 'each operator is watched', followers: null } : this.#byColumns(event);
      return { event, entry };
    });
    const rowEntries = isWatched ? [] : this.#byRows(new Map(decided.map(({ event, entry }) => [event.name, entry])));
    for (const { event, entry } of decided) {
      if ('why' in entry) decisions.entry(event, { form: 'rows', why: entry.why, columns: [], placed: [] });
    }
    this.entries = decided.flatMap(({ entry }) => ('why' in entry ? [] : [entry.print()]));
    this.rowEntries = rowEntries.map(({ print }) => print());
  }

  #byColumns(event: EventPlan): DecidedEntry<PrintedEntry> | WholeEvents {
    const odd = event.fields.find(({ type }) => representationOf(type) === 'value');
    if (odd !== undefined) return { why: `\`${odd.name}\` is neither number, text, bool nor time`, followers: null };
    const { module } = this.#program;
    const columns = new EventColumns(event.name, event.fields, module);
    const followers = this.#followers.of(`event:${event.name}`, columns, true);
    if (followers instanceof Refusal) return { why: followers.why, followers: null };
    if (followers.length > 0 && !followers.some(({ hasForm }) => hasForm)) return { why: 'all that reads them takes rows', followers };
    const key = this.#keys.get(event.name) ?? null;
    if (key !== null && !columns.read.includes(key)) return { why: `nothing reads \`${key}\`, by which they are shared`, followers };
    // By its place whose the text is need be found only once.
    if (key !== null) columns.field({ kind: 'current' }, key)?.place?.();
    return { followers, print: () => this.#enter(event, columns, followers) };
  }

  /** Types that the program reads and whose events do not come by columns, where not all that reads them is written by hand. */
  #byRows(entries: ReadonlyMap<string, DecidedEntry<PrintedEntry> | WholeEvents>): readonly DecidedEntry<PrintedRowEntry>[] {
    return this.#program.origins.flatMap((origin) => {
      const type = typeOf(origin);
      const known = type === null ? undefined : entries.get(type);
      if (type === null || (known !== undefined && !('why' in known))) return [];
      const columns = new RowColumns(this.#program.module, { type, isEvent: true });
      const followers = this.#followers.of(origin, columns, true) as readonly Follower[];
      if (followers.some(({ hasForm }) => hasForm)) return [{ followers, print: () => this.#enterRow(type, columns, followers) }];
      for (const { note } of known?.followers ?? followers) note();
      return [];
    });
  }

  #enterRow(type: string, columns: RowColumns, followers: readonly Follower[]): PrintedRowEntry {
    const { module } = this.#program;
    const name = module.define(
      () => columns.parameters,
      (body) => handOn(followers, body),
    );
    return { type, position: module.export(module.use(name)) };
  }

  #enter(event: EventPlan, columns: EventColumns, followers: readonly Follower[]): PrintedEntry {
    const { module, decisions } = this.#program;
    const arrivals = module.late((runtime) => runtime.arrivals(event));
    const isArrival = module.names.mint('a');
    const { time } = columns;
    const body = new Body(module.names);
    body.add(`const ${columns.order}=${arrivals}.arrive(${time},${isArrival});`);
    if (this.#keys.has(event.name)) this.#leaveToOthers(event, columns, arrivals, body);
    handOn(followers, body);
    // Where nothing keeps anything and nothing follows, an event is through when the calls return.
    const isOver = this.#program.readersOf(`event:${event.name}`).every((stream) => this.#endsHere(stream));
    if (!isOver) body.add(`${arrivals}.depart();`);
    const parameters = (): readonly string[] => [time, isArrival, ...columns.parameters.slice(2)];
    const position = module.export(module.use(module.define(parameters, body)));
    decisions.entry(event, { form: 'columns', why: null, columns: columns.read, placed: columns.placed });
    return { event, reads: columns.read, keys: columns.placed, position };
  }

  /** Events of other engines only move time. */
  #leaveToOthers({ name: type }: EventPlan, columns: EventColumns, arrivals: string, body: Body): void {
    const owns = this.#program.module.late((runtime) => runtime.owns(type));
    const key = this.#keys.get(type) ?? null;
    body.add(() => {
      const [value, place] = key === null ? [] : columns.textsOf(key);
      return `if(!${owns}(${value ?? 'null'},${place ?? 'undefined'})){${arrivals}.depart();return;}`;
    });
  }

  /** Nothing in the stream keeps anything, and nothing follows it. */
  #endsHere(index: number): boolean {
    const { source, operators } = modelOf(this.#program.plan.streams[index] as StreamPlan);
    const isStateless = source.kind === 'events' && operators.every(isStatements);
    return isStateless && !this.#program.isFollowed(index);
  }
}

/** The type of the events that an origin is; null = it is none of events. */
function typeOf(origin: string): string | null {
  return origin.startsWith('event:') ? origin.slice('event:'.length) : null;
}
