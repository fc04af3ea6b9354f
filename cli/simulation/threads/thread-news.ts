/** While nothing is to be done, the signal is looked at so often, ms. */
const LOOK_MS = 50;

/** Whether a thread has something to tell. */
export class ThreadNews {
  #wake: () => void = () => undefined;

  /** It has. */
  tell(): void {
    this.#wake();
  }

  /** Resolves with the next news, or after a moment. */
  async wait(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, LOOK_MS);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = () => undefined;
  }
}
