import type { InputPlan, OperatorPlan, StreamPlan } from '../../../shared/language/plan/plan.ts';
import type { Next } from '../operators/operator.ts';
import { hasKernel, isStatements } from '../operators/operator-facts.ts';
import type { Execution } from '../physical/physical-plan.ts';
import { inputsOf } from '../streams/plan-inputs.ts';
import { originsOf } from '../streams/routes.ts';
import type { Columns } from './columns.ts';
import { SOURCE } from './decisions.ts';
import { Body } from './module-text.ts';
import { PassedColumns } from './passed-columns.ts';
import type { Place } from './place.ts';
import type { ProgramFusion } from './program-fusion.ts';
import { RowColumns } from './row-columns.ts';
import type { FusedInlet, HandedRow } from './shared-functions.ts';
import { CannotFuse } from './typed.ts';

/** What is known of a stream that is looked up by its first condition. */
export interface RulePart {
  /** The condition, where it holds for every row that is found; else null. */
  readonly holds: OperatorPlan | null;
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

type PrintRow = (columns: Columns, body: Body) => void;

/** `isCounted`: each row counts as an event of the stream. The others as `PassedColumns` has them. */
interface InletTraits {
  readonly isCounted?: boolean;
  readonly takesPlaces?: boolean;
  readonly isRare?: boolean;
}

/** Operators one behind the other. */
interface OperatorRun {
  readonly operators: readonly OperatorPlan[];
  readonly end: PrintRow;
  /** Names what runs the operators from a position on one by one; null = nothing does, they must be printed. */
  readonly entryOf: ((position: number) => string) | null;
}

/** What stood printed before an operator. */
interface Step {
  readonly at: number;
  readonly columns: Columns;
  readonly back: () => void;
  readonly undo: () => void;
}

/** One stream while it is printed. */
export class StreamFusion {
  readonly plan: StreamPlan;
  readonly index: number;
  readonly #program: ProgramFusion;
  #ways: number | null = null;

  constructor(plan: StreamPlan, index: number, program: ProgramFusion) {
    this.plan = plan;
    this.index = index;
    this.#program = program;
  }

  get program(): ProgramFusion {
    return this.#program;
  }

