import { type LabelsOf, type MetricDescriptor, type MetricName, metrics } from './metrics-table.ts';

/** One time series: where its values stand. */
export interface Series {
  readonly slot: number;
}

/** A value that is read when somebody asks, with the values of its metric's labels in the table's order. */
export interface Sample {
  readonly labels: readonly string[];
  /** A number, or of a histogram its buckets (not cumulated, the last without bound) and the sum of what was observed. */
  readonly value: number | { readonly counts: ArrayLike<number>; readonly sum: number };
}

export type Collector = () => Iterable<Sample>;

/** Series of one metric at most; further ones are counted together in a series whose labels are all `_other`. */
const seriesPerMetricMax = 20_000;
/** Time after which everything else gets its turn while text is made, looked at every few parts. */
const turnMsMax = 1.5;
const partsPerLook = 32;

interface Family {
  readonly name: MetricName;
  readonly descriptor: MetricDescriptor;
  readonly series: Map<string, SeriesText>;
  readonly collectors: Collector[];
  /** Heads of what was collected, by labels; kept from one scrape to the next. */
  collectedHeads: Map<string, readonly string[]>;
}

interface SeriesText extends Series {
  readonly labels: readonly string[];
  /** The line up to its value; of a histogram one for each bucket, then of sum and count. */
  readonly heads: readonly string[];
}

/**
 * All metrics of a process. Counting is one addition in an array of doubles; all text is made when somebody scrapes, in slices,
 * so that a scrape never holds up anything else.
 */
export class MetricRegistry {
  #values = new Float64Array(1024);
  #used = 0;
  readonly #families = new Map<MetricName, Family>();

  readonly #now: () => number;
  readonly #beforeRender: (() => void)[] = [];

  /** @param now Monotonic milliseconds, by which text is made in slices. */
  constructor(now = (): number => performance.now()) {
    this.#now = now;
    for (const [name, descriptor] of Object.entries(metrics) as [MetricName, MetricDescriptor][]) {
      const family: Family = { name, descriptor, series: new Map(), collectors: [], collectedHeads: new Map() };
      this.#families.set(name, family);
      for (const labels of descriptor.fromStart ?? []) this.#seriesOf(family, labels);
    }
  }

  /** The series with these labels, made when it is not there. Keep it where something is counted often. */
  series<N extends MetricName>(name: N, labels: LabelsOf<N>): Series {
    const family = this.#family(name);
    const values = family.descriptor.labels.map((label) => (labels as Readonly<Record<string, string>>)[label] ?? '');
    return this.#seriesOf(family, values);
  }

  add({ slot }: Series, amount = 1): void {
    this.#values[slot] = (this.#values[slot] as number) + amount;
  }

  set({ slot }: Series, value: number): void {
    this.#values[slot] = value;
  }

  /** Counts a value of a histogram. `buckets` are those of its metric. */
  observe({ slot }: Series, value: number, buckets: readonly number[]): void {
    let bucket = 0;
    while (bucket < buckets.length && value > (buckets[bucket] as number)) bucket++;
    const values = this.#values;
    values[slot + bucket] = (values[slot + bucket] as number) + 1;
    values[slot + buckets.length + 1] = (values[slot + buckets.length + 1] as number) + value;
  }

  /** Adds to the series with these labels, for what happens seldom. */
  count<N extends MetricName>(name: N, labels: LabelsOf<N>, amount = 1): void {
    this.add(this.series(name, labels), amount);
  }

