import type { InputPlan, OperatorPlan, StreamPlan } from '../../../shared/language/plan/plan.ts';
import { inputsOf } from '../streams/plan-inputs.ts';
import type { Columns } from './columns.ts';
import type { Body } from './module-text.ts';
import { fuserOf } from './operators/registry.ts';
import { PassedColumns } from './passed-columns.ts';
import type { Place } from './place.ts';
import type { ProgramFusion } from './program-fusion.ts';
import { sourceFuserOf } from './sources/registry.ts';
import { CannotFuse } from './typed.ts';

/** A generated function that takes the rows of one input, and what it wants to be given. */
export interface FusedInlet {
  readonly name: string;
  readonly arguments: readonly string[];
}

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
}

const WAITING: Way = { isDirect: false, rule: null, head: null };

/** One stream while it is printed. */
export class StreamFusion {
  readonly plan: StreamPlan;
  readonly index: number;
  readonly #program: ProgramFusion;

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
    if (this.plan.time.on !== null) throw new CannotFuse();
    if (this.plan.source.kind !== 'events') return sourceFuserOf(this.plan.source)(this, origin, columns);
    const reading = this.#program.positions(this.index, origin);
    const inputs = inputsOf(this.plan.source);
    const isStateless = isDirect && reading.length === 1 && this.#isStateless();
    const isEvent = origin.startsWith('event:');
    return reading.map((position) =>
      this.inlet(
        columns,
        (passed, body) => this.#input(inputs[position] as InputPlan, passed, body, { isDirect: isStateless, rule, head: body }),
        { isCounted: rule === null, isEvent, isRare: rule?.holds != null },
      ),
    );
  }

  /** A function for rows that come to this stream. `isCounted`: counted as its events. `isEvent`, `isRare`: as `PassedColumns` has them. */
  inlet(
    columns: Columns,
    print: (columns: Columns, body: Body) => void,
    { isCounted = true, isEvent = false, isRare = false } = {},
  ): FusedInlet {
    const { module } = this.#program;
    const passed = new PassedColumns(columns, module, { isEvent, isRare });
    const name = module.function(
      () => passed.parameters,
      (body) => {
        if (isCounted) body.add(`${this.counters}.eventsIn++;`);
        print(passed, body);
      },
    );
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

  #isStateless(): boolean {
    const stateless = new Set<OperatorPlan['kind']>(['filter', 'select', 'emit', 'context']);
    return this.plan.operators.every(({ kind }) => stateless.has(kind));
  }

  #input(input: InputPlan, columns: Columns, body: Body, way: Way): void {
    const holds = (operators: readonly OperatorPlan[]): boolean => way.rule?.holds != null && operators[0] === way.rule.holds;
    const from = holds(this.plan.operators) ? 1 : 0;
    const end = (rest: Columns, inner: Body): void => this.#chain(from, rest, inner, way);
    this.#operators(input.operators, holds(input.operators) ? 1 : 0, columns, body, end, null);
  }

  #chain(position: number, columns: Columns, body: Body, way: Way): void {
    const end = (rest: Columns, inner: Body): void => this.#end(rest, inner, way);
    this.#operators(this.plan.operators, position, columns, body, end, (at) =>
      this.#program.module.late((runtime) => runtime.node(this.index).entry(at)),
    );
  }

  /** `entryOf` names what runs the operators from a position on one by one; null = nothing does, they must be printed. */
  #operators(
    operators: readonly OperatorPlan[],
    position: number,
    columns: Columns,
    body: Body,
    end: (columns: Columns, body: Body) => void,
    entryOf: ((position: number) => string) | null,
  ): void {
    const plan = operators[position];
    if (plan === undefined) {
      end(columns, body);
      return;
    }
    const next = (rest: Columns, inner: Body): void => this.#operators(operators, position + 1, rest, inner, end, entryOf);
    const { module } = this.#program;
    const place: Place = { program: this.#program, fusion: this, module, stream: this.plan, index: this.index, columns, body, rest: next };
    const fuse = fuserOf(plan);
    const back = this.#program.mark();
    const undo = body.mark();
    try {
      if (fuse === undefined) throw new CannotFuse();
      fuse(plan, place);
    } catch (error) {
      if (!(error instanceof CannotFuse) || entryOf === null) throw error;
      back();
      undo();
      if (columns.fields === null && !body.mayReturn && columns.isRare !== true) throw error; // Every event would have to be made whole: nothing is gained.
      body.add(`${entryOf(position)}.process(${columns.row()});`);
      if (this.#program.isTimed(this.index)) body.add(`${this.node}.schedule();`);
    }
  }

  /** The end of the chain: a result, for the streams that follow. */
  #end(columns: Columns, body: Body, { isDirect, rule, head }: Way): void {
    body.add(rule !== null && body === head ? rule.countsResult : `${this.counters}.eventsOut++;`);
    const followers = this.#program.followers(`stream:${this.index}`, columns, isDirect);
    for (const call of followers) body.add(isDirect ? `${call};` : `defer(()=>${call});`);
  }
}
