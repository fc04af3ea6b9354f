import type { LineDiagnostic } from '../../shared/events/reading/read-result.ts';
import { countUnknown } from '../../shared/events/unknown-members.ts';
import { counted, thousands } from '../counts.ts';
import { visible } from '../event-text.ts';

/** Problems of one kind that are reported one by one; the others are counted. */
export const REPORTED_MAX = 100;

/** A line of the event file whose event was not taken, and why. */
export interface InvalidEvent {
  readonly line: number;
  readonly type: string;
  /** Empty when the event as a whole is wrong. */
  readonly field: string;
  readonly message: string;
}

/** Counts of a kind of problem and where it came up first, `file:line` or `file:line:column`. */
export interface ProblemCount {
  readonly count: number;
  readonly first: string;
}

/** What `EventProblems` remembers, as data. */
export interface SavedProblems {
  readonly invalid: ProblemCount;
  readonly unreadable: ProblemCount;
  readonly incompleteEvents: number;
  /** By `Type.field`. */
  readonly incomplete: readonly (readonly [string, ProblemCount])[];
  /** Members that mean nothing; absent in what an earlier version has saved. */
  readonly unknown?: readonly (readonly [string, number])[];
}

const NONE: ProblemCount = { count: 0, first: '' };

/**
 * The events of a file that were not as they should be. Reports each as it comes, the hundred first of a kind, and says
 * at the end how many of each kind there were.
 */
export class EventProblems {
  /** The file whose lines are told of. */
  file: string;
  readonly #report: (text: string) => void;
  #invalid: ProblemCount;
  #unreadable: ProblemCount;
  #incompleteEvents: number;
  readonly #incomplete: Map<string, ProblemCount>;
  readonly #unknown: Map<string, number>;

  /** `report` takes one or more whole lines without the last line end. */
  constructor(file: string, report: (text: string) => void, saved?: SavedProblems) {
    this.file = file;
    this.#report = report;
    this.#invalid = saved?.invalid ?? NONE;
    this.#unreadable = saved?.unreadable ?? NONE;
    this.#incompleteEvents = saved?.incompleteEvents ?? 0;
    this.#incomplete = new Map(saved?.incomplete);
    this.#unknown = new Map(saved?.unknown);
  }

  get invalid(): number {
    return this.#invalid.count;
  }

  get unreadable(): number {
    return this.#unreadable.count;
  }

  /** Events, not fields. */
  get incomplete(): number {
    return this.#incompleteEvents;
  }

  addInvalid({ line, type, field, message }: InvalidEvent): void {
    const place = `${this.file}:${line}`;
    this.#invalid = oneMore(this.#invalid, place);
    const what = [type, ...(field === '' ? [] : [`field \`${field}\``])].filter((part) => part !== '').map(visible);
    this.#reportOne(this.#invalid, `${place}: invalid event: ${what.length === 0 ? '' : `${what.join(', ')}: `}${message}`);
  }

  addUnreadable({ line, column, message, excerpt, excerptColumn, hint }: LineDiagnostic): void {
    const place = `${this.file}:${line}:${column}`;
    this.#unreadable = oneMore(this.#unreadable, place);
    const lines = [`${place}: unreadable line: ${message}`, `  | ${excerpt}`, `  | ${' '.repeat(excerptColumn - 1)}^`];
    this.#reportOne(this.#unreadable, [...lines, ...(hint === undefined ? [] : [`  hint: ${hint}`])].join('\n'));
  }

  addIncomplete(type: string, fields: readonly string[], line: number): void {
    this.#incompleteEvents++;
    for (const field of fields) {
      const key = `${type}.${field}`;
      this.#incomplete.set(key, oneMore(this.#incomplete.get(key) ?? NONE, `${this.file}:${line}`));
    }
  }

  /** How many events had a member that means nothing, by its name. */
  get unknownMembers(): ReadonlyMap<string, number> {
    return this.#unknown;
  }

  addUnknownMembers(names: readonly string[]): void {
    this.addUnknownCounts(names.map((name) => [name, 1]));
  }

  addUnknownCounts(counts: Iterable<readonly [string, number]>): void {
    for (const [name, events] of counts) countUnknown(this.#unknown, name, events);
  }

  /** More of the same, each kind of which has been reported one by one as often as it ever is. */
  addCounted({ invalid, unreadable }: { readonly invalid: number; readonly unreadable: number }): void {
    this.#invalid = { ...this.#invalid, count: this.#invalid.count + invalid };
    this.#unreadable = { ...this.#unreadable, count: this.#unreadable.count + unreadable };
  }

  /** Incomplete events that were counted elsewhere: by `Type.field` how many, and the line of the first. */
  addIncompleteCounts(events: number, fields: Iterable<readonly [string, { readonly count: number; readonly line: number }]>): void {
    this.#incompleteEvents += events;
    for (const [key, { count, line }] of fields) {
      const known = this.#incomplete.get(key);
      this.#incomplete.set(key, { count: count + (known?.count ?? 0), first: known?.first ?? `${this.file}:${line}` });
    }
  }

  /** A line for each kind of problem there was, and for each field that was missing. */
  summary(): string[] {
    const { count, first } = this.#unreadable;
    return [
      ...(count > 0 ? [`Unreadable lines:  ${thousands(count)}, first at ${first}`] : []),
      ...(this.invalid > 0 ? [`Invalid events:    ${thousands(this.invalid)}, first at ${this.#invalid.first}`] : []),
      ...(this.#incompleteEvents > 0 ? [`Incomplete events: ${thousands(this.#incompleteEvents)}`] : []),
      ...Array.from(this.#incomplete, ([field, missing]) => {
        return `  ${visible(field)} missing in ${counted(missing.count, 'event')}, first at ${missing.first}`;
      }),
    ];
  }

  save(): SavedProblems {
    return {
      invalid: this.#invalid,
      unreadable: this.#unreadable,
      incompleteEvents: this.#incompleteEvents,
      incomplete: [...this.#incomplete],
      unknown: [...this.#unknown],
    };
  }

  #reportOne({ count }: ProblemCount, text: string): void {
    if (count <= REPORTED_MAX) this.#report(text);
    if (count === REPORTED_MAX) this.#report(`${this.file}: further ones of this kind are only counted`);
  }
}

function oneMore({ count, first }: ProblemCount, place: string): ProblemCount {
  return { count: count + 1, first: count === 0 ? place : first };
}
