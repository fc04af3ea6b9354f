/** `1 event`, `2,000 events`. */
export function counted(count: number, noun: string): string {
  return `${thousands(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** `2,000`. */
export function thousands(count: number): string {
  return grouped(count.toFixed(0));
}

/** `2,000.5`. */
export function tenths(count: number): string {
  return grouped(count.toFixed(1));
}

/** Without `Intl`, which takes as long to load as the rest of a command. */
function grouped(digits: string): string {
  return digits.replace(/\d(?=(\d{3})+(\.|$))/g, '$&,');
}
