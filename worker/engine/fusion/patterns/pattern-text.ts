import type { FieldExpression, PlanExpression, StepPlan, StreamPlan } from '../../../../shared/language/plan/plan.ts';
import { laterSlots } from '../../patterns/lateness.ts';
import type { FusedRuntime } from '../fused-runtime.ts';
import { Body } from '../module-text.ts';
import { printTyped } from '../print-typed.ts';
import { boxed, representationOf, type Typed } from '../typed.ts';
import type { AbsenceInForce, AutomatonState, Transition } from './automaton.ts';
import { printCondition } from './conditions.ts';
import { breaksRuns, collectsMatches, concernsRuns, emitsFor, type HandlerNames, transitionsFor } from './handler-names.ts';
import type { KernelForm } from './kernel-form.ts';
import { MatchText } from './match-text.ts';
import type { PatternInput } from './pattern-input.ts';
import type { PatternKernel } from './pattern-kernel.ts';
import type { PatternParts } from './pattern-parts.ts';
import { equalityOf, residualOf, watchesOf, whereOf } from './run-index-keys.ts';
import { RunIndexText } from './run-index-text.ts';
import { notTooEarly, SharedClosureText } from './shared-closure-text.ts';

/** Prints the functions that take a pattern's events. */
export class PatternText {
  readonly #parts: PatternParts;
  readonly #kernel: string;
  readonly #matches: MatchText;
  /** Name of the kernel's open runs. */
  readonly open: string;
  readonly #index: RunIndexText;
  readonly #together: SharedClosureText;
  readonly #whole: string;
  /** How the partition's key stands in generated code. */
  readonly key: KernelForm['key'];

  constructor(parts: PatternParts) {
    this.#parts = parts;
    const { module, source, stream } = parts;
    const kernel = (runtime: FusedRuntime): PatternKernel | undefined => runtime.kernel(source) as PatternKernel | undefined;
    this.#kernel = module.late(kernel);
    this.#matches = new MatchText(parts, this.#kernel);
    this.open = module.late((runtime) => kernel(runtime)?.open);
    if (parts.isFlat) parts.form.keepInColumns(this.open);
    this.#together = new SharedClosureText(parts, this.#kernel);
    this.#index = new RunIndexText(parts, { kernel: this.#kernel, kernelOf: kernel, catchUps: this.#together.catchUps });
    this.#whole = module.late((runtime) => kernel(runtime)?.whole);
    this.key = keyOf(stream);
  }

  /** By id of the states whose runs take events together: names of the functions by which a run comes to know of what they took. */
  get catchUps(): ReadonlyMap<number, string> {
    return this.#together.catchUps;
  }

