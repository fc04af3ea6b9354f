import { type GeneratedEvent, type Generator, generated } from './generator.ts';
import { type Random, rounded } from './random.ts';
import { tell } from './stories.ts';

const PRICES: Readonly<Record<string, number>> = { ALFA: 42, BETA: 118, CRUX: 9.5, DELT: 260, ECHO: 71, FERN: 15, GALE: 33, HALO: 480 };
const SYMBOLS = Object.keys(PRICES);

const declarations = `event Trade:
    symbol: str
    side: str
    price: float
    volume: int

event Quote:
    symbol: str
    bid: float
    ask: float
`;

const rules = `# A trade of at least five times the average of the hundred trades of its symbol up to it.
stream VolumeSpike = Trade
    .partition_by(symbol)
    .window(100, sliding: 1)
    .aggregate(usual: avg(volume), volume: last(volume), price: last(price))
    .having(volume > usual * 5.0)
    .emit(symbol: symbol, volume: volume, usual: round(usual, 0), price: price)

# Three large sales of a symbol at ever lower prices.
stream Dump = Trade where side == "sell" and volume >= 5000 as first
    -> Trade where side == "sell" and volume >= 5000 and price < first.price as second
    -> Trade where side == "sell" and volume >= 5000 and price < second.price as third
    .partition_by(symbol)
    .within(5m)
    .after_match(skip_past_last)
    .emit(symbol: third.symbol, from_price: first.price, to_price: third.price)
`;

/** Trades and quotes of eight symbols; volumes spike, and somebody sells in a hurry. */
export const trading: Generator = {
  name: 'trading',
  summary: 'trades and quotes of eight symbols, with spikes of volume and sales in a hurry',
  declarations,
  rules,
  open: (random) => {
    const prices = new Map(Object.entries(PRICES));
    return tell({
      random,
      ordinary: () => ordinary(random, prices),
      stories: [() => spike(random, prices), () => dump(random, prices)],
    });
  },
};

function ordinary(random: Random, prices: Map<string, number>): GeneratedEvent {
  const symbol = random.pick(SYMBOLS);
  const start = PRICES[symbol] ?? 1;
  const before = prices.get(symbol) ?? start;
  const price = Math.max(0.01, before + (start - before) * 0.01 + random.around(start / 500));
  prices.set(symbol, price);
  if (random.chance(0.4)) return generated('Quote', { symbol, bid: rounded(price * 0.9995), ask: rounded(price * 1.0005) });
  return trade(symbol, { side: random.chance(0.5) ? 'buy' : 'sell', price, volume: random.whole(1, 20) * 10 });
}

function spike(random: Random, prices: ReadonlyMap<string, number>): readonly GeneratedEvent[] {
  const symbol = random.pick(SYMBOLS);
  return [trade(symbol, { side: 'buy', price: prices.get(symbol) ?? 1, volume: random.whole(20, 40) * 100 })];
}

function dump(random: Random, prices: ReadonlyMap<string, number>): readonly GeneratedEvent[] {
  const symbol = random.pick(SYMBOLS);
  const price = prices.get(symbol) ?? 1;
  return [1, 0.97, 0.93].map((share) => trade(symbol, { side: 'sell', price: price * share, volume: random.whole(50, 90) * 100 }));
}

function trade(symbol: string, { side, price, volume }: { readonly side: string; readonly price: number; readonly volume: number }) {
  return generated('Trade', { symbol, side, price: rounded(price), volume });
}
