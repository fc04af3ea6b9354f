import type { EngineOptions } from '../../worker/engine/create-engine.ts';
import { ReferenceBackend } from './reference-backend.ts';

/** The definition: expressions by the plain evaluator, rows from operator to operator. Every other way must give the same. */
export const plain: EngineOptions = { backend: (plan) => new ReferenceBackend(plan), isFused: false };

/** As a host runs a program that traces or asks for explanations. */
export const rowByRow: EngineOptions = { isFused: false };

/** As `simulate`, `cep test` and the server run it. */
export const shipped: EngineOptions = {};

/** By name, for tests that run a program in each of them. */
export const ways: readonly (readonly [name: string, options: EngineOptions])[] = [
  ['shipped', shipped],
  ['row by row', rowByRow],
  ['plain', plain],
];
