import type { Explanation } from './explanation.ts';

/**
 * What an engine tells that was given the state of generated code, without the times that this code has not kept: to fill the state they are
 * those of the run's first event. `kept`: what the generated code itself tells of the same stream and key.
 */
export function withTimesKept(told: Explanation, kept: Explanation): Explanation {
  const { pattern } = told;
  const furthest = pattern?.furthest ?? null;
  const known = kept.pattern?.furthest?.held ?? [];
  if (pattern === null || furthest === null) return told;
  const held = furthest.held.map((step, at) => (known[at]?.event.time === null ? { ...step, event: { ...step.event, time: null } } : step));
  return { ...told, pattern: { ...pattern, furthest: { ...furthest, held } } };
}
