import type { Value, ValueArray } from '../../../../shared/events/value.ts';

/** Symbols in order, the newest last. */
export type Context = readonly number[];

interface Node {
  /** How often each symbol came behind this context. */
  readonly counts: Map<number, number>;
  total: number;
  /** By the symbol before. */
  readonly children: Map<number, Node>;
}

/** What comes next behind a context. */
export interface Prediction {
  /** By symbol; sums to 1. */
  readonly probabilities: readonly number[];
  /** Symbols of the context that were used. */
  readonly depth: number;
  /** How often the longest context used was seen. */
  readonly support: number;
}

const NODES_MAX = 20_000;

/**
 * A prediction suffix tree, learned symbol by symbol: the distribution behind a context is that of the longest suffix seen,
 * smoothed by those of the shorter ones (Witten and Bell's interpolation).
 *
 * @see Ron, Singer and Tishby, "The Power of Amnesia", Machine Learning 25, 1996.
 */
export class SuffixTree {
  readonly #depthMax: number;
  readonly #root = newNode();
  #nodes = 1;

  constructor(depthMax: number) {
    this.#depthMax = depthMax;
  }

  learn(context: Context, symbol: number): void {
    let node: Node | undefined = this.#root;
    for (let depth = 0; node !== undefined; depth++) {
      node.counts.set(symbol, (node.counts.get(symbol) ?? 0) + 1);
      node.total++;
      const before = depth < this.#depthMax ? context.at(-1 - depth) : undefined;
      node = before === undefined ? undefined : this.#child(node, before);
    }
  }

  /** None when the tree is full: what it has is still counted. */
  #child(node: Node, symbol: number): Node | undefined {
    let child = node.children.get(symbol);
    if (child === undefined && this.#nodes < NODES_MAX) {
      child = newNode();
      this.#nodes++;
      node.children.set(symbol, child);
    }
    return child;
  }

  /** `symbols` is how many there are. */
  predict(context: Context, symbols: number): Prediction {
    let probabilities: number[] = new Array(symbols).fill(1 / symbols);
    let node: Node | undefined = this.#root;
    let depth = 0;
    let support = 0;
    for (let at = 0; node !== undefined && node.total > 0; at++) {
      probabilities = interpolate(node, probabilities);
      depth = at;
      support = node.total;
      const before: number | undefined = context.at(-1 - at);
      node = before === undefined || at >= this.#depthMax ? undefined : node.children.get(before);
    }
    return { probabilities, depth, support };
  }

  save(): Value {
    return saveNode(this.#root);
  }

  load(saved: Value): void {
    const root = loadNode(saved, () => this.#nodes++);
    this.#nodes--;
    for (const [symbol, count] of root.counts) this.#root.counts.set(symbol, count);
    for (const [symbol, child] of root.children) this.#root.children.set(symbol, child);
    this.#root.total = root.total;
  }
}

function newNode(): Node {
  return { counts: new Map(), total: 0, children: new Map() };
}

/** The more different symbols a context had behind it, the more weight the shorter contexts keep. */
function interpolate({ counts, total }: Node, shorter: readonly number[]): number[] {
  const weight = counts.size;
  return shorter.map((probability, symbol) => ((counts.get(symbol) ?? 0) + weight * probability) / (total + weight));
}

function saveNode({ counts, total, children }: Node): Value {
  return [total, [...counts].flat(), [...children].flatMap(([symbol, child]) => [symbol, saveNode(child)])];
}

function loadNode(saved: Value, onNode: () => void): Node {
  onNode();
  const [total, counts, children] = saved as readonly [number, readonly number[], ValueArray];
  const node: Node = { counts: new Map(), total, children: new Map() };
  for (let at = 0; at < counts.length; at += 2) node.counts.set(counts[at] as number, counts[at + 1] as number);
  for (let at = 0; at < children.length; at += 2) node.children.set(children[at] as number, loadNode(children[at + 1] as Value, onNode));
  return node;
}
