import { modelOf } from '../../../shared/language/plan/alike.ts';
import type { InputPlan, OperatorPlan, PlanExpression, StreamPlan } from '../../../shared/language/plan/plan.ts';
import type { Next } from '../operators/operator.ts';
import { hasKernel, isStatements } from '../operators/operator-facts.ts';
import { inputsOf } from '../streams/plan-inputs.ts';
import { originsOf } from '../streams/routes.ts';
import type { Columns } from './columns.ts';
import { SOURCE } from './decisions.ts';
import type { DecideRow, Fusers, StreamContext } from './fusion-context.ts';
import { rowOf } from './guarded.ts';
import { Body } from './module-text.ts';
import { PassedColumns } from './passed-columns.ts';
import type { ProgramFusion } from './program-fusion.ts';
import { RowColumns } from './row-columns.ts';
import type { FusedInlet, HandedRow, InletTraits } from './shared-functions.ts';
import { Refusal } from './typed.ts';

/** What is known of a stream that is looked up by its first condition. */
export interface RulePart {
  /** The condition, where it holds for every row that is found; else null. */
  readonly holds: OperatorPlan | null;
  /** A part of the condition that holds for every row that is found. */
  readonly found: PlanExpression | null;
  /** Statement that counts a result. */
  readonly countsResult: string;
}

/** How the rows of a stream go their way. */
interface Way {
  /** Nothing else is waiting or under way: what follows may be called at once. */
  readonly isDirect: boolean;
  readonly rule: RulePart | null;
  /** The function at the head of the stream. */
  readonly head: Body | null;
  /** Rows are the event that is being entered, passed on at once. */
  readonly takesPlaces: boolean;
}

const WAITING: Way = { isDirect: false, rule: null, head: null, takesPlaces: false };

/** So many forms of rows a stream has functions for, or as many as it has inputs; rows of other forms are made whole. */
const FORMS_MAX = 8;

/** Operators one behind the other. */
interface OperatorRun {
  readonly operators: readonly OperatorPlan[];
  /** What follows them. */
  readonly end: DecideRow;
  /** Names what runs the operators from a position on one by one; null = nothing does, they must have a form. */
  readonly entryOf: ((position: number) => string) | null;
}

/** An operator, the row that comes to it, and its statements. */
interface Step {
  readonly at: number;
  readonly columns: Columns;
  readonly body: Body;
}

/** Streams that a row is handed on to, as it is decided. */
export interface Follower {
  /** They have a form in generated code for such rows. */
  readonly hasForm: boolean;
  /** Notes what was decided. */
  readonly note: () => void;
  /** Prints the calls. */
  readonly print: () => readonly string[];
}

/** What the streams of a program have in common while it is decided how they run. */
export interface StreamParts {
  readonly program: ProgramFusion;
  readonly fusers: Fusers;
  readonly stream: (index: number) => StreamContext;
  /** Calls that hand a row on to all that read its origin, in order. */
  readonly followers: (origin: string, columns: Columns, isDirect: boolean) => readonly Follower[] | Refusal;
}

/** One stream while it is decided how it runs. */
export class StreamFusion implements StreamContext {
  readonly plan: StreamPlan;
  readonly index: number;
  readonly program: ProgramFusion;
  readonly #parts: StreamParts;
  #ways: number | null = null;
  found: PlanExpression | null = null;

  constructor(plan: StreamPlan, index: number, parts: StreamParts) {
    this.plan = plan;
    this.index = index;
    this.program = parts.program;
    this.#parts = parts;
  }

