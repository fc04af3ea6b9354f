import { valueText } from './text.ts';

/** The fields of an event on one line. */
export function Fields({ of }: { readonly of: Readonly<Record<string, unknown>> }) {
  const fields = Object.entries(of);
  if (fields.length === 0) return <span class="quiet">no fields</span>;
  return (
    <span class="fields">
      {fields.map(([name, value]) => (
        <span key={name}>
          <span class="field-name">{name}:</span> <span class="field-value">{valueText(value)}</span>{' '}
        </span>
      ))}
    </span>
  );
}
