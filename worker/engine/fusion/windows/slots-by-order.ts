/** Slots by the numbers that they have, no two the same, lowest first. */
export function slotsByOrder(slots: readonly number[], orderOf: (slot: number) => number): number[] {
  const orders = new Float64Array(slots.length);
  slots.forEach((slot, i) => {
    orders[i] = orderOf(slot);
  });
  const sorted = orders.slice().sort();
  const result = new Array<number>(slots.length);
  slots.forEach((slot, i) => {
    result[rankOf(orders[i] as number, sorted)] = slot;
  });
  return result;
}

function rankOf(order: number, sorted: Float64Array): number {
  let low = 0;
  let high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) < order) low = middle + 1;
    else high = middle;
  }
  return low;
}
