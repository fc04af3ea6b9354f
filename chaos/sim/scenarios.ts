import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const scenarioFolder = fileURLToPath(new URL('../scenarios/', import.meta.url));

/** The situations that are described exactly, by name: commands and what they print. */
export function readScenarios(): ReadonlyMap<string, string> {
  const files = readdirSync(scenarioFolder).filter((file) => file.endsWith('.txt'));
  return new Map(files.sort().map((file) => [file.slice(0, -4), readFileSync(`${scenarioFolder}${file}`, 'utf8')]));
}
