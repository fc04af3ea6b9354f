import { isArray, isMap, type Value } from '../../../shared/events/value.ts';

type Check = (saved: Value) => boolean;

/** An empty list or map, or null. */
const nothing: Check = (saved) => saved === null || (isArray(saved) ? saved.length === 0 : isMap(saved) && saved.size === 0);

/** Counts what has come, which says nothing once all of it is gone. */
const counter: Check = (saved) => typeof saved === 'number';

const anything: Check = () => true;

const exactly =
  (value: Value): Check =>
  (saved) =>
    saved === value;

const members =
  (...checks: readonly Check[]): Check =>
  (saved) =>
    isArray(saved) && saved.length === checks.length && checks.every((check, at) => check(saved[at] as Value));

/** Columns, behind how many values they have. */
const noColumns = members(exactly(0), anything);

const heldBack: Check = (saved) => saved === null || members(counter, nothing)(saved);

const pattern = [heldBack, counter, nothing, counter, noColumns, noColumns];

/** By the name and version in front of a state: what its members are when the operator or source holds nothing. */
const idleMembers: Readonly<Record<string, readonly Check[]>> = {
  'count window 1': [counter, nothing, nothing],
  'time window 1': [counter, nothing, nothing, nothing],
  'sliding window 1': [counter, nothing, nothing, nothing],
  'session 1': [counter, nothing, nothing, nothing, nothing],
  'running aggregate 1': [counter, nothing, nothing, nothing],
  'distinct 1': [nothing, nothing],
  'limit 1': [nothing, nothing],
  'throttle 1': [nothing, nothing],
  'fork 1': [(branches) => isArray(branches) && branches.every(isIdleChain)],
  'pattern 1': [heldBack, counter, nothing, nothing, nothing],
  'pattern 2': pattern,
  'pattern 3': pattern,
  'pattern 4': pattern,
  'trends 1': [heldBack, members(counter, nothing, nothing)],
  'join 1': [heldBack, members(counter, nothing)],
  'timer 1': [exactly(-Number.MAX_VALUE)],
  'forecast 1': [exactly(0), anything, anything, anything, anything, nothing, nothing],
  'score 1': [nothing],
  'enrich 1': [nothing, members(nothing, nothing), anything],
};

const isIdleChain: Check = (chain) => isArray(chain) && chain.every(members(anything, isIdle));

/** Whether an operator or a source with this state goes on as one that has just begun. A state in a form that is not known here does not. */
export function isIdle(state: Value): boolean {
  if (state === null) return true;
  if (!isArray(state) || typeof state[0] !== 'string') return false;
  const checks = idleMembers[state[0]];
  return checks !== undefined && members(...checks)(state.slice(1));
}
