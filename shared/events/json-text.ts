import { JsonScanner } from './reading/json-scanner.ts';
import { UnreadableText, type ValueProblem } from './reading/scan-problem.ts';
import type { Value } from './value.ts';

/** Objects around an event in a request or a message count too, so this is above the limit of one event. */
const DEPTH_MAX_DEFAULT = 64;

/** What a JSON text holds. Only the text tells `9007199254740993`, an unsafe integer, from `9007199254740993.0`, a float. */
export type JsonReading = JsonContent | UnreadableJson;

export interface JsonContent {
  readonly kind: 'value';
  /** Objects are maps in written order. Where a problem lies, null or NaN stands. */
  readonly value: Value;
  /** Numbers that no event may hold, and what is nested too deeply, in written order. */
  readonly problems: readonly ValueProblem[];
}

export interface UnreadableJson {
  readonly kind: 'unreadable';
  /** UTF-16 units before the position. */
  readonly offset: number;
  readonly message: string;
  readonly hint?: string;
}

/** Reads one JSON value (RFC 8259) and nothing behind it. Never throws, however deep the text is nested. */
export function readJson(text: string, depthMax = DEPTH_MAX_DEFAULT): JsonReading {
  return new JsonTextScanner(depthMax).read(text);
}

class JsonTextScanner extends JsonScanner {
  constructor(depthMax: number) {
    super();
    this.depthMax = depthMax;
  }

  read(text: string): JsonReading {
    try {
      this.open(text, 0, text.length);
      const value = this.value(1);
      if (this.next() >= 0) this.fail(`expected the end behind the JSON value, found ${this.found()}`);
      return { kind: 'value', value, problems: this.problems };
    } catch (error) {
      if (!(error instanceof UnreadableText)) throw error;
      const { at, message, hint } = error;
      return { kind: 'unreadable', offset: at, message, ...(hint === undefined ? {} : { hint }) };
    }
  }
}
