import type { MakeBound } from './bound.ts';
import { TICK } from './lines.ts';

/** Every price above 50. */
export const filterBound: MakeBound = ({ names, output }) => ({
  lines: [
    {
      ...TICK,
      take(time, symbol, price) {
        if (price > 50) output('Dear', time, { symbol: names.text(symbol), price }, price);
      },
    },
  ],
});

const RULES = 1_000;
const RULE_PRICE = 120;

/** A thousand rules are one look-up of what the symbol's rule asks for. */
export const manyRulesBound: MakeBound = ({ names, output }) => {
  const rules = new Map(Array.from({ length: RULES }, (_, i) => [`S${i}`, `Rule${i}`]));
  const ruleOf: (string | null)[] = [];
  return {
    lines: [
      {
        ...TICK,
        take(time, symbol, price) {
          let rule = ruleOf[symbol];
          if (rule === undefined) {
            rule = rules.get(names.text(symbol)) ?? null;
            ruleOf[symbol] = rule;
          }
          if (rule !== null && price > RULE_PRICE) output(rule, time, { symbol: names.text(symbol), price }, price);
        },
      },
    ],
  };
};