  /** The current value, 0 when nothing was counted. Not for histograms. */
  valueOf<N extends MetricName>(name: N, labels: LabelsOf<N>): number {
    const values = metrics[name].labels.map((label) => (labels as Readonly<Record<string, string>>)[label] ?? '');
    const found = this.#family(name).series.get(values.join('\0'));
    return found ? (this.#values[found.slot] as number) : 0;
  }

  /** From now on the metric is read from here too at every scrape. No two samples may have the same labels. */
  collect(name: MetricName, collector: Collector): void {
    this.#family(name).collectors.push(collector);
  }

  /** Called when a scrape begins: what collectors read together they may read once for all of it. */
  beforeRender(prepare: () => void): void {
    this.#beforeRender.push(prepare);
  }

  /** The text of all metrics in the Prometheus format. Every family says what it is, also while it has no series. */
  async render(): Promise<string> {
    for (const prepare of this.#beforeRender) prepare();
    let text = '';
    let parts = 0;
    let endMs = this.#now() + turnMsMax;
    for (const family of this.#families.values()) {
      for (const part of this.#linesOf(family)) {
        text += part;
        if (++parts % partsPerLook !== 0 || this.#now() < endMs) continue;
        await new Promise((resume) => setImmediate(resume));
        endMs = this.#now() + turnMsMax;
      }
    }
    return text;
  }

  *#linesOf(family: Family): Generator<string> {
    const { name, descriptor, series, collectors } = family;
    yield `# HELP ${name} ${descriptor.help}\n# TYPE ${name} ${descriptor.type}\n`;
    for (const { slot, heads } of series.values()) yield textOf(heads, this.#values, slot);
    const before = family.collectedHeads;
    family.collectedHeads = new Map();
    for (const collector of collectors) {
      for (const { labels, value } of collector()) {
        const heads = headsAgain(family, before, labels);
        yield typeof value === 'number' ? `${heads[0]}${value}\n` : histogramText(heads, value.counts, value.sum);
      }
    }
  }

  #family(name: MetricName): Family {
    return this.#families.get(name) as Family;
  }

  #seriesOf(family: Family, labels: readonly string[]): Series {
    const key = labels.join('\0');
    const found = family.series.get(key);
    if (found) return found;
    if (family.series.size >= seriesPerMetricMax && labels.some((label) => label !== '_other')) {
      return this.#seriesOf(
        family,
        labels.map(() => '_other'),
      );
    }
    const made = { slot: this.#reserve(widthOf(family.descriptor)), labels, heads: headsOf(family.name, family.descriptor, labels) };
    family.series.set(key, made);
    return made;
  }

  #reserve(width: number): number {
    const slot = this.#used;
    this.#used += width;
    if (this.#used > this.#values.length) {
      const larger = new Float64Array(this.#values.length * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    return slot;
  }
}

/** Slots of one series: one value, or a histogram's buckets, the one without bound, and the sum. */
function widthOf({ buckets }: MetricDescriptor): number {
  return buckets ? buckets.length + 2 : 1;
}

function headsOf(name: string, { labels, buckets }: MetricDescriptor, values: readonly string[]): readonly string[] {
  const pairs = labels.map((label, index) => `${label}="${escapeLabel(values[index] ?? '')}"`);
  const block = (...more: string[]): string => (pairs.length + more.length === 0 ? '' : `{${[...pairs, ...more].join(',')}}`);
  if (!buckets) return [`${name}${block()} `];
  const bounds = [...buckets.map(String), '+Inf'];
  return [...bounds.map((bound) => `${name}_bucket${block(`le="${bound}"`)} `), `${name}_sum${block()} `, `${name}_count${block()} `];
}

/** The heads of a collected sample, those of the last scrape where it was there too. */
function headsAgain(family: Family, before: ReadonlyMap<string, readonly string[]>, labels: readonly string[]): readonly string[] {
  const key = labels.join('\0');
  const heads = before.get(key) ?? headsOf(family.name, family.descriptor, labels);
  family.collectedHeads.set(key, heads);
  return heads;
}

function textOf(heads: readonly string[], values: Float64Array, at: number): string {
  if (heads.length === 1) return `${heads[0]}${values[at]}\n`;
  const sumAt = at + heads.length - 2;
  return histogramText(heads, values.subarray(at, sumAt), values[sumAt] as number);
}

function histogramText(heads: readonly string[], counts: ArrayLike<number>, sum: number): string {
  let text = '';
  let count = 0;
  for (let bucket = 0; bucket < counts.length; bucket++) {
    count += counts[bucket] as number;
    text += heads[bucket] as string;
    text += count;
    text += '\n';
  }
  return `${text}${heads[counts.length]}${sum}\n${heads[counts.length + 1]}${count}\n`;
}

function escapeLabel(value: string): string {
  return value.replace(/[\\\n"]/g, (char) => (char === '\n' ? '\\n' : `\\${char}`));
}
