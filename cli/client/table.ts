import Table from 'cli-table3';
import { visible } from '../event-text.ts';

export interface Column {
  readonly title: string;
  readonly isNumber?: boolean;
}

const noLines = Object.fromEntries(
  ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right'].map((place) => [place, '']),
);
const chars = { ...noLines, left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '', middle: '' };

/** Rows under their titles, without lines, so that it can be read and cut by other tools. Ends with a line end. */
export function tableText(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const table = new Table({
    chars,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2 },
    colAligns: columns.map(({ isNumber }) => (isNumber ? 'right' : 'left')),
  });
  table.push(
    columns.map(({ title }) => title),
    ...rows.map((row) => row.map(visible)),
  );
  return table.toString().replace(/ +$/gm, '').concat('\n');
}

/** Names and their values, a line each. Ends with a line end. */
export function factsText(facts: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...facts.map(([name]) => name.length));
  return facts.map(([name, value]) => `${`${name}:`.padEnd(width + 2)}${visible(value)}\n`).join('');
}

/** `3d 4h`, `5m 12s`, `8s`: the two largest parts. */
export function uptimeText(seconds: number): string {
  const whole = Math.floor(seconds);
  const parts: readonly (readonly [number, string])[] = [
    [Math.floor(whole / 86_400), 'd'],
    [Math.floor(whole / 3_600) % 24, 'h'],
    [Math.floor(whole / 60) % 60, 'm'],
    [whole % 60, 's'],
  ];
  const first = parts.findIndex(([count]) => count > 0);
  if (first < 0) return '0s';
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count}${unit}`)
    .join(' ');
}
