import { readFile } from 'node:fs/promises';

/** Of the tables of Linux: where the local address and the datagrams that were dropped stand. */
const [ADDRESS, DROPS] = [1, 12];

/** Datagrams for a UDP port of this machine that the system has dropped because nobody took them in time; 0 where the system does not say. */
export async function kernelDrops(port: number): Promise<number> {
  const tables = await Promise.all(['/proc/net/udp', '/proc/net/udp6'].map((file) => readFile(file, 'utf8').catch(() => '')));
  return tables.reduce((sum, table) => sum + dropsOf(table, port), 0);
}

/** `table`: the text of one of them. */
export function dropsOf(table: string, port: number): number {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = table.split('\n').map((line) => line.trim().split(/\s+/));
  return rows.reduce((sum, row) => (row[ADDRESS]?.endsWith(suffix) ? sum + (Number(row[DROPS]) || 0) : sum), 0);
}
