import type { PlanExpression, StepPlan, StreamPlan } from '../../../../shared/language/plan/plan.ts';
import type { FusedRuntime } from '../fused-runtime.ts';
import { Body } from '../module-text.ts';
import { printTyped } from '../print-typed.ts';
import { boxed, CannotFuse, representationOf, type Typed } from '../typed.ts';
import type { AutomatonState, Transition } from './automaton.ts';
import type { Candidate } from './candidate.ts';
import { printCondition } from './conditions.ts';
import { equalityOf, residualOf, watchesOf, whereOf } from './homes.ts';
import { MatchText } from './match-text.ts';
import type { KernelForm, PatternKernel } from './pattern-kernel.ts';
import type { PatternParts } from './pattern-parts.ts';
import { RunPlaces } from './run-places.ts';
import { collectsMatches, emitsFor, type Scene, transitionsFor } from './scene.ts';
import { TogetherText } from './together-text.ts';

/** Values that JavaScript's own signs compare. */
const COMPARED: ReadonlySet<Typed['as']> = new Set(['number', 'timestamp', 'duration']);

/** Id of the state before there is a run. */
const INITIAL = -1;

/** Prints the functions that take a pattern's events. */
export class PatternText {
  readonly #parts: PatternParts;
  readonly #kernel: string;
  readonly #matches: MatchText;
  /** Name of the kernel's open runs. */
  readonly open: string;
  readonly #places: RunPlaces;
  readonly #together: TogetherText;
  readonly #whole: string;
  /** By candidate: the states whose conditions may fail for it. */
  readonly #failing = new Map<Candidate, Set<number>>();
  /** How the partition's key stands in generated code. */
  readonly key: KernelForm['key'];

  constructor(parts: PatternParts) {
    this.#parts = parts;
    const { module, source, stream } = parts;
    const kernel = (runtime: FusedRuntime): PatternKernel | undefined => runtime.kernel(source) as PatternKernel | undefined;
    this.#kernel = module.late(kernel);
    this.#matches = new MatchText(parts, this.#kernel);
    this.open = module.late((runtime) => kernel(runtime)?.open);
    this.#together = new TogetherText(parts, this.#kernel);
    this.#places = new RunPlaces(parts, { kernel: this.#kernel, kernelOf: kernel, catchUps: this.#together.catchUps });
    this.#whole = module.late((runtime) => kernel(runtime)?.whole);
    this.key = keyOf(stream);
  }

  /** Prints the functions by which runs come to know what their lists have taken; gives their names by id of the state, in order. */
  printCatchUps(): ReadonlyMap<number, string> {
    return this.#together.printCatchUps();
  }

  /** Finds out what the function for an origin reads, and what of it may fail. @throws CannotFuse */
  note(candidate: Candidate): void {
    this.#print(candidate, new Body(this.#parts.module.names), 'c0');
    const states = [...(this.#failing.get(candidate) ?? [])].filter((id) => id !== INITIAL);
    if (states.length > 1) throw new CannotFuse(); // Which run's condition fails first would depend on more than one list.
  }

  /** Prints the function for the events of an origin; gives its name. */
  receive(candidate: Candidate, runClass: string): string {
    return this.#parts.module.function(
      () => candidate.parameters,
      (body) => this.#print(candidate, body, runClass),
    );
  }

  #print(candidate: Candidate, body: Body, runClass: string): void {
    const { automaton, plan } = this.#parts;
    const scene = this.#scene(candidate, body, runClass);
    if (this.#failing.has(candidate)) this.#try(scene);
    body.add(`const ${scene.at}=++${this.#kernel}.received;`);
    this.#askAll(scene);
    if (scene.isEnded !== null) body.add(`if(${scene.isEnded})${this.#kernel}.endUntil(${scene.at},${scene.key ?? 'null'});`);
    if (scene.isCollecting) body.add(this.#matches.collected(candidate, scene.at, scene.key));
    const isOpening = transitionsFor(candidate, automaton.initial).length > 0;
    if (isOpening) body.add(`if(${this.open}.size>${plan.runsMax})${this.#kernel}.keepBudget();`);
  }

  /** An event for which a condition fails changes nothing: all are tried before anything is done. */
  #try({ isTaken, ...scene }: Scene): void {
    const { module, node } = this.#parts;
    const trial = new Body(module.names);
    this.#askAll({ ...scene, isTaken, body: trial, isTrial: true });
    const thrown = module.names.mint('e');
    const row = scene.candidate.valueOf({ aspect: 'row', name: '', as: 'value' });
    const whole = scene.candidate.isEvent ? `${row}===null?rowOfEvent():${row}` : row;
    scene.body.add(`try{${trial.text}}catch(${thrown}){${node}.fail(${thrown},${whole},null);return;}`);
    if (isTaken !== null) scene.body.add(`${isTaken}=false;`);
  }

  /** Runs that stand later are asked first, so that none is asked twice; then whether the event opens one. */
  #askAll(scene: Scene): void {
    const { automaton, plan } = this.#parts;
    const { relevance } = scene.candidate;
    for (const state of [...automaton.states].reverse()) {
      const isConcerned = this.#breaks(scene) || watchesOf(state, plan).some((id) => relevance.isWatched[id]);
      if (!state.isOver && isConcerned) scene.body.add(this.#together.ask(state, scene, (shared) => this.#askEach(state, scene, shared)));
    }
    const opening = transitionsFor(scene.candidate, automaton.initial);
    if (opening.length > 0) this.#open(opening, scene);
  }

  #scene(candidate: Candidate, body: Body, runClass: string): Scene {
    const { automaton, homes, module } = this.#parts;
    const at = module.names.mint('p');
    const key = this.#printKey(candidate, body);
    const hasLists = homes.some((home, id) => home === null && automaton.states[id]?.isOver === false);
    const lists = !hasLists ? null : key === null ? this.#whole : module.names.mint('b');
    if (lists !== null && key !== null) body.add(`let ${lists}=${this.#kernel}.partition(${key});`);
    const isTaken = automaton.initial.transitions.some(({ skipsLeading }) => skipsLeading) ? module.names.mint('h') : null;
    if (isTaken !== null) body.add(`let ${isTaken}=false;`);
    const isCollecting = collectsMatches(automaton, candidate);
    const isEnded =
      this.#parts.plan.afterMatch === 'skip_past_last' && !isCollecting && emitsFor(candidate, automaton) ? module.names.mint('h') : null;
    if (isEnded !== null) body.add(`let ${isEnded}=false;`);
    return { candidate, body, runClass, at, key, lists, isTaken, isEnded, isCollecting, isTrial: false };
  }

