import type { MakeBound } from './bound.ts';
import { Spread } from './spread.ts';

const TRADES = 100;

/** Three sums per symbol, given out at every hundredth trade. */
export const aggregationBound: MakeBound = ({ names, output }) => {
  const windows: { trades: number; turnover: number; traded: number; time: number }[] = [];
  const close = (symbol: number): void => {
    const window = windows[symbol];
    if (window === undefined || window.trades === 0) return;
    const { turnover, traded, trades, time } = window;
    const average = turnover / traded;
    windows[symbol] = { trades: 0, turnover: 0, traded: 0, time: 0 };
    if (traded > 0) output('AveragePrice', time, { symbol: names.text(symbol), average, traded, trades }, average);
  };
  return {
    lines: [
      {
        type: 'Trade',
        fields: { symbol: 'name', price: 'number', volume: 'number' },
        take(time, symbol, price, volume) {
          windows[symbol] ??= { trades: 0, turnover: 0, traded: 0, time: 0 };
          const window = windows[symbol];
          window.turnover += price * volume;
          window.traded += volume;
          window.time = time;
          if (++window.trades === TRADES) close(symbol);
        },
      },
    ],
    end: () => windows.forEach((_, symbol) => void close(symbol)),
  };
};

const READINGS = 5;
const UNSTEADY = 8;

/** The spread of every five readings of a device. */
export const manyKeysBound: MakeBound = ({ names, output }) => {
  const windows: Spread[] = [];
  const close = (device: number, { mean, deviation, time }: Spread): void => {
    if (deviation > UNSTEADY) output('Unsteady', time, { device: names.text(device), mean, spread: deviation }, deviation);
  };
  return {
    lines: [
      {
        type: 'Reading',
        fields: { device: 'name', value: 'number' },
        take(time, device, value) {
          windows[device] ??= new Spread();
          const window = windows[device];
          window.add(value, time);
          if (window.count < READINGS) return;
          close(device, window);
          window.clear();
        },
      },
    ],
    end() {
      const open = windows.flatMap((window, device) => (window.count > 0 ? [{ window, device }] : []));
      for (const { window, device } of open.sort((a, b) => a.window.time - b.window.time)) close(device, window);
    },
  };
};