  /**
   * Functions for the rows of an origin, one for each input that reads it. `isDirect`: nothing else is waiting or under way
   * when they are called, so what follows the stream may be called at once. `rule`: whoever looks the stream up counts its events.
   * @throws CannotFuse
   */
  inlets(origin: string, columns: Columns, isDirect: boolean, rule: RulePart | null = null): readonly FusedInlet[] {
    if (this.plan.time.on !== null) throw new CannotFuse('a field says the time of its rows');
    if (this.plan.source.kind !== 'events') {
      const inlets = this.#program.fusers.source(this.plan.source)(this, origin, columns);
      this.#program.decisions.operator(this.index, SOURCE, {
        by: 'kernel',
        form: 'columns',
        why: null,
        kernel: this.#program.kernelNode(this.plan.source),
      });
      return inlets;
    }
    this.#program.decisions.operator(this.index, SOURCE, { by: 'statements' });
    const reading = this.#program.positions(this.index, origin);
    const inputs = inputsOf(this.plan.source);
    const isStateless = isDirect && reading.length === 1 && this.plan.operators.every(isStatements);
    const takesPlaces = origin.startsWith('event:');
    return reading.map((position) => {
      const print = (passed: Columns, body: Body): void =>
        this.#input(inputs[position] as InputPlan, passed, body, { isDirect: isStateless, rule, head: body, takesPlaces });
      if (rule !== null) return this.#inlet(columns, print, { isCounted: false, takesPlaces, isRare: rule.holds !== null });
      return this.inlet(`${origin} ${position} ${isStateless}`, columns, print, { takesPlaces });
    });
  }

  /** A function for rows that come to this stream, one for each form that they have. `purpose`: what it does, among all of this stream. */
  inlet(purpose: string, columns: Columns, print: PrintRow, traits: InletTraits = {}): FusedInlet {
    const { functions } = this.#program;
    const full = `${this.index} ${purpose}`;
    return functions.find(full, columns) ?? this.#inlet(columns, print, traits, full);
  }

  #inlet(columns: Columns, print: PrintRow, { isCounted = true, ...traits }: InletTraits, purpose: string | null = null): FusedInlet {
    const { module, functions } = this.#program;
    const passed: HandedRow = columns instanceof RowColumns ? columns.passed() : new PassedColumns(columns, module, traits);
    const name = module.function(
      () => passed.parameters,
      (body) => {
        if (isCounted) body.add(`${this.counters}.eventsIn++;`);
        print(passed, body);
      },
    );
    if (purpose !== null) functions.add(purpose, { name, passed });
    return { name, arguments: passed.arguments };
  }

  get counters(): string {
    return this.#program.once(`counters:${this.index}`, () => this.#program.module.late((runtime) => runtime.node(this.index).counters));
  }

  get node(): string {
    return this.#program.once(`node:${this.index}`, () => this.#program.module.late((runtime) => runtime.node(this.index)));
  }

  /** Behind a call that may have given the stream something earlier to wait for: `due` is the kernel's earliest deadline. */
  watch(kernel: string, body: Body): void {
    body.add(`if(${kernel}.due<${this.node}.watched)${this.node}.schedule();`);
  }

  /** Prints the stream's chain from its head on, for rows of its source. Results wait for their turn. */
  chain(columns: Columns, body: Body): void {
    this.#chain(0, columns, body, WAITING);
  }

  #input(input: InputPlan, columns: Columns, body: Body, way: Way): void {
    const holds = (operators: readonly OperatorPlan[]): boolean => way.rule?.holds != null && operators[0] === way.rule.holds;
    const from = holds(this.plan.operators) ? 1 : 0;
    const end: PrintRow = (rest, inner) => {
      if (way.rule === null && this.#waysIn > 1) this.#sharedChain(rest, inner, way);
      else this.#chain(from, rest, inner, way);
    };
    this.#operators({ operators: input.operators, end, entryOf: null }, holds(input.operators) ? 1 : 0, columns, body);
  }

  /** In how many ways rows come to the head of the chain. */
  get #waysIn(): number {
    this.#ways ??= [...originsOf(inputsOf(this.plan.source)).values()].reduce((ways, positions) => ways + positions.length, 0);
    return this.#ways;
  }

  /** What follows the inputs is printed once for all of them that give rows of one form. */
  #sharedChain(columns: Columns, body: Body, way: Way): void {
    const isRare = columns.isRare === true || body.mayReturn;
    const purpose = `chain ${way.isDirect} ${way.takesPlaces} ${isRare}`;
    const { functions } = this.#program;
    const traits = { isCounted: false, takesPlaces: way.takesPlaces, isRare };
    const full = `${this.index} ${purpose}`;
    let inlet = functions.find(full, columns);
    if (inlet === undefined) {
      if (functions.count(full) >= Math.max(FORMS_MAX, this.#waysIn)) throw new CannotFuse('its rows come in too many forms');
      inlet = this.#inlet(columns, (passed, inner) => this.#chain(0, passed, inner, way), traits, full);
    }
    body.add(`${inlet.name}(${inlet.arguments.join(',')});`);
  }

  #chain(position: number, columns: Columns, body: Body, way: Way): void {
    const end: PrintRow = (rest, inner) => this.#end(rest, inner, way);
    const entryOf = (at: number): string => this.#program.module.late((runtime) => runtime.node(this.index).entry(at));
    this.#operators({ operators: this.plan.operators, end, entryOf }, position, columns, body);
  }

  #operators(run: OperatorRun, position: number, columns: Columns, body: Body): void {
    const steps: Step[] = [];
    try {
      this.#program.deeper(() => this.#printOperators(run, position, columns, body, steps));
    } catch (error) {
      if (!(error instanceof CannotFuse) || !this.#runFrom(steps, run, body, error.message)) throw located(error, run, steps);
    }
  }

  #printOperators(run: OperatorRun, position: number, columns: Columns, body: Body, steps: Step[]): void {
    const { operators, end } = run;
    let row: Columns | null = columns;
    for (let at = position; row !== null; at++) {
      const plan = operators[at];
      if (plan === undefined) {
        end(row, body);
        return;
      }
      if (row.isWhole === true && run.entryOf !== null && hasKernel(plan)) {
        if (at === position) throw new CannotFuse(`\`${plan.text.split('(')[0]}\` takes whole rows`);
        if (!this.#program.hasKernel(plan)) this.#printRowKernel(plan, at);
        this.#runOn(run.entryOf(at), row.row(), body);
        return;
      }
      steps.push({ at, columns: row, back: this.#program.mark(), undo: body.mark() });
      row = this.#operator(plan, row, body, (behind, inner) => this.#operators(run, at + 1, behind, inner));
      if (run.entryOf !== null) this.#program.decisions.operator(this.index, at, this.#runsOf(plan, row));
    }
  }

  /** Hands a row to operators that take rows one by one. */
  #runOn(entry: string, row: string, body: Body): void {
    body.add(`${entry}.process(${row});`);
    if (this.#program.isTimed(this.index)) body.add(`${this.node}.schedule();`);
  }

  /**
   * Kernels for the operators of the chain that rows come to whole, and nothing else: what they give goes on as rows to the operator
   * behind. Those that have no kernel of such a form stay as they are.
   */
  printRowKernels(): void {
    this.plan.operators.forEach((plan, at) => {
      if (!this.#program.hasKernel(plan) && hasKernel(plan)) this.#printRowKernel(plan, at);
    });
  }

  #printRowKernel(plan: OperatorPlan, at: number): void {
    const { module, decisions } = this.#program;
    const next = module.late((runtime) => (runtime.kernel(plan) as { readonly next: Next } | undefined)?.next);
    const columns = new RowColumns(module, { type: null, isEvent: false });
    const printed = this.#program.attempt(() =>
      this.#operator(plan, columns, new Body(module.names), (behind, inner) => inner.add(`${next}.process(${behind.row()});`)),
    );
    if (printed instanceof CannotFuse) decisions.operator(this.index, at, { by: 'rows', why: printed.message });
    else decisions.operator(this.index, at, { by: 'kernel', form: 'rows', why: null, kernel: this.#program.kernelNode(plan) });
  }

  #operator(plan: OperatorPlan, columns: Columns, body: Body, rest: Place['rest']): Columns | null {
    const { module } = this.#program;
    const fuse = this.#program.fusers.operator(plan);
    if (fuse === undefined) throw new CannotFuse('it has no form in generated code');
    return fuse(plan, { program: this.#program, fusion: this, module, stream: this.plan, index: this.index, columns, body, rest });
  }

  /** `row`: what goes on from the operator in the same function. */
  #runsOf(plan: OperatorPlan, row: Columns | null): Execution {
    return row === null ? { by: 'kernel', form: 'columns', why: null, kernel: this.#program.kernelNode(plan) } : { by: 'statements' };
  }

  /** The last operator at which a row can be made hands it to those that run one by one. False = there is none. */
  #runFrom(steps: readonly Step[], { entryOf }: OperatorRun, body: Body, why: string): boolean {
    if (entryOf === null) return false;
    for (const { at, columns, back, undo } of steps.toReversed()) {
      back();
      undo();
      // Every event would have to be made whole, or is and nothing stands before: nothing is gained.
      if (columns.fields === null && !body.mayReturn && columns.isRare !== true) return false;
      if (columns.isWhole === true && at === steps[0]?.at) return false;
      const row = rowOf(columns);
      if (row === null) continue;
      this.#program.decisions.operator(this.index, at, { by: 'rows', why });
      this.#runOn(entryOf(at), row, body);
      return true;
    }
    return false;
  }

  /** The end of the chain: a result, for the streams that follow. */
  #end(columns: Columns, body: Body, { isDirect, rule, head }: Way): void {
    body.add(rule !== null && body === head ? rule.countsResult : `${this.counters}.eventsOut++;`);
    const followers = this.#program.followers(`stream:${this.index}`, columns, isDirect);
    for (const call of followers) body.add(isDirect ? `${call};` : `defer(()=>${call},${this.node});`);
  }
}

/** Says of which operator the reason is, where that takes all rows of the stream with it. */
function located(error: unknown, { operators }: OperatorRun, steps: readonly Step[]): unknown {
  const plan = operators[steps.at(-1)?.at ?? -1];
  if (!(error instanceof CannotFuse) || plan === undefined || error.message.startsWith('`')) return error;
  return new CannotFuse(`\`${plan.text.split('(')[0]}\`: ${error.message}`);
}

/** Null where the row cannot be made. */
function rowOf(columns: Columns): string | null {
  try {
    return columns.row();
  } catch (error) {
    if (!(error instanceof CannotFuse)) throw error;
    return null;
  }
}
