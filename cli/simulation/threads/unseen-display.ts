import { type Colors, colorsOf, plain } from '../../colors.ts';

/** What a display need not do that nobody looks at: whoever shows later what it keeps knows how far that is. */
export abstract class UnseenDisplay {
  readonly out: Colors;
  readonly err = plain;

  constructor(hasColors: boolean) {
    this.out = colorsOf(hasColors);
  }

  progress(): void {
    // Nobody sees it.
  }

  endProgress(): void {
    // There is none.
  }

  ready(): Promise<void> {
    return Promise.resolve();
  }

  written(): Promise<void> {
    return Promise.resolve();
  }
}
