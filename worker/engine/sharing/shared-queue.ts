import type { Row } from '../operators/row.ts';
import { ResultQueue, type Route } from '../streams/queue.ts';
import type { EventShare } from './event-share.ts';

/** Results on their way, each with its place in the step of time that it comes from. */
export class SharedQueue extends ResultQueue {
  readonly #share: EventShare;

  constructor(share: EventShare) {
    super();
    this.#share = share;
  }

  override add(route: Route, row: Row): void {
    if (this.#share.step === null || route.length === 0) super.add(route, row);
    else
      this.addCall(() => {
        for (const inlet of route) inlet.deliver(row);
      });
  }

  override addCall(call: () => void): void {
    const share = this.#share;
    const { step } = share;
    if (step === null) {
      super.addCall(call);
      return;
    }
    const place = { ...step, level: step.level + 1 };
    super.addCall(() => {
      share.step = place;
      call();
    });
  }
}
