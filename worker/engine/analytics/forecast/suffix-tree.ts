import { type Codec, count, DamagedState, lazily, pairs, record, requireBelow } from '../../state/codec.ts';

/** Symbols in order, the newest last. */
export type Context = readonly number[];

interface Node {
  /** How often each symbol came behind this context. */
  readonly counts: Map<number, number>;
  total: number;
  /** By the symbol before. */
  readonly children: Map<number, Node>;
}

interface SavedNode {
  readonly total: number;
  /** By symbol, as are the children. */
  readonly counts: readonly (readonly [symbol: number, count: number])[];
  readonly children: readonly (readonly [symbol: number, node: SavedNode])[];
}

export const savedTree: Codec<SavedNode> = record({
  total: count,
  counts: pairs(count, count),
  children: pairs(
    count,
    lazily(() => savedTree),
  ),
});

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

  save(): SavedNode {
    return stateOfNode(this.#root);
  }

  /** `symbols` is how many there are. @throws DamagedState */
  load(saved: SavedNode, symbols: number): void {
    this.#nodes = 0;
    const root = this.#loadNode(saved, symbols, 0);
    for (const [symbol, count] of root.counts) this.#root.counts.set(symbol, count);
    for (const [symbol, child] of root.children) this.#root.children.set(symbol, child);
    this.#root.total = root.total;
  }

  /** A context was seen as often as anything came behind it; else shares would not be shares. */
  #loadNode({ total, counts, children }: SavedNode, symbols: number, depth: number): Node {
    this.#nodes++;
    requireBelow(this.#nodes, NODES_MAX + 1, 'a number of contexts');
    requireBelow(depth, this.#depthMax + 1, 'a depth');
    for (const [symbol] of [...counts, ...children]) requireBelow(symbol, symbols, 'a symbol');
    const sum = counts.reduce((sum, [, count]) => sum + count, 0);
    if (sum !== total) throw new DamagedState(total, `${sum}, the sum of the counts`);
    return {
      total,
      counts: new Map(counts),
      children: new Map(children.map(([symbol, child]) => [symbol, this.#loadNode(child, symbols, depth + 1)])),
    };
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

function stateOfNode({ counts, total, children }: Node): SavedNode {
  return { total, counts: [...counts], children: Array.from(children, ([symbol, child]) => [symbol, stateOfNode(child)] as const) };
}
