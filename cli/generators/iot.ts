import { type GeneratedEvent, type Generator, generated } from './generator.ts';
import { type Random, rounded } from './random.ts';
import { tell } from './stories.ts';

const MACHINES = Array.from({ length: 40 }, (_, index) => `m-${index + 1}`);
const ORDINARY_C = 55;
const ORDINARY_MM_S = 2.5;

const declarations = `event Temperature:
    machine: str
    celsius: float

event Vibration:
    machine: str
    mm_s: float

event Battery:
    machine: str
    percent: int
`;

const rules = `# The last three temperatures of a machine are too high on average, and rose all the way.
stream Overheating = Temperature
    .partition_by(machine)
    .window(3, sliding: 1)
    .aggregate(celsius: avg(celsius), from_c: first(celsius), to_c: last(celsius))
    .having(celsius > 80.0 and to_c > from_c)
    .emit(machine: machine, celsius: round(celsius, 1))

# A machine shakes hard, and is hot within a minute.
stream Bearing = Vibration where mm_s > 9.0 as shaking -> Temperature where celsius > 75.0 as heat
    .partition_by(machine)
    .within(1m)
    .after_match(skip_past_last)
    .emit(machine: heat.machine, mm_s: shaking.mm_s, celsius: heat.celsius)

stream LowBattery = Battery
    .where(percent < 10)
    .emit(machine, percent)
`;

/** Sensors of forty machines; some overheat, bearings fail, batteries run down. */
export const iot: Generator = {
  name: 'iot',
  summary: 'sensors of forty machines, of which some overheat, shake, or run out of battery',
  declarations,
  rules,
  open: (random) => {
    const readings = new Map(MACHINES.map((machine) => [machine, ORDINARY_C + random.around(3)]));
    return tell({
      random,
      ordinary: () => ordinary(random, readings),
      stories: [() => overheating(random), () => bearing(random), () => lowBattery(random)],
    });
  },
};

/** Temperatures wander, and come back to what is usual. */
function ordinary(random: Random, readings: Map<string, number>): GeneratedEvent {
  const machine = random.pick(MACHINES);
  const kind = random.next();
  if (kind < 0.05) return generated('Battery', { machine, percent: random.whole(20, 100) });
  if (kind < 0.4) return generated('Vibration', { machine, mm_s: rounded(Math.max(0.1, ORDINARY_MM_S + random.around(0.6))) });
  const before = readings.get(machine) ?? ORDINARY_C;
  const celsius = before + (ORDINARY_C - before) * 0.1 + random.around(1);
  readings.set(machine, celsius);
  return generated('Temperature', { machine, celsius: rounded(celsius, 1) });
}

function overheating(random: Random): readonly GeneratedEvent[] {
  const machine = `hot-${random.whole(1, 999_999)}`;
  return Array.from({ length: random.whole(4, 8) }, (_, step) =>
    generated('Temperature', { machine, celsius: rounded(76 + step * 5 + random.next(), 1) }),
  );
}

function bearing(random: Random): readonly GeneratedEvent[] {
  const machine = `worn-${random.whole(1, 999_999)}`;
  return [
    generated('Vibration', { machine, mm_s: random.amount(9.5, 15) }),
    generated('Temperature', { machine, celsius: random.amount(76, 79, 1) }),
  ];
}

function lowBattery(random: Random): readonly GeneratedEvent[] {
  return [generated('Battery', { machine: random.pick(MACHINES), percent: random.whole(1, 9) })];
}
