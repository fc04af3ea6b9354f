/** A part of a plan as text: equal for equal meaning, as where it stood in the program's text is left out. */
export function planText(part: unknown): string {
  return JSON.stringify(part, (key, value: unknown) => {
    if (key === 'origin') return undefined;
    if (value instanceof Map) return ['map', ...value];
    return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
  });
}
