const grouped = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** `1 event`, `2,000 events`. */
export function counted(count: number, noun: string): string {
  return `${thousands(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** `2,000`. */
export function thousands(count: number): string {
  return grouped.format(count);
}