  /** The function for the events of an origin; gives its name. */
  receive(input: PatternInput): string {
    return this.#parts.module.define(
      () => input.parameters,
      (body) => this.#print(input, body),
    );
  }

  #print(input: PatternInput, body: Body): void {
    const { automaton, failing, plan } = this.#parts;
    const handler = this.#handler(input, body);
    if (failing.has(input)) this.#try(handler);
    body.add(`const ${handler.at}=++${this.#kernel}.received;`);
    this.#askAll(handler);
    if (handler.isEnded !== null) body.add(`if(${handler.isEnded})${this.#kernel}.endUntil(${handler.at},${handler.key ?? 'null'});`);
    if (handler.isCollecting) body.add(this.#matches.collected(input, handler.at, handler.key));
    const late = [handler.isLate, this.#isLateForLater(input)].filter((one) => one !== null);
    if (late.length > 0) body.add(`if(${late.join('||')})${this.#kernel}.late();`);
    const isOpening = transitionsFor(input, automaton.initial).length > 0;
    if (isOpening) body.add(`if(${this.open}.size>${plan.runsMax})${this.#kernel}.keepBudget();`);
  }

  /** That a later step could have taken the event in a run that is over; null where there is no such step. */
  #isLateForLater({ slots, time }: PatternInput): string | null {
    const { plan, automaton } = this.#parts;
    const isLater = laterSlots(plan, automaton.initial.pattern);
    if (plan.withinMs === null || !slots.some((slot) => isLater[slot])) return null;
    return `${this.#kernel}.isPassed(${time},${plan.withinMs})`;
  }

  /** An event for which a condition fails changes nothing: all are tried before anything is done. */
  #try({ isTaken, ...handler }: HandlerNames): void {
    const { module, node } = this.#parts;
    const trial = new Body(module.names);
    this.#askAll({ ...handler, isTaken, body: trial, isTrial: true });
    const thrown = module.names.mint('e');
    const row = handler.input.valueOf({ aspect: 'row', name: '', as: 'value' });
    const whole = handler.input.isEvent ? `${row}===null?rowOfEvent():${row}` : row;
    handler.body.add(`try{${trial.text}}catch(${thrown}){${node}.fail(${thrown},${whole},null);return;}`);
    if (isTaken !== null) handler.body.add(`${isTaken}=false;`);
  }

  /** Runs that stand later are asked first, so that none is asked twice; then whether the event opens one. */
  #askAll(handler: HandlerNames): void {
    const { automaton, plan } = this.#parts;
    for (const state of [...automaton.states].reverse()) {
      if (concernsRuns(handler.input, state, plan))
        handler.body.add(this.#together.ask(state, handler, (shared) => this.#askEach(state, handler, shared)));
    }
    const opening = transitionsFor(handler.input, automaton.initial);
    if (opening.length > 0) this.#open(opening, handler);
  }

  #handler(input: PatternInput, body: Body): HandlerNames {
    const { automaton, indexKeys, module } = this.#parts;
    const at = module.names.mint('p');
    const key = this.#printKey(input, body);
    const hasLists = indexKeys.some((indexKey, id) => indexKey === null && automaton.states[id]?.isOver === false);
    const lists = !hasLists ? null : key === null ? this.#whole : module.names.mint('b');
    if (lists !== null && key !== null) body.add(`let ${lists}=${this.#kernel}.partition(${key});`);
    const isTaken = automaton.initial.transitions.some(({ skipsLeading }) => skipsLeading) ? module.names.mint('h') : null;
    if (isTaken !== null) body.add(`let ${isTaken}=false;`);
    const isCollecting = collectsMatches(automaton, input);
    const isEnded =
      this.#parts.plan.afterMatch === 'skip_past_last' && !isCollecting && emitsFor(input, automaton) ? module.names.mint('h') : null;
    if (isEnded !== null) body.add(`let ${isEnded}=false;`);
    const isLate = transitionsFor(input, automaton.initial).some((one) => this.#endsAt(one) !== null) ? module.names.mint('h') : null;
    if (isLate !== null) body.add(`let ${isLate}=false;`);
    return { input, body, at, key, lists, isTaken, isEnded, isLate, isCollecting, isTrial: false };
  }

  #printKey(input: PatternInput, body: Body): string | null {
    const { module, stream } = this.#parts;
    const values = stream.partition.keys.map(({ value }) => printTyped(value, { module, body, readable: input }));
    const [only] = values;
    if (only === undefined) return null;
    if (values.length > 1) return body.bind(`keyText([${values.map(boxed).join(',')}])`);
    return only.isSimple ? only.text : body.bind(only.text);
  }

  /** `shared`: name of what the runs have taken together; '' where each takes for itself. */
  #askEach(state: AutomatonState, handler: HandlerNames, shared: string): string {
    const { names } = this.#parts.module;
    const [run, next] = [names.mint('r'), names.mint('r')];
    const { indexKeys } = this.#parts;
    const isFound = handler.key === null || indexKeys[state.id] === null ? null : `${this.#parts.form.member(run, 'key')}===${handler.key}`;
    const known = shared === '' ? '' : `${this.#together.catchUps.get(state.id)}(${run},${shared});`;
    const isNear = notTooEarly(this.#parts.plan, this.#parts.form.member(run, 'first'), handler.input.time);
    const asked = `${known}${when(isNear, this.#cancel(state, run, handler))}`;
    const text = when(isFound, asked);
    const { form } = this.#parts;
    const first = this.#index.firstOf(state, handler);
    return `for(let ${run}=${first};${form.isThere(run)};){const ${next}=${form.member(run, 'next')};${text}${run}=${next};}`;
  }

  /** An event of a `.not(..)` ends the run. */
  #cancel(state: AutomatonState, run: string, handler: HandlerNames): string {
    const { cancels } = handler.input.relevance;
    const rest = this.#lapse(state, state, run, handler);
    if (cancels.length === 0 || state.isOver) return rest;
    const conditions = cancels.map((id) => this.#condition(id, state, run, handler));
    const dropped = this.#drop(state, run, handler);
    return conditions.includes(null) ? dropped : `if(${conditions.join('||')})${dropped}else{${rest}}`;
  }

  #drop(state: AutomatonState, run: string, { isTrial }: HandlerNames): string {
    if (isTrial) return '{}';
    return `{${this.#over(run, state)}}`;
  }

  /** The run is found no more. `last`: where it has come to by the event at hand. */
  #over(run: string, state: AutomatonState, last: AutomatonState = state): string {
    const left = this.#index.leave(run, state);
    if (!this.#parts.isWatched) return `${left}${this.open}.remove(${run});`;
    return `${left}${last === state ? '' : `${run}.state=${last.id};`}${this.#kernel}.over(${run});`;
  }

  /**
   * What the event does to a run that `stands` somewhere, and has come to `state` with time: that of a `NOT` may be over by the
   * event, even if the watermark lags behind. Only an event that concerns the run as it stands finds that out.
   */
  #lapse(state: AutomatonState, stands: AutomatonState, run: string, handler: HandlerNames): string {
    const isHere = state === stands;
    const now = isHere ? this.#violate(state, run, handler) : this.#choices(state, stands, run, handler);
    const { absence, passed } = state;
    if (absence?.until !== 'gap' || passed === null) return now;
    const equalities = isHere ? this.#equalities(state, run, handler) : null;
    const later = when(equalities, this.#lapse(passed, stands, run, handler));
    return `if(${handler.input.time}>plusTime(${this.#parts.form.member(run, 'base')},${absence.deadlineMs})){${later}}else{${now}}`;
  }

  /** That the event fits one of the equalities that the run waits with; null = it waits without. */
  #equalities(state: AutomatonState, run: string, handler: HandlerNames): string | null {
    const { plan, indexKeys } = this.#parts;
    const { relevance } = handler.input;
    if (indexKeys[state.id] !== null) return null;
    const ids = watchesOf(state, plan).filter((id) => relevance.isWatched[id]);
    const conditions = ids.map((id) => equalityOf(plan, id));
    if (conditions.includes(null)) return null;
    return conditions.map((one) => this.#printed(one, state, run, handler) ?? 'true').join('||');
  }

  /** The event of a `NOT` in force ends the run. */
  #violate(state: AutomatonState, run: string, handler: HandlerNames): string {
    const { absence } = state;
    const taken = this.#choices(state, state, run, handler);
    const forbidden = absence?.slots.filter((slot) => handler.input.slots.includes(slot)) ?? [];
    if (absence === null || forbidden.length === 0) return taken;
    const inForce = this.#inForce(absence, run, handler.input);
    const dropped = this.#drop(state, run, handler);
    const fits = forbidden.map((slot) => this.#condition(slot, state, run, handler));
    const conditions = [inForce, fits.includes(null) ? null : fits.map((one) => `(${one})`).join('||')].filter((one) => one !== null);
    return conditions.length === 0 ? dropped : `if(${conditions.map((one) => `(${one})`).join('&&')})${dropped}else{${taken}}`;
  }

  /** That a `NOT` is in force at the event's time; null = it is. */
  #inForce({ until, earliestMs }: AbsenceInForce, run: string, { time }: PatternInput): string | null {
    const { form } = this.#parts;
    if (until === 'gap') return `${time}>=plusTime(${form.member(run, 'base')},${earliestMs})`;
    return until === 'pattern' && this.#parts.plan.withinMs !== null ? `${time}<=${form.member(run, 'last')}` : null;
  }

  #condition(id: number, state: AutomatonState, run: string, handler: HandlerNames): string | null {
    const { plan, indexKeys } = this.#parts;
    return this.#printed(indexKeys[state.id] === null ? whereOf(plan, id) : residualOf(plan, id), state, run, handler);
  }

  #printed(where: PlanExpression | null, state: AutomatonState, run: string | null, { input, body }: HandlerNames): string | null {
    const { form, module } = this.#parts;
    return printCondition(where, { input, form, state, run }, { body, module });
  }

  /** That the pattern's time is not over. */
  #inTime(run: string, { time }: PatternInput): string | null {
    const { plan, automaton, form } = this.#parts;
    if (plan.withinMs === null) return null;
    const { open } = this;
    const last = form.member(run, 'last');
    return automaton.isTimed ? `${time}<=${last}` : `${time}<=${last}&&(${last}>=${open}.due||${open}.isAlive(${run}))`;
  }

  /** The run takes no more events: a closure that was still open gives its match. */
  #break(state: AutomatonState, run: string, handler: HandlerNames): string {
    const { waitsForEvents } = this.#parts.automaton;
    if (handler.isTrial || !waitsForEvents || !state.pattern.isComplete) return this.#drop(state, run, handler);
    return `{${this.#over(run, state)}${this.#kernel}.collect(${run});}`;
  }

  /** That the event goes on as `.increasing(f)` says; null where nothing is said. */
  #isMonotone(slot: number, { captured }: AutomatonState, run: string | null, { input }: HandlerNames): string | null {
    const { plan, form } = this.#parts;
    if (plan.monotone?.slot !== slot) return null;
    const { value, direction } = plan.monotone;
    const { of, name } = value as FieldExpression;
    const field = input.field(of, name) as Typed;
    const isThere = `${field.text}!==null`;
    if (run === null || captured[slot] === false) return isThere;
    const isNext = `${field.text}${direction === 'increasing' ? '>' : '<'}${run}.${form.field(slot, name)?.property}`;
    const isNextOf = captured[slot] === true ? isNext : `(${run}.${form.count(slot).property}===0||${isNext})`;
    return `${isThere}&&${isNextOf}`;
  }

  /** The first step whose condition holds takes the event. `stands`: where the run is; `state`: what it has come to. */
  #choices(state: AutomatonState, stands: AutomatonState, run: string, handler: HandlerNames): string {
    const broken = breaksRuns(handler.input, this.#parts.plan) ? this.#break(stands, run, handler) : '';
    let text = '';
    for (const transition of transitionsFor(handler.input, state)) {
      const { slot } = transition;
      const inGap = isInGap(transition, run, handler.input);
      const condition = [inGap, this.#condition(slot, stands, run, handler)].filter((one) => one !== null).join('&&');
      const isMonotone = this.#isMonotone(slot, stands, run, handler);
      const take = `{${this.#take(transition, stands, run, handler)}}`;
      const taking = isMonotone === null ? take : `{if(${isMonotone})${take}else${this.#break(stands, run, handler)}}`;
      text += condition === '' ? taking : `if(${condition})${taking}`;
      if (condition === '') break;
      text += 'else ';
    }
    if (text === '') return broken;
    const last = broken === '' ? text.slice(0, -'else '.length) : `${text}${broken}`;
    const choices = text.endsWith('else ') ? last : text;
    const inTime = this.#inTime(run, handler.input);
    if (inTime === null) return choices;
    return `if(${inTime}){${choices}}${broken === '' ? '' : `else${broken}`}`;
  }

  #take(transition: Transition, state: AutomatonState, run: string, handler: HandlerNames): string {
    const { slot, target } = transition;
    const { form, automaton } = this.#parts;
    const { input, isTaken } = handler;
    const taken = isTaken === null ? '' : `${isTaken}=true;`;
    if (handler.isTrial) return taken;
    const capture = `${form.capture(run, slot, input)}${form.hasLastAt ? `${run}.lastAt=${handler.at};` : ''}`;
    const moved = target.isOver || target === state ? '' : this.#index.move(run, state, target, slot, handler);
    const matched = this.#match(run, state, transition, handler);
    const woken = automaton.isTimed && !target.isOver ? `${this.open}.moved(${run});` : '';
    const rest = `${moved}${woken}${matched}`;
    if (automaton.isList[slot] !== true) return `${taken}${capture}${rest}`;
    const isTooLong = `${form.closureEvents(run)}>${this.#parts.plan.closureMax}`;
    return `${taken}${capture}if(${isTooLong})${this.#kernel}.overflow(${run});${rest === '' ? '' : `else{${rest}}`}`;
  }

  /** The match that the event gives, and the end of a run that can take nothing more. */
  #match(run: string, state: AutomatonState, { slot, target, emits }: Transition, { input, isCollecting, isEnded }: HandlerNames): string {
    const closed = target.isOver ? this.#over(run, state, target) : '';
    if (!emits) return closed;
    const isOver = target.isOver;
    return `${closed}${isCollecting ? `${this.#kernel}.collect(${run});` : this.#matches.given({ run, slot, input, isOver, isEnded })}`;
  }

  /** The function for runs that time gives their match; gives its name. */
  ended(): string {
    return this.#matches.ended();
  }

  /** The event opens a run by the first step that it fits. */
  #open(transitions: readonly Transition[], handler: HandlerNames): void {
    const { plan, automaton } = this.#parts;
    let text = '';
    for (const transition of transitions) {
      const step = plan.steps[transition.slot] as StepPlan;
      const where = this.#printed(step.where, automaton.initial, null, handler);
      const isEnded = handler.isEnded === null ? null : `!${handler.isEnded}`;
      const isLeft = transition.skipsLeading ? `!${handler.isTaken}` : null;
      const isMonotone = this.#isMonotone(transition.slot, automaton.initial, null, handler);
      const conditions = [isEnded, isLeft, where, isMonotone].filter((one) => one !== null);
      text += `${conditions.length === 0 ? '' : `if(${conditions.join('&&')})`}{${this.#begin(transition, handler)}}`;
      if (conditions.length === 0) break;
      text += 'else ';
    }
    handler.body.add(text.endsWith('else ') ? text.slice(0, -'else '.length) : text);
  }

  #begin({ slot, target, emits }: Transition, handler: HandlerNames): string {
    const { plan, form, runClass, module } = this.#parts;
    const { input, at, key } = handler;
    if (handler.isTrial) return '';
    const place = this.#index.placeOf(target, slot, () => 'null', handler);
    const last = plan.withinMs === null ? '1/0' : `plusTime(${input.time},${plan.withinMs})`;
    const endsMs = this.#endsAt({ target });
    const given = [String(target.id), place, key ?? 'null', at, input.time, last];
    const run = module.names.mint('r');
    const { isEnded } = handler;
    const match = (): string => this.#matches.given({ run, slot, input, isOver: false, isEnded });
    const matched = !emits ? '' : handler.isCollecting ? `${this.#kernel}.collect(${run});` : match();
    const begins = form.begin(run, () => module.use(runClass), given, { slot, input });
    const opened = this.#parts.isFlat ? '' : `${this.open}.add(${run});`;
    const begun = `${begins}${this.#index.enter(run, target)}${opened}${matched}`;
    if (endsMs === null) return begun;
    return `if(${this.#kernel}.isPassed(${input.time},${endsMs}))${handler.isLate}=true;else{${begun}}`;
  }

  /** How long (ms) a run that has taken its first event lasts when nothing else comes; null = for ever, or till its match. */
  #endsAt({ target }: Pick<Transition, 'target'>): number | null {
    const { withinMs } = this.#parts.plan;
    const gapMs = target.pattern.needsEvent ? target.pattern.dueTime : Infinity;
    const endsMs = Math.min(withinMs ?? Infinity, gapMs);
    return endsMs === Infinity ? null : endsMs;
  }
}

/** That the event comes within the step's own `within`; null where it has none. */
function isInGap({ earliestMs, latestMs }: Transition, run: string, { time }: PatternInput): string | null {
  const bounds = [
    ...(latestMs === Infinity ? [] : [`${time}<=plusTime(${run}.base,${latestMs})`]),
    ...(earliestMs === -Infinity ? [] : [`${time}>=plusTime(${run}.base,${earliestMs})`]),
  ];
  return bounds.length === 0 ? null : bounds.join('&&');
}

function when(condition: string | null, text: string): string {
  return condition === null ? text : `if(${condition}){${text}}`;
}

/** How the partition's key stands in generated code. */
function keyOf({ partition: { keys } }: StreamPlan): KernelForm['key'] {
  const kinds = keys.map(({ value }) => representationOf(value.type));
  return kinds.length > 1 ? 'text' : (kinds[0] ?? null);
}
