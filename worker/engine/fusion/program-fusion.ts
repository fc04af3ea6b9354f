import { modelOf } from '../../../shared/language/plan/alike.ts';
import type { Plan } from '../../../shared/language/plan/plan.ts';
import type { RecordType } from '../../../shared/language/plan/types.ts';
import { isWaiting } from '../operators/operator-facts.ts';
import type { KernelNode, PhysicalPlan } from '../physical/physical-plan.ts';
import { readersOf } from '../streams/routes.ts';
import { Decisions } from './decisions.ts';
import type { FusedRuntime, KernelFactory } from './fused-runtime.ts';
import { ModuleText } from './module-text.ts';
import { SharedFunctions } from './shared-functions.ts';
import { TextBudget } from './text-budget.ts';
import { Refusal } from './typed.ts';

/** So many streams and kernels are decided one inside the other; what follows them takes rows. It keeps this far from the end of the stack. */
const DEPTH_MAX = 128;

/** A kernel as a family of operators decides it. `links`: names of functions, asked for when everything is decided. */
export interface DecidedKernel {
  readonly create: KernelFactory;
  readonly links: () => readonly string[];
  readonly node: KernelNode;
}

/** A kernel that stands in the module: where what it is linked with stands among what the module exports. */
interface UsedKernel {
  readonly create: KernelFactory;
  readonly links: readonly number[];
}

/** What the streams of a program share while it is decided how they run, and while that is printed. */
export class ProgramFusion {
  readonly plan: Plan;
  readonly module = new ModuleText<FusedRuntime>();
  readonly functions = new SharedFunctions();
  readonly decisions = new Decisions();
  readonly budget: TextBudget;
  #depth = 0;
  readonly #decided = new Map<object, DecidedKernel>();
  readonly #kernels = new Map<object, UsedKernel>();
  readonly #records: ReadonlyMap<string, RecordType>;
  readonly #once = new Map<string, string>();
  readonly #derived = new Map<unknown, unknown>();
  readonly #kernelNames = new Map<object, string>();
  readonly #readers: ReturnType<typeof readersOf>;
  /** Some stream reads another one. */
  readonly #hasFollowers: boolean;

  constructor(plan: Plan) {
    this.plan = plan;
    this.budget = new TextBudget(plan);
    this.#records = new Map(plan.events.map(({ name, fields }) => [name, { kind: 'record', name, fields }]));
    this.#readers = readersOf(plan);
    this.#hasFollowers = this.origins.some((origin) => origin.startsWith('stream:'));
  }

  /** By the plan of the operator or source that a kernel takes the place of: those that are printed. */
  get kernels(): ReadonlyMap<object, UsedKernel> {
    return this.#kernels;
  }

  /** The kernel of an operator or source, as it was decided for the first that leads to it. */
  kernel<P extends DecidedKernel>(plan: object, decide: () => P | Refusal): P | Refusal {
    const known = this.#decided.get(plan);
    if (known !== undefined) return known as P;
    const decided = decide();
    if (!(decided instanceof Refusal)) this.#decided.set(plan, decided);
    return decided;
  }

  /** To be called where something is printed that leads to a kernel: it stands in the module from now on. */
  useKernel(plan: object): void {
    if (this.#kernels.has(plan)) return;
    const { create, links } = this.#decided.get(plan) as DecidedKernel;
    const exported: number[] = [];
    this.#kernels.set(plan, { create, links: exported });
    exported.push(...links().map((name) => this.module.export(this.module.use(name))));
  }

  /** What the physical plan says of a kernel. */
  kernelNode(plan: object): KernelNode {
    return (this.#decided.get(plan) as DecidedKernel).node;
  }

  /** How the program runs, as it was decided. */
  get physicalPlan(): PhysicalPlan {
    return this.decisions.planOf(this.plan, (source) => (this.#kernels.has(source) ? this.kernelNode(source) : null));
  }

  /** A name for the kernel of an operator or source. */
  kernelName(plan: object): string {
    let name = this.#kernelNames.get(plan);
    if (name === undefined) {
      name = this.module.late((runtime) => runtime.kernel(plan));
      this.#kernelNames.set(plan, name);
    }
    return name;
  }

  /** What is known of the program's plan, found out once. */
  derived<T>(derive: (plan: Plan, program: ProgramFusion) => T): T {
    if (!this.#derived.has(derive)) this.#derived.set(derive, derive(this.plan, this));
    return this.#derived.get(derive) as T;
  }

  /** Decides what stands one step further inside; refused where that is too deep, or the program would become too long. */
  deeper(decide: () => Refusal | null): Refusal | null {
    if (this.#depth >= DEPTH_MAX) return new Refusal('too many streams and windows stand one behind the other');
    if (this.budget.isSpent) return new Refusal('the generated code of the program would become too long');
    this.#depth++;
    const refused = decide();
    this.#depth--;
    return refused;
  }

  declared(type: string): RecordType | null {
    return this.#records.get(type) ?? null;
  }

  /** Origins that streams read. */
  get origins(): readonly string[] {
    return [...this.#readers.keys()];
  }

  /** The streams that read an origin, in order of declaration. */
  readersOf(origin: string): readonly number[] {
    return [...(this.#readers.get(origin)?.keys() ?? [])];
  }

  isRead(origin: string): boolean {
    return this.#readers.has(origin);
  }

  /** Whether some stream reads the rows of this one. */
  isFollowed(stream: number): boolean {
    return this.#hasFollowers && this.isRead(`stream:${stream}`);
  }

  positions(stream: number, origin: string): readonly number[] {
    return this.#readers.get(origin)?.get(stream) ?? [];
  }

  isTimed(index: number): boolean {
    const stream = this.plan.streams[index];
    return stream !== undefined && (stream.source.kind !== 'events' || modelOf(stream).operators.some(isWaiting));
  }

  /** A name that several places use, made when it is first wanted. */
  once(key: string, make: () => string): string {
    let name = this.#once.get(key);
    if (name === undefined) {
      name = make();
      this.#once.set(key, name);
    }
    return name;
  }
}