  #printKey(candidate: Candidate, body: Body): string | null {
    const { module, stream } = this.#parts;
    const values = stream.partition.keys.map(({ value }) => printTyped(value, { module, body, readable: candidate }));
    if (values.some(({ canFail, as }) => canFail || as === 'value')) throw new CannotFuse();
    const [only] = values;
    if (only === undefined) return null;
    if (values.length > 1) return body.bind(`keyText([${values.map(boxed).join(',')}])`);
    return only.isSimple ? only.text : body.bind(only.text);
  }

  /** `shared`: name of what the runs have taken together; '' where each takes for itself. */
  #askEach(state: AutomatonState, scene: Scene, shared: string): string {
    const { names } = this.#parts.module;
    const [run, next] = [names.mint('r'), names.mint('r')];
    const { homes } = this.#parts;
    const isFound = scene.key === null || homes[state.id] === null ? null : `${run}.key===${scene.key}`;
    const known = shared === '' ? '' : `${this.#together.catchUps.get(state.id)}(${run},${shared});`;
    const asked = `${known}${this.#cancel(state, run, scene)}`;
    const text = isFound === null ? asked : `if(${isFound}){${asked}}`;
    return `for(let ${run}=${this.#places.firstOf(state, scene)};${run}!==null;){const ${next}=${run}.next;${text}${run}=${next};}`;
  }

  /** An event of a `.not(..)` ends the run. */
  #cancel(state: AutomatonState, run: string, scene: Scene): string {
    const { cancels } = scene.candidate.relevance;
    const rest = this.#lapse(state, run, scene);
    if (cancels.length === 0 || state.isOver) return rest;
    const conditions = cancels.map((id) => this.#condition(id, state, run, scene));
    const dropped = this.#drop(state, run, scene);
    return conditions.includes(null) ? dropped : `if(${conditions.join('||')})${dropped}else{${rest}}`;
  }

  #drop(state: AutomatonState, run: string, { isTrial }: Scene): string {
    if (isTrial) return '{}';
    return `{${this.#places.leave(run, state)}${this.open}.remove(${run});}`;
  }

  /**
   * What the event does to the run: the time of a `NOT` may be over by it, even if the watermark lags behind. Only an event
   * that concerns the run as it stands finds that out.
   */
  #lapse(state: AutomatonState, run: string, scene: Scene): string {
    const { absence, passed } = state;
    const now = this.#violate(state, run, scene);
    if (absence?.until !== 'gap' || passed === null) return now;
    const isOver = `${scene.candidate.time}>plusTime(${run}.base,${absence.withinMs})`;
    const taken = this.#choices(passed, state, run, scene);
    const equalities = this.#equalities(state, run, scene);
    return `if(${isOver}){${equalities === null ? taken : `if(${equalities}){${taken}}`}}else{${now}}`;
  }

  /** That the event fits one of the equalities that the run waits with; null = it waits without. */
  #equalities(state: AutomatonState, run: string, scene: Scene): string | null {
    const { plan, homes } = this.#parts;
    const { relevance } = scene.candidate;
    if (homes[state.id] !== null) return null;
    const ids = watchesOf(state, plan).filter((id) => relevance.isWatched[id]);
    const conditions = ids.map((id) => equalityOf(plan, id));
    if (conditions.includes(null)) return null;
    return conditions.map((one) => this.#printed(one, state, run, scene) ?? 'true').join('||');
  }

  /** The event of a `NOT` in force ends the run. */
  #violate(state: AutomatonState, run: string, scene: Scene): string {
    const { absence } = state;
    const taken = this.#choices(state, state, run, scene);
    if (absence === null || !scene.candidate.slots.includes(absence.slot)) return taken;
    const condition = this.#condition(absence.slot, state, run, scene);
    const inTime = absence.until === 'pattern' && this.#parts.plan.withinMs !== null ? `${scene.candidate.time}<=${run}.last` : null;
    const conditions = [inTime, condition].filter((one) => one !== null);
    const dropped = this.#drop(state, run, scene);
    return conditions.length === 0 ? dropped : `if(${conditions.join('&&')})${dropped}else{${taken}}`;
  }

  #condition(id: number, state: AutomatonState, run: string, scene: Scene): string | null {
    const { plan, homes } = this.#parts;
    return this.#printed(homes[state.id] === null ? whereOf(plan, id) : residualOf(plan, id), state, run, scene);
  }

  #printed(where: PlanExpression | null, state: AutomatonState, run: string | null, { candidate, body }: Scene): string | null {
    const { form, module } = this.#parts;
    const mayFail = (): void => {
      this.#failing.set(candidate, (this.#failing.get(candidate) ?? new Set()).add(state.id));
    };
    return printCondition(where, { candidate, form, state, run, mayFail }, body, module);
  }

  /** That the pattern's time is not over. */
  #inTime(run: string, { time }: Candidate): string | null {
    const { plan, automaton } = this.#parts;
    if (plan.withinMs === null) return null;
    const { open } = this;
    return automaton.isTimed ? `${time}<=${run}.last` : `${time}<=${run}.last&&(${run}.last>=${open}.due||${open}.isAlive(${run}))`;
  }

  /** Under `.strict()` an event of the sources that no step takes ends the run. */
  #breaks({ candidate }: Scene): boolean {
    return this.#parts.plan.selection === 'strict' && candidate.relevance.isStepSource;
  }

  /** The run takes no more events: a closure that was still open gives its match. */
  #break(state: AutomatonState, run: string, scene: Scene): string {
    const { waitsForEvents } = this.#parts.automaton;
    if (scene.isTrial || !waitsForEvents || !state.pattern.isComplete) return this.#drop(state, run, scene);
    return `{${this.#places.leave(run, state)}${this.open}.remove(${run});${this.#kernel}.collect(${run});}`;
  }

  /** That the event goes on as `.increasing(f)` says; null where nothing is said. */
  #isMonotone(slot: number, { captured }: AutomatonState, run: string | null, { candidate }: Scene): string | null {
    const { plan, form } = this.#parts;
    if (plan.monotone?.slot !== slot) return null;
    const { value, direction } = plan.monotone;
    if (value.kind !== 'field' || value.of.kind !== 'current') throw new CannotFuse();
    const field = candidate.field(value.of, value.name);
    if (field === undefined || !COMPARED.has(field.as)) throw new CannotFuse();
    const isThere = `${field.text}!==null`;
    if (run === null || captured[slot] === false) return isThere;
    const isNext = `${field.text}${direction === 'increasing' ? '>' : '<'}${run}.${form.field(slot, value.name).property}`;
    const isNextOf = captured[slot] === true ? isNext : `(${run}.${form.count(slot).property}===0||${isNext})`;
    return `${isThere}&&${isNextOf}`;
  }

  /** The first step whose condition holds takes the event. `stands`: where the run is; `state`: what it has come to. */
  #choices(state: AutomatonState, stands: AutomatonState, run: string, scene: Scene): string {
    const broken = this.#breaks(scene) ? this.#break(stands, run, scene) : '';
    let text = '';
    for (const transition of transitionsFor(scene.candidate, state)) {
      const { slot, latestMs } = transition;
      const inGap = latestMs === Infinity ? null : `${scene.candidate.time}<=plusTime(${run}.base,${latestMs})`;
      const condition = [inGap, this.#condition(slot, stands, run, scene)].filter((one) => one !== null).join('&&');
      const isMonotone = this.#isMonotone(slot, stands, run, scene);
      const take = `{${this.#take(transition, stands, run, scene)}}`;
      const taking = isMonotone === null ? take : `{if(${isMonotone})${take}else${this.#break(stands, run, scene)}}`;
      text += condition === '' ? taking : `if(${condition})${taking}`;
      if (condition === '') break;
      text += 'else ';
    }
    if (text === '') return broken;
    const last = broken === '' ? text.slice(0, -'else '.length) : `${text}${broken}`;
    const choices = text.endsWith('else ') ? last : text;
    const inTime = this.#inTime(run, scene.candidate);
    if (inTime === null) return choices;
    return `if(${inTime}){${choices}}${broken === '' ? '' : `else${broken}`}`;
  }

  #take(transition: Transition, state: AutomatonState, run: string, scene: Scene): string {
    const { slot, target } = transition;
    const { form, automaton } = this.#parts;
    const { candidate, isTaken } = scene;
    const taken = isTaken === null ? '' : `${isTaken}=true;`;
    if (scene.isTrial) return taken;
    const capture = `${form.capture(run, slot, candidate)}${form.hasLastAt ? `${run}.lastAt=${scene.at};` : ''}`;
    const moved = target.isOver || target === state ? '' : this.#places.move(run, state, target, slot, scene);
    const matched = this.#match(run, state, transition, scene);
    const woken = automaton.isTimed && !target.isOver ? `${this.open}.moved(${run});` : '';
    const rest = `${moved}${woken}${matched}`;
    if (automaton.isList[slot] !== true) return `${taken}${capture}${rest}`;
    const isTooLong = `${form.closureEvents(run)}>${this.#parts.plan.closureMax}`;
    return `${taken}${capture}if(${isTooLong})${this.#kernel}.overflow(${run});${rest === '' ? '' : `else{${rest}}`}`;
  }

  /** The match that the event gives, and the end of a run that can take nothing more. */
  #match(run: string, state: AutomatonState, { slot, target, emits }: Transition, { candidate, isCollecting, isEnded }: Scene): string {
    const closed = target.isOver ? `${this.#places.leave(run, state)}${this.open}.remove(${run});` : '';
    if (!emits) return closed;
    const isOver = target.isOver;
    return `${closed}${isCollecting ? `${this.#kernel}.collect(${run});` : this.#matches.given({ run, slot, candidate, isOver, isEnded })}`;
  }

  /** Prints the function for runs that time gives their match; gives its name. */
  ended(): string {
    return this.#matches.ended();
  }

  /** The event opens a run by the first step that it fits. */
  #open(transitions: readonly Transition[], scene: Scene): void {
    const { plan, automaton } = this.#parts;
    let text = '';
    for (const transition of transitions) {
      const step = plan.steps[transition.slot] as StepPlan;
      const where = this.#printed(step.where, automaton.initial, null, scene);
      const isEnded = scene.isEnded === null ? null : `!${scene.isEnded}`;
      const isLeft = transition.skipsLeading ? `!${scene.isTaken}` : null;
      const isMonotone = this.#isMonotone(transition.slot, automaton.initial, null, scene);
      const conditions = [isEnded, isLeft, where, isMonotone].filter((one) => one !== null);
      text += `${conditions.length === 0 ? '' : `if(${conditions.join('&&')})`}{${this.#begin(transition, scene)}}`;
      if (conditions.length === 0) break;
      text += 'else ';
    }
    scene.body.add(text.endsWith('else ') ? text.slice(0, -'else '.length) : text);
  }

  #begin({ slot, target, emits }: Transition, scene: Scene): string {
    const { plan, form } = this.#parts;
    const { candidate, at, key, runClass } = scene;
    if (target.isOver) throw new CannotFuse();
    if (scene.isTrial) return '';
    const place = this.#places.placeOf(target, slot, () => 'null', scene);
    const last = plan.withinMs === null ? '1/0' : `plusTime(${candidate.time},${plan.withinMs})`;
    const given = [target.id, place, key ?? 'null', at, candidate.time, last, ...form.initial(slot, candidate)];
    const run = this.#parts.module.names.mint('r');
    const { isEnded } = scene;
    const match = (): string => this.#matches.given({ run, slot, candidate, isOver: false, isEnded });
    const matched = !emits ? '' : scene.isCollecting ? `${this.#kernel}.collect(${run});` : match();
    return `const ${run}=new ${runClass}(${given.join(',')});${this.#places.enter(run, target)}${this.open}.add(${run});${matched}`;
  }
}

/** @throws CannotFuse for keys that may be of any kind */
function keyOf({ partition: { keys } }: StreamPlan): KernelForm['key'] {
  const kinds = keys.map(({ value }) => representationOf(value.type));
  if (kinds.includes('value')) throw new CannotFuse();
  return kinds.length > 1 ? 'text' : (kinds[0] ?? null);
}
