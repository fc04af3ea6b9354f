import type { WindowOperatorPlan } from '../../../../shared/language/plan/plan.ts';
import type { Next, OperatorEnvironment } from '../../operators/operator.ts';
import type { KernelFactory } from '../fused-runtime.ts';
import type { FusionContext } from '../fusion-context.ts';
import { Body } from '../module-text.ts';
import { Refusal } from '../typed.ts';
import { Intake, type IntakeNeeds } from './intake.ts';
import type { TakingNames } from './numeric-states.ts';
import { decideResult, handToWindow, type KernelNames, kernelNames, printHeader, type ResultPrint } from './print-window.ts';

/** What windows that close one after the other differ in: those of time, of events, and sessions. */
export interface ClosingWindow {
  readonly fields: IntakeNeeds['fields'];
  /** Of the result of a slot. */
  readonly result: (names: KernelNames, slot: string) => Pick<ResultPrint, 'frame' | 'release'>;
  /** The statements that take one row. */
  readonly take: (intake: Intake, names: KernelNames & { readonly close: (slot: string) => string }, body: Body) => void;
  readonly create: (intake: Intake, next: Next, environment: OperatorEnvironment) => ReturnType<KernelFactory>;
  /** Windows close by time: taking a row tells whether it was late. Otherwise with a row, whose results may then fail. */
  readonly closesByTime: boolean;
  /** A row whose value an aggregate refuses is taken without it: taking it gives what the aggregate threw. Else it throws that. */
  readonly keepsRefused?: boolean;
}

/** A window that hands on the result of a slot when that closes. */
export function fuseClosingWindow(plan: WindowOperatorPlan, window: ClosingWindow, context: FusionContext): Refusal | null {
  return handToWindow(plan, context, () => {
    const { module } = context;
    const names = kernelNames(plan, context);
    const intake = Intake.of(plan, { fields: window.fields, handsOn: false, objectsOf: names.objects }, context);
    if (intake instanceof Refusal) return intake;
    const slot = module.names.mint('a');
    const [closing, taking] = [new Body(module.names), new Body(module.names)];
    const itemsMayFail = decideResult({ plan, intake, names, slot, ...window.result(names, slot) }, { ...context, body: closing });
    if (itemsMayFail instanceof Refusal) return itemsMayFail;
    const close = module.define(() => [slot], closing);
    window.take(intake, { ...names, close: (one) => module.call({ name: close, arguments: [one] }) }, taking);
    const take = module.define(() => intake.parameters, taking);
    const { closesByTime } = window;
    return {
      intake,
      take,
      links: () => [take, close],
      create: (_: WindowOperatorPlan, next: Next, environment: OperatorEnvironment) => window.create(intake, next, environment),
      canFail: intake.columns.canRefuse || (itemsMayFail && !closesByTime),
      mayBeLate: closesByTime,
      keepsRefused: window.keepsRefused === true && intake.columns.refuses,
      waits: closesByTime || intake.expireMs !== null,
    };
  });
}

/** A row goes into the slot that was found for it. `begun`: what the first row of a window does besides. Gives the text of how many it held. */
export function printInto(
  intake: Intake,
  taking: TakingNames,
  names: KernelNames,
  body: Body,
  begun: string,
  add = intake.columns.printAdd(taking),
): string {
  const count = body.bind(`${taking.numbers}[${taking.base}]`);
  body.add(`if(${count}===0){${intake.columns.printClear(taking)}}`);
  body.add(add);
  printHeader(intake, taking, names, body, begun);
  return count;
}

/** The same for a window of time: the slot may have changed, and is told when it has begun. */
export function printIntoOpen(intake: Intake, found: TakingNames, names: KernelNames, body: Body): void {
  const numbers = body.bind(`${names.slots}.numbers`);
  const base = body.bind(`${found.slot}*${intake.width}`);
  const count = printInto(intake, { ...found, numbers, base }, names, body, '');
  body.add(`${numbers}[${base}]=${count}+1;if(${count}===0)${names.kernel}.opened(${found.slot});`);
}
