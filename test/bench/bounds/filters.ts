import type { MakeBound } from './bound.ts';
import { TO_PRICE, TO_TICK_SYMBOL, TO_VOLUME } from './line-words.ts';

/** Every price above 50. */
export const filterBound: MakeBound = ({ line, names, output }) => ({
  event(time) {
    const symbol = line.name(TO_TICK_SYMBOL);
    const price = line.number(TO_PRICE);
    line.number(TO_VOLUME);
    line.endLine();
    if (price > 50) output('Dear', time, { symbol: names.text(symbol), price }, price);
  },
});

const RULES = 1_000;
const RULE_PRICE = 120;

/** A thousand rules are one look-up of what the symbol's rule asks for. */
export const manyRulesBound: MakeBound = ({ line, names, output }) => {
  const rules = new Map(Array.from({ length: RULES }, (_, i) => [`S${i}`, `Rule${i}`]));
  const ruleOf: (string | null)[] = [];
  return {
    event(time) {
      const symbol = line.name(TO_TICK_SYMBOL);
      const price = line.number(TO_PRICE);
      line.number(TO_VOLUME);
      line.endLine();
      let rule = ruleOf[symbol];
      if (rule === undefined) {
        rule = rules.get(names.text(symbol)) ?? null;
        ruleOf[symbol] = rule;
      }
      if (rule !== null && price > RULE_PRICE) output(rule, time, { symbol: names.text(symbol), price }, price);
    },
  };
};
