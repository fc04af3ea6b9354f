/** What a draft was made from: the version that a reload names. */
export interface Base {
  readonly version: number;
  readonly source: string;
}

interface Kept {
  readonly text: string;
  readonly base: Base | undefined;
}

/** A text in writing, which outlives a reload of the page: kept in the tab. */
export class Draft {
  readonly #name: string;
  readonly #kept: Kept | undefined;

  constructor(pipelineId: string | undefined) {
    this.#name = `cep.draft.${pipelineId ?? ''}`;
    const found = sessionStorage.getItem(this.#name);
    this.#kept = found === null ? undefined : (JSON.parse(found) as Kept);
  }

  get text(): string | undefined {
    return this.#kept?.text;
  }

  /** What the draft was made from, which may be older than what runs. */
  base(running: Base): Base {
    return this.#kept?.base ?? { version: running.version, source: running.source };
  }

  keep(text: string, base: Base | undefined): void {
    if (base !== undefined && text === base.source) this.forget();
    else sessionStorage.setItem(this.#name, JSON.stringify({ text, base: base && { version: base.version, source: base.source } }));
  }

  forget(): void {
    sessionStorage.removeItem(this.#name);
  }
}
