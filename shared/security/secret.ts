import { inspect } from 'node:util';

const hidden = '[REDACTED]';

/** A text that must not be seen: printed, logged or serialized it shows nothing of itself. Only `reveal` gives it. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return hidden;
  }

  toJSON(): string {
    return hidden;
  }

  [inspect.custom](): string {
    return hidden;
  }
}
