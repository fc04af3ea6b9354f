import type { SourcePosition } from '../../connectors/connector.ts';
import type { SourceMark, SourcePositions } from './runtime-storage.ts';

/** Where the sources of a pipeline stand, by subscription. */
export class SourceMarks {
  /** Behind what has been accepted, and is on disk where it has to be: a source that starts goes on here. */
  readonly #accepted: Map<string, SourcePosition>;
  /** Behind what the engine has worked through: what belongs into a checkpoint. */
  readonly #through: Map<string, SourcePosition>;

  constructor(saved: SourcePositions = {}) {
    this.#accepted = new Map(Object.entries(saved));
    this.#through = new Map(Object.entries(saved));
  }

  accepted(mark: SourceMark): void {
    if (mark.position !== null) this.#accepted.set(mark.id, mark.position);
  }

  through(mark: SourceMark): void {
    if (mark.position !== null) this.#through.set(mark.id, mark.position);
  }

  next(id: string): SourcePosition | null {
    return this.#accepted.get(id) ?? null;
  }

  /** `underWay`: what the engine has, and what it will have worked through when it says its state. */
  save(underWay: readonly SourceMark[] = []): SourcePositions {
    const marks = underWay.flatMap(({ id, position }) => (position === null ? [] : [[id, position] as const]));
    return Object.fromEntries([...this.#through, ...marks]);
  }

  /** The state of a checkpoint is in the engine's place: its sources go on from there. What it returns takes that back, and nothing else. */
  restore(positions: SourcePositions): () => void {
    const ids = Object.keys(positions);
    const before = [this.#accepted, this.#through].map((marks) => ({ marks, positions: ids.map((id) => [id, marks.get(id)] as const) }));
    for (const [id, position] of Object.entries(positions)) {
      this.#accepted.set(id, position);
      this.#through.set(id, position);
    }
    return () => {
      for (const { marks, positions: known } of before) {
        for (const [id, position] of known) {
          if (position === undefined) marks.delete(id);
          else marks.set(id, position);
        }
      }
    };
  }
}
