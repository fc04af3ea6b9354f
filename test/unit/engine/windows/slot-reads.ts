import { Slots } from '../../../../worker/engine/fusion/windows/slots.ts';

/** How many fields of slots are read while `work` is done, but those that generated code reads. */
export function slotReads(work: () => void): number {
  const { get } = Slots.prototype;
  let reads = 0;
  Slots.prototype.get = function (this: Slots, slot, at) {
    reads++;
    return get.call(this, slot, at);
  };
  try {
    work();
  } finally {
    Slots.prototype.get = get;
  }
  return reads;
}
