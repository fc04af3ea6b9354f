import { anchor } from '../../docs/generate/markdown.ts';

/** A fenced block with the heading it stands under. */
export interface Block {
  readonly language: string;
  /** The words behind the language in the info string. */
  readonly marks: readonly string[];
  readonly text: string;
  /** 1-based line of the fence. */
  readonly line: number;
  readonly heading: string;
}

export interface Link {
  readonly target: string;
  readonly line: number;
}

/** A Markdown page as far as the tests look at it. */
export interface Page {
  readonly path: string;
  readonly anchors: ReadonlySet<string>;
  readonly links: readonly Link[];
  readonly blocks: readonly Block[];
}

/** @throws when a fence is not closed. */
export function readPage(path: string, text: string): Page {
  const reader = new PageReader();
  for (const line of text.split('\n')) reader.take(line);
  return reader.end(path);
}

class PageReader {
  readonly #anchors = new Set<string>();
  readonly #links: Link[] = [];
  readonly #blocks: Block[] = [];
  #open: { readonly info: string; readonly line: number; readonly text: string[] } | undefined;
  #heading = '';
  #line = 0;

  take(line: string): void {
    this.#line++;
    const fence = /^```(.*)$/.exec(line);
    if (this.#open) {
      if (fence) this.#close(this.#open);
      else this.#open.text.push(line);
    } else if (fence) this.#open = { info: fence[1] ?? '', line: this.#line, text: [] };
    else this.#prose(line);
  }

  end(path: string): Page {
    if (this.#open) throw new Error(`${path}:${this.#open.line}: the block is not closed`);
    return { path, anchors: this.#anchors, links: this.#links, blocks: this.#blocks };
  }

  #close({ info, line, text }: { readonly info: string; readonly line: number; readonly text: readonly string[] }): void {
    const [language = '', ...marks] = info.split(' ').filter((word) => word !== '');
    this.#blocks.push({ language, marks, text: text.join('\n'), line, heading: this.#heading });
    this.#open = undefined;
  }

  #prose(line: string): void {
    const heading = /^#+ (.+)$/.exec(line)?.[1];
    if (heading !== undefined) this.#begin(heading);
    for (const [, target = ''] of line.replace(/`[^`]*`/g, '').matchAll(/\]\(([^)\s]+)\)/g)) this.#links.push({ target, line: this.#line });
  }

  /** Of several headings of one text the later ones get a number, as the common renderers do. */
  #begin(heading: string): void {
    this.#heading = heading;
    const own = anchor(heading);
    let unused = own;
    for (let count = 1; this.#anchors.has(unused); count++) unused = `${own}-${count}`;
    this.#anchors.add(unused);
  }
}
