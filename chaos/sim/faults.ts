type Random = (bound: number) => number;

/** `wiped`: everything is gone, for good; the others let in nobody under the old id, so a member with a new one takes its place. */
export type Damage = 'none' | 'lostSync' | 'tornBatch' | 'flippedBit' | 'flippedWitness' | 'lostRecord' | 'wiped';

/** Faults of one run; 0 or `none` means that there are none of a kind. */
export interface Faults {
  readonly lossPercent: number;
  readonly repeatPercent: number;
  readonly delayMsMax: number;
  readonly partitionEveryMs: number;
  /** Links that carry nothing for a while, one by one, and carry it all at once when they are free again. */
  readonly clogEveryMs: number;
  readonly crashEveryMs: number;
  readonly restartMsMax: number;
  /** A stopped process hears nothing and then everything at once. */
  readonly pauseEveryMs: number;
  readonly syncMsMax: number;
  /** From a durable write until the core is told; in order. */
  readonly reportMs: number;
  /** Of this many writes, one fails, and the node stops. */
  readonly writeFailsOneIn: number;
  readonly damage: Damage;
  readonly changeEveryMs: number;
  readonly compactEveryMs: number;
  readonly transferEveryMs: number;
  readonly forgetEveryMs: number;
  readonly clockSkewPercent: number;
}

export type Profile = 'mild' | 'harsh' | 'storm';

export const faultNames = [
  'loss',
  'repeat',
  'partition',
  'clog',
  'crash',
  'pause',
  'sync',
  'report',
  'writeFails',
  'damage',
  'change',
  'compact',
  'transfer',
  'forget',
  'skew',
] as const;

export type FaultName = (typeof faultNames)[number];

const damages: readonly Damage[] = ['lostSync', 'tornBatch', 'flippedBit', 'flippedWitness', 'lostRecord'];

/**
 * Each seed draws some of the faults, since runs with all of them rarely get anywhere (swarm testing). `harsh` has them often; `storm` is
 * the kind of run that entries of old terms need to vanish: partitions every 20 to 100 ms, restarts within 20 to 140 ms, 25 % loss.
 */
export function drawFaults(random: Random, without: ReadonlySet<FaultName>): Faults {
  const profile = (['mild', 'mild', 'mild', 'harsh', 'harsh', 'storm'] as const)[random(6)] as Profile;
  const isHarsh = profile !== 'mild';
  const isStorm = profile === 'storm';
  // Drawn whether it is left out or not, so that the others stay what they are.
  const some = (name: FaultName, value: () => number, always = false): number => {
    const isDrawn = random(2) === 0;
    const drawn = value();
    return (isDrawn || always) && !without.has(name) ? drawn : 0;
  };
  const often = (): number => (isStorm ? 20 + random(80) : isHarsh ? 50 + random(400) : 1_000 + random(5_000));
  const isDamaged = random(4) === 0;
  const damage = damages[random(damages.length)] as Damage;
  // Who is a minority would not be known while members change.
  const changes = some('change', () => 200 + random(1_500));
  return {
    lossPercent: isStorm && !without.has('loss') ? 25 : some('loss', () => random(31)),
    repeatPercent: some('repeat', () => random(51)),
    delayMsMax: 1 + random(isHarsh ? 300 : 50),
    partitionEveryMs: some('partition', often, isStorm),
    clogEveryMs: some('clog', () => 100 + random(2_000)),
    crashEveryMs: some('crash', often, isStorm),
    restartMsMax: isHarsh ? 140 : 2_000,
    pauseEveryMs: some('pause', () => 500 + random(10_000)),
    syncMsMax: 1 + some('sync', () => random(isHarsh ? 300 : 50)),
    reportMs: some('report', () => random(200)),
    writeFailsOneIn: some('writeFails', () => 50 + random(500)),
    damage: isDamaged && !without.has('damage') ? damage : 'none',
    changeEveryMs: isDamaged ? 0 : changes,
    compactEveryMs: some('compact', () => 200 + random(2_000)),
    transferEveryMs: some('transfer', () => 500 + random(3_000)),
    forgetEveryMs: some('forget', () => 200 + random(3_000)),
    clockSkewPercent: some('skew', () => random(51)),
  };
}