  /**
   * Functions for the rows of an origin, one for each input that reads it. `isDirect`: nothing else is waiting or under way
   * when they are called, so what follows the stream may be called at once. `rule`: whoever looks the stream up counts its events.
   */
  inlets(origin: string, columns: Columns, isDirect: boolean, rule: RulePart | null = null): readonly FusedInlet[] | Refusal {
    if (this.plan.time.on !== null) return new Refusal('a field says the time of its rows');
    if (this.plan.source.kind !== 'events') return this.#parts.fusers.source(this.plan.source)(this, origin, columns);
    const reading = this.program.positions(this.index, origin);
    const inputs = inputsOf(this.plan.source);
    const isStateless = isDirect && reading.length === 1 && this.plan.operators.every(isStatements);
    const takesPlaces = origin.startsWith('event:');
    const inlets: FusedInlet[] = [];
    for (const position of reading) {
      const decide: DecideRow = (passed, body) =>
        this.#input(inputs[position] as InputPlan, passed, body, { isDirect: isStateless, rule, head: body, takesPlaces });
      const inlet =
        rule === null
          ? this.inlet(`${origin} ${position} ${isStateless}`, columns, decide, { takesPlaces })
          : this.#newInlet(columns, decide, { isCounted: false, takesPlaces, isRare: rule.holds !== null });
      if (inlet instanceof Refusal) return inlet;
      inlets.push(inlet);
    }
    return inlets;
  }

  /** Notes how the source runs whose rows come by columns. */
  noteSource(): void {
    const { source } = this.plan;
    this.program.decisions.operator(
      this.index,
      SOURCE,
      source.kind === 'events'
        ? { by: 'statements' }
        : { by: 'kernel', form: 'columns', why: null, kernel: this.program.kernelNode(source) },
    );
  }

  inlet(purpose: string, columns: Columns, decide: DecideRow, traits: InletTraits = {}): FusedInlet | Refusal {
    const full = `${this.index} ${purpose}`;
    return this.program.functions.find(full, columns) ?? this.#newInlet(columns, decide, traits, full);
  }

