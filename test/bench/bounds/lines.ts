/** The fields of the event types that several scenarios have, as they are written. */
export const TICK = { type: 'Tick', fields: { symbol: 'name', price: 'number', volume: 'number' } } as const;
