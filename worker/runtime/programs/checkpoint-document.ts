import { crc32 } from 'node:zlib';
import { CepError } from '../../../shared/errors/error.ts';
import type { EngineSnapshot } from '../../engine/engine.ts';
import type { SavedIdleSources } from '../threads/idle-sources.ts';
import { documentProblem } from './checkpoint-schema.ts';

const VERSION = 1;
/** Levels of a document, far beyond those of any state. */
const DEPTH_MAX = 500;

/** A checkpoint as a client sees and returns it. Member order and spacing mean nothing. */
export interface CheckpointDocument {
  readonly version: typeof VERSION;
  readonly pipeline_id: string;
  /** SHA-256 of the program's text. */
  readonly source_hash: string;
  /** Epoch ms. */
  readonly created_at: number;
  readonly engine: DocumentEngine;
  /** Positions by connector. */
  readonly sources: Readonly<Record<string, unknown>>;
  readonly counters: Readonly<Record<string, number>>;
}

/** What an engine thread remembers of one program. */
export interface DocumentEngine extends EngineSnapshot {
  readonly idle_sources: SavedIdleSources;
  /** Absent in states of earlier versions. */
  readonly event_counts?: SavedEventCounts;
}

/** Events by type, and incomplete ones by type and field. */
export interface SavedEventCounts {
  readonly types: readonly (readonly [type: string, count: number])[];
  readonly incomplete: readonly (readonly [type: string, fields: readonly (readonly [field: string, count: number])[]])[];
}

/** The text of a document but for its counters, which are not known where the rest is. */
export function uncountedText(document: Omit<CheckpointDocument, 'counters'>): string {
  return canonicalText(document);
}

/** The text of a document, with its checksum. */
export function documentText({ counters, ...uncounted }: CheckpointDocument): string {
  return countedText(uncountedText(uncounted), counters);
}

/** The same. `uncounted`: what `uncountedText` gave; `counters` is the first of all members in their order. */
export function countedText(uncounted: string, counters: CheckpointDocument['counters']): string {
  const text = `{"counters":${canonicalText(counters)},${uncounted.slice(1)}`;
  return `${text.slice(0, -1)},"crc32":${crc32(text)}}`;
}

/** Reads a document, or a checkpoint answer that holds one. @throws CepError `checkpoint_corrupt`, `checkpoint_too_new` */
export function readDocument(text: string): CheckpointDocument {
  const outer = parsed(text);
  const document = isObject(outer) && isObject(outer['checkpoint']) ? outer['checkpoint'] : outer;
  if (!isObject(document)) throw corrupt('expected a JSON object, found something else');
  const { version, crc32: sum, ...content } = document;
  if (typeof version === 'number' && version > VERSION) {
    throw new CepError('checkpoint_too_new', `the checkpoint has version ${version}, this server reads up to ${VERSION}`, {
      hint: 'restore it with the version that wrote it, or a later one',
    });
  }
  if (version !== VERSION) throw corrupt('it has no version');
  if (crc32(canonicalText({ version, ...content })) !== sum) throw corrupt('its checksum does not fit: it was changed or cut');
  const problem = documentProblem(document);
  if (problem !== undefined) throw corrupt(problem);
  return document as unknown as CheckpointDocument;
}

export function corrupt(reason: string, cause?: unknown): CepError {
  return new CepError('checkpoint_corrupt', `this is no checkpoint as it was given: ${reason}`, {
    hint: 'send exactly what the checkpoint request returned',
    cause,
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw corrupt('it is no JSON');
  }
}

/** JSON with members in one order, so that a document survives tools that sort or indent. */
function canonicalText(value: unknown, depth = 0): string {
  if (depth > DEPTH_MAX) throw corrupt(`it is nested more than ${DEPTH_MAX} levels deep`);
  if (Array.isArray(value)) return `[${value.map((item) => canonicalText(item, depth + 1)).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  const members = Object.keys(value).sort();
  return `{${members.map((key) => `${JSON.stringify(key)}:${canonicalText(value[key], depth + 1)}`).join(',')}}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