  #newInlet(
    columns: Columns,
    decide: DecideRow,
    { isCounted = true, ...traits }: InletTraits,
    purpose: string | null = null,
  ): FusedInlet | Refusal {
    const { module, functions } = this.program;
    const passed: HandedRow = columns instanceof RowColumns ? columns.passed() : new PassedColumns(columns, module, traits);
    const body = new Body(module.names);
    if (isCounted) body.add(() => `${this.counters}.eventsIn++;`);
    const refused = decide(passed, body);
    if (refused !== null) return refused;
    const name = module.define(() => passed.parameters, body);
    if (purpose !== null) functions.add(purpose, { name, passed });
    return { name, arguments: passed.arguments };
  }

  get counters(): string {
    return this.program.once(`counters:${this.index}`, () =>
      this.program.module.lateOf(this.index, (stream, runtime) => runtime.node(stream).counters),
    );
  }

  get node(): string {
    return this.program.once(`node:${this.index}`, () => this.program.module.lateOf(this.index, (stream, runtime) => runtime.node(stream)));
  }

  sibling(index: number): StreamContext {
    return this.#parts.stream(index);
  }

  watch(kernel: string, body: Body): void {
    body.add(() => `if(${kernel}.due<${this.node}.watched)${this.node}.schedule();`);
  }

  chain(columns: Columns, body: Body): Refusal | null {
    return this.#chain(0, columns, body, WAITING);
  }

  #input(input: InputPlan, columns: Columns, body: Body, way: Way): Refusal | null {
    const holds = (operators: readonly OperatorPlan[]): boolean => way.rule?.holds != null && operators[0] === way.rule.holds;
    const from = holds(this.plan.operators) ? 1 : 0;
    const end: DecideRow = (rest, inner) =>
      way.rule === null && this.#waysIn > 1 ? this.#sharedChain(rest, inner, way) : this.#chain(from, rest, inner, way);
    this.found = way.rule?.found ?? null;
    const refused = this.#operators({ operators: input.operators, end, entryOf: null }, holds(input.operators) ? 1 : 0, columns, body);
    this.found = null;
    return refused;
  }

  /** In how many ways rows come to the head of the chain. */
  get #waysIn(): number {
    this.#ways ??= [...originsOf(inputsOf(this.plan.source)).values()].reduce((ways, positions) => ways + positions.length, 0);
    return this.#ways;
  }

  /** What follows the inputs is decided once for all of them that give rows of one form. */
  #sharedChain(columns: Columns, body: Body, way: Way): Refusal | null {
    const { functions, module } = this.program;
    const isRare = columns.isRare === true || body.mayReturn;
    const full = `${this.index} chain ${way.isDirect} ${way.takesPlaces} ${isRare}`;
    const isFull = functions.find(full, columns) === undefined && functions.count(full) >= Math.max(FORMS_MAX, this.#waysIn);
    if (isFull) return new Refusal('its rows come in too many forms');
    const decide: DecideRow = (passed, inner) => this.#chain(0, passed, inner, way);
    const traits = { isCounted: false, takesPlaces: way.takesPlaces, isRare };
    const inlet = functions.find(full, columns) ?? this.#newInlet(columns, decide, traits, full);
    if (inlet instanceof Refusal) return inlet;
    body.add(() => `${module.call(inlet)};`);
    return null;
  }

  #chain(position: number, columns: Columns, body: Body, way: Way): Refusal | null {
    const end: DecideRow = (rest, inner) => this.#end(rest, inner, way);
    const entryOf = (at: number): string => this.program.module.lateOf(this.index, (stream, runtime) => runtime.node(stream).entry(at));
    return this.#operators({ operators: this.plan.operators, end, entryOf }, position, columns, body);
  }

  /** Decides operators one behind the other; where one has no form, rows are handed on before it to those that run one by one. */
  #operators(run: OperatorRun, position: number, columns: Columns, body: Body): Refusal | null {
    const steps: Step[] = [];
    const refused = this.program.deeper(() => this.#decideOperators(run, position, columns, body, steps));
    const decided = refused === null ? steps : this.#runFrom(steps, run, refused.why);
    if (decided === null) return located(refused as Refusal, run, steps);
    for (const step of decided) body.append(step.body);
    return null;
  }

  #decideOperators(run: OperatorRun, position: number, columns: Columns, body: Body, steps: Step[]): Refusal | null {
    const { operators, end, entryOf } = run;
    let row: Columns | null = columns;
    for (let at = position; row !== null; at++) {
      const plan = operators[at];
      const step: Step = { at, columns: row, body: (steps.at(-1)?.body ?? body).part() };
      if (plan === undefined) {
        const refused = end(row, step.body);
        if (refused === null) steps.push(step);
        return refused;
      }
      if (row.isWhole === true && entryOf !== null && hasKernel(plan)) {
        if (at === position) return new Refusal(`\`${plan.text.split('(')[0]}\` takes whole rows`, true);
        steps.push(step);
        this.#runOn(entryOf(at), row.row(), step.body);
        return null;
      }
      steps.push(step);
      this.program.budget.spend();
      const behind = this.#operator(plan, step, (passed, inner) => this.#operators(run, at + 1, passed, inner));
      if (behind instanceof Refusal) return behind;
      if (entryOf !== null) this.#note(plan, at, behind, step.body);
      row = behind;
    }
    return null;
  }

  /** Notes, where the operator is printed, how it runs. `behind`: what goes on from it in the same function. */
  #note(plan: OperatorPlan, at: number, behind: Columns | null, body: Body): void {
    const { decisions } = this.program;
    body.note(() => {
      if (behind !== null) decisions.operator(this.index, at, { by: 'statements' });
      else decisions.operator(this.index, at, { by: 'kernel', form: 'columns', why: null, kernel: this.program.kernelNode(plan) });
    });
  }

  /** Hands a row to operators that take rows one by one. */
  #runOn(entry: string, row: string, body: Body): void {
    body.add(`${entry}.process(${row});`);
    if (this.program.isTimed(this.index)) body.add(() => `${this.node}.schedule();`);
  }

  /**
   * Kernels for the operators of the chain that rows come to whole, and nothing else: what they give goes on as rows to the operator
   * behind. Those that have no kernel of such a form stay as they are.
   */
  printRowKernels(): void {
    if (!modelOf(this.plan).operators.some(hasKernel)) return;
    this.plan.operators.forEach((plan, at) => {
      if (!this.program.kernels.has(plan) && hasKernel(plan)) this.#printRowKernel(plan, at);
    });
  }

  /** A kernel for a source that rows come to whole and nothing else; where it has none, what takes them one by one stays. */
  printRowSource(isWatched: boolean): void {
    const { source } = this.plan;
    if (!this.program.kernels.has(source)) this.#parts.fusers.rowSource(source)?.(this, isWatched);
  }

  #printRowKernel(plan: OperatorPlan, at: number): void {
    const { module, decisions } = this.program;
    const next = module.late((runtime) => (runtime.kernel(plan) as { readonly next: Next } | undefined)?.next);
    const columns = new RowColumns(module, { type: null, isEvent: false });
    const decided = this.#operator(plan, { at, columns, body: new Body(module.names) }, (behind, inner) => {
      const row = rowOf(behind);
      if (row instanceof Refusal) return row;
      inner.add(`${next}.process(${row});`);
      return null;
    });
    if (decided instanceof Refusal) {
      decisions.operator(this.index, at, { by: 'rows', why: decided.why });
      return;
    }
    this.program.useKernel(plan);
    decisions.operator(this.index, at, { by: 'kernel', form: 'rows', why: null, kernel: this.program.kernelNode(plan) });
  }

  #operator(plan: OperatorPlan, { columns, body }: Step, rest: DecideRow): Columns | null | Refusal {
    const { program, index, plan: stream } = this;
    const fuse = this.#parts.fusers.operator(plan);
    return fuse instanceof Refusal
      ? fuse
      : fuse(plan, { program, fusion: this, module: program.module, stream, index, columns, body, rest });
  }

  /** The last operator at which a row can be made hands it to those that run one by one, in place of its own step. Null = there is none. */
  #runFrom(steps: readonly Step[], { entryOf }: OperatorRun, why: string): readonly Step[] | null {
    const place = steps.findLastIndex(({ columns }) => columns.isPartial !== true);
    const step = steps[place];
    if (entryOf === null || step === undefined) return null;
    const { at, columns } = step;
    const body = step.body.instead();
    // Every event would have to be made whole, or is and nothing stands before: nothing is gained.
    const isEach = columns.fields === null && !body.mayReturn && columns.isRare !== true;
    if (isEach || (columns.isWhole === true && place === 0)) return null;
    body.note(() => this.program.decisions.operator(this.index, at, { by: 'rows', why }));
    this.#runOn(entryOf(at), columns.row(), body);
    return [...steps.slice(0, place), { ...step, body }];
  }

  /** The end of the chain: a result, for the streams that follow. */
  #end(columns: Columns, body: Body, { isDirect, rule, head }: Way): Refusal | null {
    body.add(rule !== null && body.root === head ? rule.countsResult : () => `${this.counters}.eventsOut++;`);
    const followers = this.#parts.followers(`stream:${this.index}`, columns, isDirect);
    if (followers instanceof Refusal) return followers;
    handOn(followers, body, (call) => (isDirect ? call : `defer(()=>{${call};},${this.node})`));
    return null;
  }
}

/** Statements that hand a row on to all that follow. `called`: what stands in the place of a call. */
export function handOn(followers: readonly Follower[], body: Body, called = (call: string): string => call): void {
  for (const { note, print } of followers) {
    body.note(note);
    body.add(() => print().reduce((text, call) => `${text}${called(call)};`, ''));
  }
}

/** Says of which operator the reason is, where that takes all rows of the stream with it. */
function located(refused: Refusal, { operators }: OperatorRun, steps: readonly Step[]): Refusal {
  const plan = operators[steps.at(-1)?.at ?? -1];
  if (refused.isLocated || plan === undefined) return refused;
  return new Refusal(`\`${plan.text.split('(')[0]}\`: ${refused.why}`, true);
}
