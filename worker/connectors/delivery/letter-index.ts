import { type DeadLetter, isChosen, keyOf, type LetterFacts, type LetterFilter } from './dead-letters.ts';

/** A file of letters. It keeps its identity when it is put aside. */
export interface LetterFile {
  path: string;
}

/** Where a letter stands. */
export interface LetterPlace extends LetterFacts {
  code: string;
  readonly pipelineId: string;
  file: LetterFile;
  /** In the file, bytes. */
  offset: number;
  /** Without the end of its line. */
  length: number;
}

/** Says where each letter of a pipeline stands, in the order in which they came first. */
export class LetterIndex {
  readonly #byPipeline = new Map<string, Map<string, LetterPlace>>();

  /** One that came before keeps its turn; where the newest stands counts. */
  add({ pipeline_id: pipelineId, connector, id, code = '' }: DeadLetter, file: LetterFile, offset: number, length: number): void {
    const letters = this.#byPipeline.get(pipelineId) ?? new Map<string, LetterPlace>();
    letters.set(keyOf({ connector, id }), { pipelineId, connector, id, code, file, offset, length });
    this.#byPipeline.set(pipelineId, letters);
  }

  of(pipelineId: string): readonly LetterPlace[] {
    return [...(this.#byPipeline.get(pipelineId)?.values() ?? [])];
  }

  /** How many there are, and where those of a page stand. */
  page(
    pipelineId: string,
    { limit, offset }: { readonly limit: number; readonly offset: number },
    filter: LetterFilter,
  ): { readonly total: number; readonly places: readonly LetterPlace[] } {
    const letters = this.#byPipeline.get(pipelineId);
    const places: LetterPlace[] = [];
    if (letters === undefined) return { total: 0, places };
    const takesAll = Object.keys(filter).length === 0;
    let total = 0;
    for (const place of letters.values()) {
      if (takesAll && total === offset + limit) return { total: letters.size, places };
      if (!takesAll && !isChosen(place, filter)) continue;
      if (total >= offset && total < offset + limit) places.push(place);
      total++;
    }
    return { total, places };
  }

  /** Those of all pipelines, in the order of the file. */
  in(file: LetterFile): readonly LetterPlace[] {
    const places = Array.from(this.#byPipeline.values(), (letters) => [...letters.values()]).flat();
    return places.filter((place) => place.file === file).sort((one, other) => one.offset - other.offset);
  }

  forget(place: LetterPlace): void {
    const letters = this.#byPipeline.get(place.pipelineId);
    letters?.delete(keyOf(place));
    if (letters?.size === 0) this.#byPipeline.delete(place.pipelineId);
  }
}
