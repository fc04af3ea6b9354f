import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from './builds.ts';
import { seeded } from './micro/seeded.ts';

/** What a rule asks of one field, in small letters. */
export interface DetectionTest {
  readonly field: string;
  readonly how: 'contains' | 'starts_with' | 'ends_with' | 'equals';
  readonly text: string;
}

/** Fires when each of its groups has a test that holds, and no exception does. */
export interface DetectionRule {
  readonly id: number;
  readonly type: string;
  readonly groups: readonly (readonly DetectionTest[])[];
  readonly exceptions: readonly DetectionTest[];
}

/** Event types and their fields; rules ask for the first three. */
export const DETECTION_TYPES: Readonly<Record<string, readonly string[]>> = {
  ProcessCreate: ['Image', 'CommandLine', 'ParentImage', 'User', 'OriginalFileName'],
  ImageLoad: ['Image', 'ImageLoaded', 'User', 'Signature', 'Hashes'],
  ScriptBlock: ['ScriptBlockText', 'Path', 'User', 'Computer', 'MessageNumber'],
};

const TYPE_NAMES = Object.keys(DETECTION_TYPES);
const WORDS =
  'copy query export service user delete start session token shadow backup policy agent local remote domain update event cache driver network module script value handle object memory thread pipe share key'.split(
    ' ',
  );
const JOINTS = ['', '-', '_', '.', 'ex'];
const GAPS = [' ', '\\', '/', ' --'];
const HOW = ['contains', 'contains', 'contains', 'ends_with', 'starts_with', 'equals'] as const;
/** A file of a program has at most a megabyte. */
const RULES_OF_FILE = 1_000;
const FIRST_MS = 1_700_000_000_000;
/** One event in so many is made to fit a rule. */
const FITTING = 50;

type Random = (limit: number) => number;

/** So many rules in the manner of Sigma, the same in every run. */
export function detectionRules(count: number): readonly DetectionRule[] {
  const random = seeded(7);
  return Array.from({ length: count }, (_, id) => {
    const type = pick(TYPE_NAMES, random);
    const fields = (DETECTION_TYPES[type] as readonly string[]).slice(0, 3);
    const test = (): DetectionTest => ({ field: pick(fields, random), how: pick(HOW, random), text: word(random) });
    const group = (): DetectionTest[] => Array.from({ length: 1 + random(6) }, test);
    const groups = Array.from({ length: 1 + random(3) }, group);
    return { id, type, groups, exceptions: random(10) < 4 ? group() : [] };
  });
}

/** The path of a program of these rules, which is written where it is not yet there. */
export function detectionProgram(rules: readonly DetectionRule[]): string {
  const files = Array.from({ length: Math.ceil(rules.length / RULES_OF_FILE) }, (_, at) =>
    rules
      .slice(at * RULES_OF_FILE, (at + 1) * RULES_OF_FILE)
      .map(textOfRule)
      .join('\n'),
  );
  const hash = createHash('sha256').update(files.join('\n')).digest('hex').slice(0, 8);
  const folder = join(cacheFolder('programs'), `detection-${rules.length}-${hash}`);
  const main = join(folder, 'rules.vpl');
  if (existsSync(main)) return main;
  mkdirSync(folder, { recursive: true });
  files.forEach((text, at) => {
    writeFileSync(join(folder, `part${at}.vpl`), text);
  });
  writeFileSync(main, files.map((_, at) => `import "part${at}.vpl"\n`).join(''));
  return main;
}

function textOfRule({ id, type, groups, exceptions }: DetectionRule): string {
  const condition = [...groups.map(anyOf), ...(exceptions.length === 0 ? [] : [`not ${anyOf(exceptions)}`])].join(' and ');
  return `stream Rule${id} = ${type}\n    .where(${condition})\n    .emit(rule: 'Rule ${id}', number: ${id}, level: 'medium', user: User)\n`;
}

function anyOf(tests: readonly DetectionTest[]): string {
  return `(${tests.map(textOfTest).join(' or ')})`;
}

function textOfTest({ field, how, text }: DetectionTest): string {
  return how === 'equals' ? `lower(${field}) == '${text}'` : `${how}(lower(${field}), '${text}')`;
}

/** Event number `i`, as a line of JSON. */
export function detectionLine(i: number, rules: readonly DetectionRule[]): string {
  const random = seeded(Math.imul(i + 1, 2_654_435_761));
  random(2);
  const rule = random(FITTING) === 0 ? pick(rules, random) : null;
  const type = rule?.type ?? pick(TYPE_NAMES, random);
  const data: Record<string, string | number> = {};
  for (const field of DETECTION_TYPES[type] as readonly string[]) data[field] = valueOfField(field, i, random);
  for (const [test] of rule?.groups ?? []) if (test !== undefined) data[test.field] = fitting(test, String(data[test.field]));
  return JSON.stringify({ event_type: type, timestamp: FIRST_MS + i, data });
}

function valueOfField(field: string, i: number, random: Random): string | number {
  if (field === 'User') return `CORP\\user${i % 500}`;
  if (field === 'MessageNumber') return i % 4;
  const gap = pick(GAPS, random);
  return Array.from({ length: 3 + random(6) }, () => word(random))
    .join(gap)
    .toUpperCase();
}

function fitting({ how, text }: DetectionTest, value: string): string {
  if (how === 'equals') return text;
  if (how === 'contains') return `${value} ${text} x`;
  return how === 'starts_with' ? `${text} ${value}` : `${value} ${text}`;
}

function word(random: Random): string {
  return `${pick(WORDS, random)}${pick(JOINTS, random)}${pick(WORDS, random)}${random(90)}`;
}

function pick<T>(list: readonly T[], random: Random): T {
  return list[random(list.length)] as T;
}
