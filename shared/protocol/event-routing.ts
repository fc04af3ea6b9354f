/** Whether a route takes events of a type: it names the type, the beginning of it with `*`, or `*` alone. */
export function isRouted(eventTypes: readonly string[], type: string): boolean {
  return eventTypes.some((wanted) => (wanted.endsWith('*') ? type.startsWith(wanted.slice(0, -1)) : wanted === type));
}
