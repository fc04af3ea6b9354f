const NOT_REPEATABLE = 'an output depends on its input alone, so a replay gives the same';

/** Names that programs may look for and that deliberately do not exist, with the hint that the checker gives. */
export const refusedFunctions: ReadonlyMap<string, string> = new Map([
  ['random', `there is no random(): ${NOT_REPEATABLE}; write hash(x) for a number that looks random, or match_id for an id`],
  ['rand', `there is no rand(): ${NOT_REPEATABLE}; write hash(x) for a number that looks random, or match_id for an id`],
  ['uuid', `there is no uuid(): ${NOT_REPEATABLE}; write match_id, which every match carries, or hash(x)`],
]);
