import type { ComponentChildren } from 'preact';

export interface Fact {
  readonly name: string;
  readonly value: ComponentChildren;
  /** Smaller, below the value. */
  readonly note?: ComponentChildren;
  readonly tone?: 'bad' | 'warn' | undefined;
}

/** Figures side by side. */
export function Facts({ facts }: { readonly facts: readonly (Fact | false | undefined)[] }) {
  return (
    <dl class="facts">
      {facts.map(
        (fact) =>
          fact && (
            <div key={fact.name} class={fact.tone ?? ''}>
              <dt>{fact.name}</dt>
              <dd>{fact.value}</dd>
              {fact.note !== undefined && <dd class="note">{fact.note}</dd>}
            </div>
          ),
      )}
    </dl>
  );
}
