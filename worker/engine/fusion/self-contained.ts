/** A result that waits for its turn, an event made whole, anything of an object but its counters. */
const LEADS_ON = /\bdefer\(|\browOfEvent\b|(?:\bk|\.x)\d+\.(?!eventsIn\b|eventsOut\b)/;

/**
 * Whether functions call nothing but each other and the host, and put nothing behind what is on its way: when they return,
 * everything that an event has caused is through.
 */
export function isSelfContained(functions: string): boolean {
  if (LEADS_ON.test(functions)) return false;
  const declared = new Set(Array.from(functions.matchAll(/const ([fg]\d+)=/g), ([, name]) => name));
  return Array.from(functions.matchAll(/\b[fg]\d+\b/g), ([name]) => name).every((name) => declared.has(name));
}
